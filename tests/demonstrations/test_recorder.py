"""Recording: what is kept of an episode, whoever plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Decision, Info
from llm_gym.demonstrations import Demonstration, Recorder, Selection, record
from llm_gym.demonstrations.recorder import Recorded, Sight
from llm_gym.errors import BudgetExceeded, InvalidSetting
from llm_gym.evaluation import evaluate
from llm_gym.policies import LexicalPolicy, Policy, RandomPolicy, ReplayPolicy
from llm_gym.policies.human import HumanPolicy
from llm_gym.rollout import play
from llm_gym.wrappers import HistoryWrapper, ItemTitles, OpinionWrapper


@pytest.fixture
def corridor() -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0")


@pytest.fixture(scope="module")
def shop() -> gym.Env[str, str]:
    return gym.make("llm_gym/WebShop-v1", split="dev")


def replayed(env: gym.Env[str, str], task: str, actions: Sequence[str]) -> Demonstration:
    [recorded] = record(env, ReplayPolicy({task: actions}), [task])
    assert recorded.demonstration is not None
    return recorded.demonstration


def test_page_actions_and_choice_of_each_step_are_kept(corridor: gym.Env[str, str]) -> None:
    told = replayed(corridor, "corridor-0", ["right", "open"])
    assert [(step.observation, step.actions, step.chosen, step.image) for step in told.steps] == [
        ("Open the door of room 0.\nYou are in room 0 of 5.", ("right", "open"), 0, None),
        ("Open the door of room 0.\nYou are in room 1 of 5.", ("left", "right", "open"), 2, None),
    ]
    assert (told.task_id, told.goal, told.source) == ("corridor-0", "Open the door of room 0.", "replay")
    assert (told.success, told.score) == (False, 0.0)


def test_what_the_world_refuses_and_stopping_are_no_steps(corridor: gym.Env[str, str]) -> None:
    told = replayed(corridor, "corridor-0", ["left", "jump", "right", "lefft"])  # a wall, a word, a move, a typo; stops
    assert [step.action for step in told.steps] == ["right"]


def test_an_action_in_another_spelling_is_the_one_that_is_listed(corridor: gym.Env[str, str]) -> None:
    told = replayed(corridor, "corridor-0", [" Right ", "OPEN"])
    assert [step.action for step in told.steps] == ["right", "open"]


def test_an_episode_without_a_step_is_no_demonstration(corridor: gym.Env[str, str]) -> None:
    [recorded] = record(corridor, ReplayPolicy(), ["corridor-0"])
    assert (recorded.demonstration, recorded.episode.ended_by) == (None, "agent")


def test_a_search_is_kept_as_it_was_made(shop: gym.Env[str, str]) -> None:
    task = shop.unwrapped.panel[0]  # type: ignore[attr-defined]
    _, info = shop.reset(options={"task": task})
    assert info["admissible_actions"] != ["search[red shoes]"]
    told = replayed(shop, task, [" Search[red shoes] "])
    assert [(step.actions, step.chosen) for step in told.steps] == [(("search[red shoes]",), 0)]


def test_the_picture_of_an_item_is_named(shop: gym.Env[str, str]) -> None:
    [recorded] = record(shop, LexicalPolicy(read=1), shop.unwrapped.panel[:1])  # type: ignore[attr-defined]
    assert recorded.demonstration is not None
    search, opened, *on_item = recorded.demonstration.steps
    assert search.image is opened.image is None
    assert on_item[0].image is not None
    assert opened.action == f"click[{on_item[0].image.lower()}]"


def wrapped(env: gym.Env[str, str]) -> gym.Env[str, str]:
    return OpinionWrapper(HistoryWrapper(ItemTitles(env), observations=2), RandomPolicy())


def test_wrappers_change_nothing_of_what_is_recorded(shop: gym.Env[str, str]) -> None:
    tasks = shop.unwrapped.panel[:5]  # type: ignore[attr-defined]
    bare = [one.demonstration for one in record(shop, LexicalPolicy(), tasks)]
    assert [one.demonstration for one in record(wrapped(shop), LexicalPolicy(), tasks)] == bare
    assert all(bare)


def test_an_action_that_is_accepted_but_not_listed_is_put_at_the_end() -> None:
    info: Info = {"page": "a hall", "admissible_actions": ["left", "right"]}
    step = Sight.of("a hall", info).choice("whistle")
    assert (step.actions, step.action) == (("left", "right", "whistle"), "whistle")
    unlisted = Sight.of("a hall", {"page": "a hall", "admissible_actions": None}).choice("whistle")
    assert (unlisted.actions, unlisted.chosen) == (("whistle",), 0)


def test_of_two_that_differ_in_case_only_the_exact_one_is_meant() -> None:
    sight = Sight.of("", {"admissible_actions": ["click[Red]", "click[red]"]})
    assert [sight.choice(action).chosen for action in ("click[Red]", "click[red]", "Click [RED ]")] == [0, 1, 0]


def test_a_person_is_recorded_like_any_policy(corridor: gym.Env[str, str]) -> None:
    answers = iter(["2", "1", "jump", "open"])

    def ask(question: str) -> str:
        return next(answers)

    recorder = Recorder(HumanPolicy(ask, lambda text: None))
    told = recorder.demonstration(play(corridor, recorder, "corridor-1"))
    assert told is not None
    assert [step.action for step in told.steps] == ["right", "left", "open"]
    assert told.source == "human"


def test_the_episodes_are_those_of_an_evaluation(corridor: gym.Env[str, str]) -> None:
    tasks = corridor.unwrapped.panel[:6]  # type: ignore[attr-defined]
    rows = evaluate(RandomPolicy(), corridor, 6, repeats=2, seed=7).rows
    recorded = list(record(corridor, RandomPolicy(), tasks, repeats=2, seed=7))
    assert [one.episode.to_row() for one in recorded] == list(rows)
    assert [one.episode.repeat for one in recorded] == [0, 1] * 6


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (Selection(), [True, True, True]),
        (Selection(success=True), [True, False, False]),
        (Selection(min_score=50), [True, False, True]),
        (Selection(success=True, min_score=50), [True, False, False]),
        (Selection(min_score=0), [True, True, True]),
    ],
)
def test_a_selection_keeps_by_success_and_score(selection: Selection, kept: list[bool]) -> None:
    assert [selection.keeps(*one) for one in ((True, 100.0), (False, 49.9), (False, 50.0))] == kept


@pytest.mark.parametrize("score", [-1.0, 100.1, float("nan")])
def test_a_score_that_no_episode_can_have_is_refused(score: float) -> None:
    with pytest.raises(InvalidSetting, match="between 0 and 100"):
        Selection(min_score=score)


def test_only_what_is_wanted_becomes_a_demonstration(corridor: gym.Env[str, str]) -> None:
    tasks = corridor.unwrapped.panel[:8]  # type: ignore[attr-defined]
    every = list(record(corridor, RandomPolicy(), tasks, keep=Selection(success=True)))
    assert [one.demonstration is not None for one in every] == [one.episode.success for one in every]
    assert {one.episode.success for one in every} == {True, False}


class Breaking(Policy):
    """Raises in one task."""

    name = "breaking"

    def __init__(self, error: Callable[[], BaseException]) -> None:
        self.error = error

    def act(self, observation: str, info: Info) -> Decision:
        if info["task_id"] == "corridor-1":
            raise self.error()
        return Decision("open")


@pytest.mark.parametrize("error", [KeyError, SystemExit])
def test_a_failed_episode_ends_nothing_else(corridor: gym.Env[str, str], error: Any) -> None:
    first, second, third = record(corridor, Breaking(error), ["corridor-0", "corridor-1", "corridor-2"])
    assert (first.episode.ended_by, third.episode.ended_by) == ("task", "task")
    assert second == Recorded(second.episode, None)
    assert (second.episode.ended_by, second.episode.error) == ("error", f"{error.__name__}: ")
    assert [one.demonstration is not None for one in (first, second, third)] == [True, False, True]


def test_what_would_end_every_episode_ends_the_recording(corridor: gym.Env[str, str]) -> None:
    recording = record(corridor, Breaking(lambda: BudgetExceeded("spent")), ["corridor-0", "corridor-1"])
    next(recording)
    with pytest.raises(BudgetExceeded):
        next(recording)
