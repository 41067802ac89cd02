"""What a history wrapper puts before an observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from llm_gym.errors import InvalidSetting
from llm_gym.wrappers import HistoryWrapper


class Numbered(gym.Env[str, str]):
    """Its observations are o0, o1, o2, …"""

    observation_space: Any = gym.spaces.Text(10)
    action_space: Any = gym.spaces.Text(10)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        self.step_number = 0
        return "o0", {"page": "o0"}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.step_number += 1
        observation = f"o{self.step_number}"
        return observation, 0.5, False, False, {"page": observation}


def told(observations: int, actions: int, steps: int = 3) -> list[str]:
    env = HistoryWrapper(Numbered(), observations, actions)
    return [env.reset()[0], *(env.step(f"a{number}")[0] for number in range(1, steps + 1))]


@pytest.mark.parametrize(
    ("observations", "actions", "expected"),
    [
        (0, 0, ["o0", "o1", "o2", "o3"]),
        (1, 0, ["o0", "o0 [SEP] o1", "o1 [SEP] o2", "o2 [SEP] o3"]),
        (0, 1, ["o0", "a1 [SEP] o1", "a2 [SEP] o2", "a3 [SEP] o3"]),
        (1, 1, ["o0", "o0 [SEP] a1 [SEP] o1", "o1 [SEP] a2 [SEP] o2", "o2 [SEP] a3 [SEP] o3"]),
        # confirmed with the original: act[-2] [SEP] prevobs[-1] [SEP] act[-1] [SEP] current
        (
            1,
            2,
            ["o0", "o0 [SEP] a1 [SEP] o1", "a1 [SEP] o1 [SEP] a2 [SEP] o2", "a2 [SEP] o2 [SEP] a3 [SEP] o3"],
        ),
        (
            2,
            1,
            [
                "o0",
                "o0 [SEP] a1 [SEP] o1",
                "o0 [SEP] o1 [SEP] a2 [SEP] o2",
                "o1 [SEP] o2 [SEP] a3 [SEP] o3",
            ],
        ),
        (9, 9, ["o0", "o0 [SEP] a1 [SEP] o1", "o0 [SEP] a1 [SEP] o1 [SEP] a2 [SEP] o2"]),
    ],
)
def test_the_last_few_of_each_stand_oldest_first(observations: int, actions: int, expected: list[str]) -> None:
    assert told(observations, actions)[: len(expected)] == expected


def test_a_new_episode_begins_without_a_history() -> None:
    env = HistoryWrapper(Numbered(), 2, 2)
    env.reset()
    env.step("a1")
    assert env.reset()[0] == "o0"
    assert env.step("b1")[0] == "o0 [SEP] b1 [SEP] o1"


def test_the_page_in_info_stays_bare() -> None:
    env = HistoryWrapper(Numbered(), 1, 1)
    env.reset()
    assert env.step("a1")[4] == {"page": "o1"}


def test_an_impossible_action_is_part_of_the_history() -> None:
    env = HistoryWrapper(gym.make("llm_gym/Corridor-v0"), actions=1)
    observation, _ = env.reset(options={"task": "corridor-0"})
    assert env.step("fly")[0] == f"fly [SEP] {observation}"


@pytest.mark.parametrize(("observations", "actions"), [(-1, 0), (0, -1)])
def test_a_negative_number_is_refused(observations: int, actions: int) -> None:
    with pytest.raises(InvalidSetting, match=f"got {observations} and {actions}"):
        HistoryWrapper(Numbered(), observations, actions)
