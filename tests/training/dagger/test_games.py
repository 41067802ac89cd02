"""Games side by side: how often who plays, and teachers that can be asked wherever a student went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from llm_gym.core import Info, Opinion
from llm_gym.envs.base import Outcome, TaskPanel, TextEnv
from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.training.dagger.games import Games, Mixture
from llm_gym.training.dagger.student import Lesson, Seen
from llm_gym.training.dagger.teachers import teacher
from tests.training.dagger.conftest import Table


class Endless(TextEnv):
    """Nothing comes of anything."""

    def __init__(self) -> None:
        super().__init__(TaskPanel("all", ["only"]))

    def description(self) -> dict[str, Any]:
        return {}

    def _begin(self, task_id: str) -> Outcome:
        return self._respond("")

    def _respond(self, action: str) -> Outcome:
        return Outcome("", {"admissible_actions": ["student", "teacher", "nobody"], "success": False, "page": ""})


class Saying:
    """A teacher that says one thing."""

    def watch(self, world: gym.Env[str, str]) -> None:
        return

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        return

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        return [Opinion("teacher")]


class Wanderer(Table):
    """Plays anything that is possible, and keeps what the teacher said of it."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[tuple[Seen, Lesson]] = []

    def act(self, seen: Sequence[Seen], rng: np.random.Generator, *, greedy: bool) -> list[str]:
        self._now = seen
        return [str(rng.choice(one.info["admissible_actions"] or [""])) for one in seen]

    def remember(self, lessons: Sequence[Lesson]) -> None:
        self.judged += zip(self._now, lessons, strict=True)


def test_teacher_chance_and_student_play_as_often_as_the_mixture_says() -> None:
    student, rng = Table(), np.random.default_rng(0)
    with Games(Endless, Saying, most=40, steps=100) as games:
        played = games.play(student, ["only"] * 40, rng, Mixture(assistance=0.3, random=0.3))
    shares = {name: count / 4000 for name, count in Counter(student.played).items()}
    # Standard error at most 0.008.
    assert shares["teacher"] == pytest.approx(0.3 + 0.1, abs=0.03)
    assert shares["nobody"] == pytest.approx(0.1, abs=0.03)
    assert shares["student"] == pytest.approx(0.4 + 0.1, abs=0.03)
    assert (played.games, played.won, played.commands, played.judged, played.agreed) == (40, 0, 4000, 4000, 0)


def test_without_a_mixture_the_student_plays_alone_and_nobody_is_asked() -> None:
    student = Wanderer()
    with Games(Endless, None, most=2, steps=3) as games:
        played = games.play(student, ["only"] * 2, np.random.default_rng(0))
    assert played.commands == 6
    assert all(lesson.labels == () for _, lesson in student.judged)


@pytest.mark.parametrize("name", ["explorer", "planner"])
def test_a_teacher_knows_something_possible_wherever_the_student_went(name: str) -> None:
    student = Wanderer()

    def make() -> gym.Env[str, str]:
        return gym.make("llm_gym/ALFWorld-v1", split="valid_seen")

    with Games(make, lambda: teacher(name), most=4, steps=30) as games:
        games.play(student, games.tasks[:4], np.random.default_rng(1), Mixture(assistance=0.2))
    assert len(student.judged) >= 60
    for seen, lesson in student.judged:
        assert lesson.labels
        assert set(lesson.labels) <= set(seen.info["admissible_actions"] or ())


@pytest.mark.parametrize("name", ["explorer", "planner"])
def test_who_follows_a_teacher_wins(name: str) -> None:
    with Games(
        lambda: gym.make("llm_gym/ALFWorld-v1", split="valid_seen"), lambda: teacher(name), most=6, steps=50
    ) as games:
        played = games.play(Table(), games.tasks[:6], np.random.default_rng(0), Mixture(assistance=1.0))
    assert played.success == 1.0


def test_no_game_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="At least one game"):
        Games(Endless, Saying, most=0, steps=1)


def test_an_unknown_teacher_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="explorer"):
        teacher("explore")
