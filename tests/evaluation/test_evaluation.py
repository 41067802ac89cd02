"""How a result prints, and what its attributes are."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import orjson
import pytest

from llm_gym.evaluation import Evaluation, evaluate
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Records
from llm_gym.policies.uniform import RandomPolicy

Rows = Callable[..., dict[str, Any]]
Plans = Callable[..., Plan]


@pytest.fixture
def shopping(row: Rows, plan: Plans) -> Evaluation:
    rows = (
        row("a", True, category="shoes", metrics={"purchase": True}),
        row("b", category="[red]hats[/]", score=50.0, metrics={"purchase": True}),
        row("c", category="shoes", ended_by="error", error="E: x", metrics={"purchase": False}),
    )
    return Evaluation(plan("rule"), Records(rows))


EXPECTED = """\
rule on E-v0
panel test dddddddddddddddd · 3 of 500 tasks · seed 0
split test · products 1,000
 metric            value    95 % interval   n
 ────────────────────────────────────────────
 success           0.333   0.061 to 0.792   3
 score              50.0     0.0 to 100.0   3
 precision         0.500   0.095 to 0.905   2
 completion_rate   0.667   0.208 to 0.939   3
 steps               1.0       1.0 to 1.0   3
 invalid_actions   0.000   0.000 to 0.000   3
 seconds               –                –   0
 purchase_rate     0.667   0.208 to 0.939   3
 category       success    95 % interval   n   score   95 % interval   steps   95 % interval
 ───────────────────────────────────────────────────────────────────────────────────────────
 [red]hats[/]     0.000   0.000 to 0.793   1    50.0         unknown     1.0         unknown
 shoes            0.500   0.095 to 0.905   2    50.0    0.0 to 100.0     1.0      1.0 to 1.0
1 of 3 attempts ended in an error: failures, told in failures.jsonl."""


def test_a_result_prints_as_plain_tables(shopping: Evaluation) -> None:
    assert str(shopping) == EXPECTED


def test_a_terminals_colours_and_width_change_nothing(shopping: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "20"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    assert str(shopping) == EXPECTED


def test_environment_metrics_are_attributes(shopping: Evaluation) -> None:
    assert shopping.purchase_rate == pytest.approx(2 / 3)
    assert shopping.precision.n == 2
    assert shopping.errors == 1


def test_an_unknown_attribute_names_the_near_ones(shopping: Evaluation) -> None:
    with pytest.raises(AttributeError, match=r"no 'purchase_rat'\. Did you mean 'purchase_rate'"):
        _ = shopping.purchase_rat


@pytest.mark.parametrize(
    "name", ["success", "score", "precision", "completion_rate", "steps", "invalid_actions", "seconds"]
)
def test_common_metrics_have_a_property(shopping: Evaluation, name: str) -> None:
    assert getattr(shopping, name) is shopping.metrics[name]
    assert name in dir(shopping)


def test_a_result_survives_pickle_and_copy(shopping: Evaluation) -> None:
    assert str(pickle.loads(pickle.dumps(shopping))) == str(copy.deepcopy(shopping)) == EXPECTED


def test_html_takes_nothing_as_markup(row: Rows, plan: Plans) -> None:
    rows = (row("a", category="<script>"), row("b", category="\x1b[31m"))
    page = Evaluation(plan("<b>"), Records(rows))._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "\x1b" not in page


def test_control_characters_do_not_reach_the_terminal(row: Rows, plan: Plans) -> None:
    rows = (row("a", category="\x1b[31m"), row("b", category="x"))
    assert "\x1b" not in str(Evaluation(plan("\x1b]0;title\x07"), Records(rows)))


def test_to_dict_is_json(shopping: Evaluation) -> None:
    content = orjson.loads(orjson.dumps(shopping.to_dict()))
    assert content["metrics"]["seconds"] == {"value": None, "low": None, "high": None, "n": 0}
    assert content["by_category"]["shoes"]["success"]["n"] == 2
    assert content["complete"] is True


def test_trials_have_a_table_of_their_own() -> None:
    result = evaluate(RandomPolicy(), gym.make("llm_gym/Corridor-v0"), 8, trials=3)
    assert "up to 3 trials" in str(result)
    assert [float(value) for value in result.success_by_trial] == sorted(map(float, result.success_by_trial))
