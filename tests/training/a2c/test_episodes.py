"""Episodes side by side: what ends them, what follows, and how they are taken up again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.errors import InvalidSetting
from llm_gym.policies.reinforcement.candidates import instruction_only
from llm_gym.training.a2c.episodes import Course, Episodes

TASKS = [f"corridor-{number}" for number in range(20)]


def corridor(limit: int = 50) -> Callable[[], gym.Env[str, str]]:
    return lambda: gym.make("llm_gym/Corridor-v0", max_episode_steps=limit)


def begun(count: int = 3, seed: int = 0, limit: int = 50) -> Episodes:
    episodes = Episodes(Course(corridor(limit), TASKS), count, instruction_only, seed)
    episodes.begin()
    return episodes


def shown(episodes: Episodes) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.page, one.actions) for one in episodes.situations]


def place_of(episodes: Episodes, number: int, action: str) -> int:
    return episodes.situations[number].actions.index(action)


def test_an_episode_that_ends_is_followed_by_another_and_told() -> None:
    episodes = begun(1)
    answer = episodes.act([place_of(episodes, 0, "open")])[0]
    assert answer.terminated
    assert answer.cut_off is None
    assert [one.steps for one in episodes.ended] == [1]
    assert "open" in episodes.situations[0].actions
    assert episodes.state() == {"begun": 2, "running": [{"number": 1, "actions": []}]}


def test_the_step_limit_ends_an_episode_with_the_situation_that_it_reached() -> None:
    episodes = begun(1, limit=1)
    before = episodes.situations[0]
    move = next(action for action in before.actions if action != "open")
    answer = episodes.act([before.actions.index(move)])[0]
    assert not answer.terminated
    assert answer.cut_off is not None
    assert answer.cut_off.goal == before.goal
    assert answer.cut_off.page != before.page


def test_an_episode_that_ends_by_itself_at_the_limit_is_not_cut_off() -> None:
    episodes = begun(1, limit=1)
    answer = episodes.act([place_of(episodes, 0, "open")])[0]
    assert answer.terminated
    assert answer.cut_off is None


def test_tasks_depend_on_the_seed_alone() -> None:
    assert shown(begun(8)) == shown(begun(8)) != shown(begun(8, seed=1))


def test_episodes_that_are_taken_up_again_go_on_as_if_nothing_had_happened() -> None:
    episodes = begun()
    for step in range(7):
        episodes.act(choices(episodes, step))
    again = Episodes(Course(corridor(), TASKS), 3, instruction_only, 0)
    again.restore(episodes.state())
    for step in range(7, 16):
        assert shown(again) == shown(episodes)
        assert again.act(choices(again, step)) == episodes.act(choices(episodes, step))
    assert again.ended[-1] == episodes.ended[-1]


def choices(episodes: Episodes, step: int) -> list[int]:
    """Walk, and at every fifth step open the door, which stands last."""
    return [len(one.actions) - 1 if step % 5 == 4 else 0 for one in episodes.situations]


class Silent(gym.Wrapper[str, str, str, str]):
    """A world that lists no actions."""

    def reset(self, **settings: Any) -> tuple[str, dict[str, Any]]:
        observation, info = self.env.reset(**settings)
        return observation, {**info, "admissible_actions": None}


def test_a_world_that_lists_no_actions_is_refused() -> None:
    episodes = Episodes(Course(lambda: Silent(corridor()()), TASKS), 1, instruction_only, 0)
    with pytest.raises(InvalidSetting, match=r"Corridor lists no actions in task 'corridor-\d+'"):
        episodes.begin()


def test_no_task_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="no task"):
        Course(corridor(), [])
