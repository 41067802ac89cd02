"""The table of experts: what it counts, tells and leaves out."""

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
from llm_gym.policies import OraclePolicy


@pytest.fixture(scope="module")
def experts() -> Iterator[ModuleType]:
    folder = Path(__file__).parents[2] / "benchmarks"
    spec = importlib.util.spec_from_file_location("webshop_experts", folder / "webshop_experts.py")
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


def test_every_policy_plays_the_same_tasks_and_the_absent_are_told(
    experts: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = experts.Args(
        worlds=("embedded", "official"),
        policies=("rule", "first-hit", "il", "oracle-50", "oracle", "nobody"),
        folder_il={"embedded": tmp_path / "nowhere"},
        n=12,
        out=tmp_path / "out",
    )
    (world,) = experts.main(args)
    assert list(world.results) == ["rule", "first-hit", "oracle-50", "oracle"]
    tasks = {tuple(row["task_id"] for row in result.rows) for result in world.results.values()}
    assert len(tasks) == 1
    assert world.results["oracle"].success == 1.0
    printed = capsys.readouterr()
    told = " ".join(printed.err.split())
    for reason in ("il is left out", "Unknown policy 'nobody'", "the official products are not here: give --data"):
        assert reason in told
    assert (tmp_path / "out" / "table.md").read_text() + "\n" == printed.out
    content = json.loads((tmp_path / "out" / "table.json").read_text())["embedded"]
    assert (content["goals"], content["reachable"]) == (12, 12)
    assert content["policies"]["oracle"]["success"]["value"] == 1.0
    assert len(list((tmp_path / "out" / "embedded").iterdir())) == 4


def test_a_run_that_is_there_is_not_played_again(experts: ModuleType, tmp_path: Path) -> None:
    args = experts.Args(worlds=("embedded",), policies=("rule",), n=3, out=tmp_path)
    experts.main(args)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "embedded").rglob("episodes.jsonl")}
    experts.main(args)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "embedded").rglob("episodes.jsonl")} == before


@pytest.fixture(scope="module")
def two(experts: ModuleType) -> Any:
    """First hit and lexical reader on 100 goals, as if they were the experts whose difference is told."""
    args = experts.Args(worlds=("embedded",), policies=("first-hit", "lexical"), n=100)
    world = experts.played("embedded", args, lambda line: None)
    return experts.Played("embedded", {"match": world.results["lexical"], **world.results}, world.reachable)


def test_rates_have_both_intervals(experts: ModuleType, two: Any) -> None:
    lexical = two.results["lexical"]
    products = [row["cluster"] for row in lexical.rows]
    values = [float(row["success"]) for row in lexical.rows]
    expected = statistics.clustered_wilson(values, products)
    line = next(line for line in experts.markdown(two).splitlines() if line.startswith("| lexical |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    wilson = statistics.wilson(sum(values), 100)
    assert cells[3] == f"{100 * sum(values) / 100:.1f} %"
    assert cells[4] == f"{100 * wilson.low:.1f} to {100 * wilson.high:.1f}"
    assert cells[5] == f"{100 * expected.low:.1f} to {100 * expected.high:.1f}"
    assert cells[6] == "100"


def test_differences_are_paired_and_take_products_together(experts: ModuleType, two: Any) -> None:
    told = list(experts.differences(two))
    assert [(one.first, one.second) for one in told] == [
        ("lexical", "first-hit"),
        ("lexical (first)", "lexical (second)"),
    ]
    products = [row["cluster"] for row in two.results["lexical"].rows]
    assert len(set(products)) < 100
    pairs = zip(two.results["lexical"].rows, two.results["first-hit"].rows, strict=True)
    expected = statistics.bootstrap_mean([float(a["success"]) - b["success"] for a, b in pairs], products)
    assert (told[0].success.low, told[0].success.high) == (expected.low, expected.high)
    assert f"| lexical − first-hit | {told[0].score:+.1f} |" in experts.markdown(two)


def test_goals_that_cannot_be_met_are_counted_apart(experts: ModuleType, two: Any) -> None:
    lexical = two.results["lexical"]
    solved = frozenset(row["task_id"] for row in lexical.rows if row["success"])
    part = experts.Played(two.name, two.results, solved)
    text = experts.markdown(part)
    assert f"{100 - len(solved)} of them cannot earn a reward of 1" in text
    line = next(line for line in text.splitlines() if line.startswith("| lexical |"))
    assert "| 100.0 % |" in line
    assert experts.as_json(part)["policies"]["lexical"]["success_where_it_can_be_had"]["n"] == len(solved)
    assert "cannot earn" not in experts.markdown(two)


def test_folders_of_trained_models_are_for_one_world(experts: ModuleType, tmp_path: Path) -> None:
    args = experts.Args(folder_il={"official": tmp_path}, folder_match={"official": tmp_path})
    (tmp_path / "search").mkdir()
    il, text = (experts.made(name, "official", args) for name in ("il", "il-text"))
    assert (il.choice, il.search, il.image) == (tmp_path / "choice", tmp_path / "search", None)
    assert (text.choice, text.image) == (tmp_path / "choice", False)
    (tmp_path / "choice_text").mkdir()
    assert experts.made("il-text", "official", args).choice == tmp_path / "choice_text"
    assert experts.made("il", "embedded", args).choice is None
    assert experts.made("match", "official", args).folder == tmp_path
    assert experts.made("match", "embedded", args).folder is None


def test_oracles_are_told_apart_by_their_name(experts: ModuleType) -> None:
    fifty, exact = (experts.made(name, "embedded", experts.Args()) for name in ("oracle-50", "oracle"))
    assert isinstance(fifty, OraclePolicy)
    assert fifty.settings() == {"queries": "instruction", "top": 50}
    assert exact.settings() == {"queries": "solution"}


def test_worlds_are_those_of_the_panels(experts: ModuleType) -> None:
    with pytest.raises(UnknownName, match=r"Unknown world 'embeded'. Did you mean 'embedded'\?"):
        experts.main(experts.Args(worlds=("embeded",)))
    with pytest.raises(MissingData, match="the official products are not here"):
        experts.opened("human", None)
    with pytest.raises(InvalidSetting, match="Nothing was played"):
        experts.main(experts.Args(worlds=("human",)))


@pytest.mark.data
def test_official_worlds_have_the_goals_of_their_panels(experts: ModuleType, webshop_folder: Path) -> None:
    sizes = {name: len(experts.opened(name, webshop_folder).unwrapped.panel) for name in experts.WORLDS}
    assert sizes == {"embedded": 679, "official": 644, "reworded": 1566, "human": 13}
