"""The table of reinforcement: what it counts, compares and leaves out."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_gym.data import DATA_VARIABLE
from llm_gym.errors import InvalidSetting, MissingData, UnknownName
from llm_gym.evaluation import statistics


@pytest.fixture(scope="module")
def table() -> Iterator[ModuleType]:
    folder = Path(__file__).parents[2] / "benchmarks"
    spec = importlib.util.spec_from_file_location("webshop_rl", folder / "webshop_rl.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(folder))  # as where a script is run
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def without_official_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATA_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def world(table: ModuleType) -> Any:
    """Random and rule on forty goals, the rule as if it were both `il` and `a2c`, and random advised."""
    args = table.Args(policies=("random", "rule"), n=40)
    found = table.played("embedded", args, lambda line: None)
    own = {"il": found.results["rule"], "a2c": found.results["rule"]}
    return table.Played("embedded", {**found.results, **own}, found.reachable)


def step(observation: str, action: str | None) -> dict[str, Any]:
    return {"observation": observation, "action": action, "reward": 0.0}


def test_searches_and_different_items_are_counted(table: ModuleType) -> None:
    results = "Page 1 (Total results: 50)\n[button] B01 [button_]"
    steps = [
        step("[button] Search [button_]", "search[a (Total results: 5)]"),
        step(results, "click[next >]"),
        step(results, "click[b01]"),
        step("[button] Buy Now [button_]", "click[red]"),
        step("[button] Buy Now [button_]", "click[< prev]"),
        step(results, "click[b01]"),
        step("[button] Buy Now [button_]", "click[< prev]"),
        step(results, "click[b02]"),
        step("[button] Buy Now [button_]", "click[back to search]"),
        step("[button] Search [button_]", "search[b]"),
        step(results, "click[< prev]"),
        step(results, "click[back to search]"),
        step("[button] Search [button_]", None),
    ]
    assert table.searches({"trajectory": steps}) == 2
    assert table.items({"trajectory": steps}) == 2


def test_a_rule_searches_once_and_opens_one_item(table: ModuleType, world: Any) -> None:
    line = next(line for line in table.markdown(world).splitlines() if line.startswith("| rule |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[5:] == ["3.0 (3.0 to 3.0)", "1.00 (1.00 to 1.00)", "1.00 (1.00 to 1.00)", "40"]


def test_each_is_compared_with_random_and_reinforcement_with_imitation(table: ModuleType, world: Any) -> None:
    told = list(table.differences(world))
    assert [(one.first, one.second) for one in told] == [
        ("rule", "random"),
        ("rule", "random"),
        ("rule", "random"),
        ("rule (first)", "rule (second)"),
    ]
    pairs = list(zip(world.results["rule"].rows, world.results["random"].rows, strict=True))
    products = [row["cluster"] for row, _ in pairs]
    expected = statistics.bootstrap_mean([one["score"] - other["score"] for one, other in pairs], products)
    assert (told[0].score.low, told[0].score.high) == (expected.low, expected.high)
    assert f"| rule − random | {told[0].score:+.1f} |" in table.markdown(world)
    assert told[3].score == 0


def test_the_effect_of_opinions_is_against_the_policy_alone(table: ModuleType, world: Any) -> None:
    advised, alone = world.results["random + match"], world.results["random"]
    effect = sum(row["score"] - other["score"] for row, other in zip(advised.rows, alone.rows, strict=True)) / 40
    assert effect > 0
    text = table.markdown(world).partition("| advised by match |")[2]
    line = next(line for line in text.splitlines() if line.startswith("| random |"))
    assert [cell.strip() for cell in line.strip("|").split("|")][1:3] == [f"{advised.score:.1f}", f"{effect:+.1f}"]


def test_what_is_not_here_is_told_and_a_run_is_not_played_again(
    table: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = table.Args(
        policies=("rule", "a2c", "a2c-scratch", "rnn", "nobody"),
        folder_a2c={"embedded": tmp_path / "nowhere"},
        folder_rnn={"embedded": tmp_path / "nowhere"},
        advised=False,
        n=3,
        out=tmp_path / "out",
    )
    (world,) = table.main(args)
    assert list(world.results) == ["rule"]
    printed = capsys.readouterr()
    told = " ".join(printed.err.split())
    for reason in (
        "a2c is left out",
        "a2c-scratch is left out: no such network is shipped: give --folder-scratch embedded FOLDER",
        "rnn is left out",
        "Unknown policy 'nobody'",
        "official is left out: the official products are not here: give --data",
    ):
        assert reason in told
    assert (tmp_path / "out" / "table.md").read_text() + "\n" == printed.out
    content = json.loads((tmp_path / "out" / "table.json").read_text())["embedded"]
    assert (content["goals"], list(content["policies"]), content["effects"]) == (3, ["rule"], {})
    episodes = tmp_path / "out" / "embedded" / "rule" / "episodes.jsonl"
    before = episodes.stat().st_mtime_ns
    table.main(args)
    assert episodes.stat().st_mtime_ns == before


def test_folders_are_for_one_world(table: ModuleType, tmp_path: Path) -> None:
    args = table.Args(folder_scratch={"official": tmp_path})
    with pytest.raises(MissingData, match="--folder-scratch embedded FOLDER"):
        table.made("a2c-scratch", "embedded", args)


@pytest.mark.torch
def test_a_folder_without_a_network_is_told(table: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra torch")
    with pytest.raises(MissingData, match="it has no config"):
        table.made("a2c-scratch", "official", table.Args(folder_scratch={"official": tmp_path}))


def test_worlds_are_those_of_the_panels(table: ModuleType) -> None:
    with pytest.raises(UnknownName, match=r"Unknown world 'oficial'. Did you mean 'official'\?"):
        table.main(table.Args(worlds=("oficial",)))
    with pytest.raises(InvalidSetting, match="Nothing was played"):
        table.main(table.Args(worlds=("official",)))
