"""Trees out of LightGBM, and the script that trains the matching expert, in a tiny size."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_gym.demonstrations import Demonstration, DemonstrationStep, Header, write_demonstrations
from llm_gym.errors import BadRecord, InvalidSetting, MissingData
from llm_gym.policies import MatchPolicy
from llm_gym.training.match_examples import Examples
from llm_gym.training.trees import Growth, forest_of, grow

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra train")
pytest.importorskip("matplotlib", reason="needs the extra train")
pytestmark = pytest.mark.train

SCRIPT = Path(__file__).parents[2] / "train" / "webshop_match.py"


def drawn(count: int, seed: int) -> Examples:
    """Column 0 decides where it is known, else column 1; column 2 is always known."""
    rng, examples = random.Random(seed), Examples()
    for _ in range(count):
        row = [rng.gauss(0, 1) if rng.random() < 0.7 else float("nan"), rng.gauss(0, 1), rng.gauss(0, 1)]
        decides = row[1] if np.isnan(row[0]) else row[0]
        examples.add(row, decides + 0.3 * rng.gauss(0, 1) > 0.5, rng.choice([1.0, 3.0]))
    return examples


def test_the_arrays_give_what_lightgbm_gives() -> None:
    rows, labels, weights = drawn(3000, 0).arrays()
    booster = lightgbm.train(
        Growth(40).parameters(), lightgbm.Dataset(rows, labels, weight=weights), num_boost_round=40
    )
    others, _, _ = drawn(2000, 1).arrays()
    others[:50, 2] = np.nan  # unknown where training always knew
    others[50:60] = 0.0
    forest = forest_of(booster, 3)
    assert np.abs(forest.log_odds(others) - booster.predict(others, raw_score=True)).max() < 1e-6
    assert np.abs(forest.confidence(others) - booster.predict(others)).max() < 1e-6


def test_trees_beyond_the_best_round_are_cut_off_and_growing_is_deterministic() -> None:
    losses: list[tuple[int, float, float]] = []
    forest = grow(drawn(400, 0), drawn(400, 1), 3, Growth(150, learning_rate=0.5), lambda *told: losses.append(told))
    best = min(losses, key=lambda told: told[2])[0]
    assert len(losses) == 150
    assert len(forest.roots) == best < 150
    again = grow(drawn(400, 0), drawn(400, 1), 3, Growth(150, learning_rate=0.5), lambda *told: None)
    assert all(np.array_equal(one, again.arrays()[name]) for name, one in forest.arrays().items())


def test_a_try_ends_with_a_model_that_plays_logs_and_curves(script: Any, tmp_path: Path) -> None:
    args = script.Args(out=tmp_path / "out", smoke=True)
    folder = script.main(args)
    assert MatchPolicy.from_pretrained(folder).settings()["actions"] == 80
    for name in ("options", "products"):
        rows = [json.loads(line) for line in (tmp_path / "out" / name / "log.jsonl").read_text().splitlines()]
        assert [row["step"] for row in rows] == list(range(1, 11))
        assert rows[-1]["loss"] < rows[0]["loss"]
        assert (tmp_path / "out" / name / "curves.png").stat().st_size > 1000
    accuracies = json.loads((tmp_path / "out" / "accuracies.json").read_text())
    assert {"pick item", "option", "buy"} <= set(accuracies)
    assert script.main(args) == folder  # it is trained already
    with pytest.raises(InvalidSetting, match="another training"):
        script.main(script.Args(out=tmp_path / "out", smoke=True, seed=1))


def test_without_demonstrations_there_is_nothing_to_learn_from(script: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="demos record"):
        script.main(script.Args(out=tmp_path))
    with pytest.raises(MissingData):
        script.main(script.Args(demonstrations=(tmp_path / "absent.jsonl",), out=tmp_path))
    searched = Demonstration("B01.h0", "i need a shoe", (DemonstrationStep("page", ("search[shoe]",), 0),))
    write_demonstrations(tmp_path / "none.jsonl", [searched], Header())
    with pytest.raises(BadRecord, match="ends with a purchase"):
        script.main(script.Args(demonstrations=(tmp_path / "none.jsonl",), out=tmp_path))
