"""What became of the opinions, by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Decision, Info
from llm_gym.errors import BadRecord
from llm_gym.evaluation import Evaluation
from llm_gym.evaluation.opinions import OpinionUse, opinion_use
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Records
from llm_gym.policies import HeedingPolicy, OraclePolicy, Policy, RandomPolicy
from llm_gym.wrappers import OpinionWrapper

Rows = Callable[..., dict[str, Any]]


def step(action: str | None, *opinions: str, invalid: str | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {"observation": "", "action": action, "reward": 0.0}
    if opinions:
        told["opinions"] = [[opinion, None, "e"] for opinion in opinions]
    return told | ({"invalid": invalid} if invalid else {})


@pytest.fixture
def rows(row: Rows) -> list[dict[str, Any]]:
    return [
        row(
            "a",
            True,
            trajectory=[
                step("search[Red  shoe]", "search[red shoe]"),  # first
                step("click[b]", "click[a]", "click[b]"),  # any
                step("click[x]", "click[a]"),  # none
                step("click[a]", "click[a]", invalid="No."),  # first, after a disagreement
                step(None, "click[a]"),  # stops: no answer
            ],
        ),
        row(
            "b",
            False,
            trajectory=[
                step("search[hat]", "search[shoe]"),  # none
                step("click[c]", "click[a]"),  # none, after a disagreement
                step("click[d]"),  # nothing was suggested
                step("click[a]", "click[a]"),  # first, but not right after a disagreement
            ],
        ),
        row("c", False, trajectory=[step("click[d]")]),
    ]


@pytest.fixture
def used(rows: list[dict[str, Any]]) -> OpinionUse:
    found = opinion_use(rows)
    assert found is not None
    return found


def test_how_many_actions_had_opinions_before_them(used: OpinionUse) -> None:
    assert (used.shown.value, used.shown.n) == (7 / 9, 9)


def test_agreement_with_the_first_and_with_any(used: OpinionUse) -> None:
    assert (used.agreement_first.value, used.agreement_first.n) == (3 / 7, 7)
    assert (used.agreement_any.value, used.agreement_any.n) == (4 / 7, 7)


def test_uptake_is_counted_right_after_a_disagreement(used: OpinionUse) -> None:
    assert (used.uptake.value, used.uptake.n) == (1 / 2, 2)


def test_suggestions_that_the_world_refused_are_counted_where_they_were_followed(used: OpinionUse) -> None:
    assert (used.refused.value, used.refused.n) == (1 / 4, 4)


def test_success_when_followed_and_when_not(used: OpinionUse) -> None:
    assert (used.success_followed.value, used.success_followed.n) == (1.0, 1)  # a: 3 of 4
    assert (used.success_not_followed.value, used.success_not_followed.n) == (0.0, 1)  # b: 1 of 3; c had none


def test_agreement_by_the_first_word_of_the_action(used: OpinionUse) -> None:
    assert list(used.by_type) == ["click", "search"]
    assert (used.by_type["search"].first.value, used.by_type["search"].any.n) == (1 / 2, 2)
    assert (used.by_type["click"].first.value, used.by_type["click"].any.value) == (2 / 5, 3 / 5)


def test_the_last_trial_counts(row: Rows) -> None:
    trials = [
        row("a", trial=0, trajectory=[step("click[x]", "click[a]")]),
        row("a", True, trial=1, trajectory=[step("click[a]", "click[a]")]),
    ]
    used = opinion_use(trials)
    assert used is not None
    assert (used.agreement_any.value, used.agreement_any.n) == (1.0, 1)


def test_repeats_of_a_task_make_the_interval_no_narrower_than_its_tasks(row: Rows) -> None:
    """Every task always or never agrees: the evidence is 8 tasks, however often each is played."""

    def agreement(repeats: int) -> Any:
        played = [
            row(task, repeat=repeat, trajectory=[step("go 1" if task in "abcd" else "go 2", "go 1")])
            for task in "abcdefgh"
            for repeat in range(repeats)
        ]
        used = opinion_use(played)
        assert used is not None
        return used.agreement_any

    once, often = agreement(1), agreement(10)
    assert (often.value, often.n) == (0.5, 80)
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=0.03)


def test_commands_of_a_house_are_told_apart_by_their_verb(row: Rows) -> None:
    used = opinion_use([row(trajectory=[step("go to desk 1", "look"), step("take mug 1 from desk 1", "look")])])
    assert used is not None
    assert list(used.by_type) == ["go", "take"]


def test_without_opinions_there_is_nothing_to_tell(row: Rows, plan: Callable[..., Plan]) -> None:
    rows = (row("a", trajectory=[step("click[x]")]),)
    evaluation = Evaluation(plan(), Records(rows))
    assert opinion_use(rows) is None
    assert evaluation.opinions is None
    assert "agreement" not in str(evaluation)
    assert evaluation.to_dict()["opinions"] is None


def test_an_evaluation_shows_them(rows: list[dict[str, Any]], plan: Callable[..., Plan]) -> None:
    evaluation = Evaluation(plan(), Records(tuple(rows)))
    text = str(evaluation)
    assert "agreement_any          0.571" in text
    assert "agrees with first" in text
    assert "agreement_any" in evaluation._repr_html_()
    told = json.loads(json.dumps(evaluation.to_dict()["opinions"]))
    assert told["uptake"]["n"] == 2
    assert told["by_type"]["click"]["any"]["n"] == 5


class Waits(Policy):
    """Does what is never suggested."""

    name = "waits"

    def act(self, observation: str, info: Info) -> Decision:
        return Decision("wait")


def test_what_a_policy_is_known_to_do_is_found_again() -> None:
    env = OpinionWrapper(gym.make("llm_gym/Corridor-v0"), OraclePolicy())
    used = HeedingPolicy(Waits(), 0.4).evaluate(env, n=150).opinions
    assert used is not None
    assert used.agreement_first.low < 0.4 < used.agreement_first.high
    assert used.uptake.low < 0.4 < used.uptake.high
    assert used.shown == 1.0


def test_a_random_policy_agrees_by_chance() -> None:
    env = OpinionWrapper(gym.make("llm_gym/Corridor-v0", length=2), RandomPolicy())
    used = RandomPolicy().evaluate(env, n=200).opinions
    assert used is not None
    assert used.agreement_any.low < 0.5 < used.agreement_any.high


@pytest.mark.parametrize("opinions", [5, [5], [["a", None]], [["a", "sure", "e"]], [[None, None, "e"]]])
def test_a_row_whose_opinions_are_none_is_refused(row: Rows, tmp_path: Path, plan: Any, opinions: Any) -> None:
    told = row("a", trajectory=[{**step("x"), "opinions": opinions}])
    (tmp_path / "plan.json").write_bytes(plan().to_bytes())
    (tmp_path / "episodes.jsonl").write_text(json.dumps(told) + "\n")
    with pytest.raises(BadRecord, match="line 1: 'trajectory' cannot be"):
        Evaluation.load(tmp_path)
