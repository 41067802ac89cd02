"""Games side by side: who plays each command, and what student and teacher are told of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, Self, cast

import gymnasium as gym
import numpy as np

from llm_gym.core import Info
from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.training.dagger.student import Lesson, Seen, Student
from llm_gym.training.dagger.teachers import Teacher, labels

MakeEnv = Callable[[], gym.Env[str, str]]
MakeTeacher = Callable[[], Teacher]


@dataclass(frozen=True)
class Mixture:
    """Who plays."""

    assistance: float
    """Chance of the teacher."""
    random: float = 0.0
    """Chance of a random command."""


@dataclass(frozen=True)
class Played:
    """What came of the games of a round."""

    games: int
    won: int
    commands: int
    judged: int
    """Commands of the student's at states where the teacher knew one."""
    agreed: int
    """Of these, those that were the teacher's as well."""

    @property
    def success(self) -> float:
        return self.won / self.games

    @property
    def agreement(self) -> float:
        return self.agreed / self.judged if self.judged else 0.0


class Games:
    """As many environments as games are played side by side, each with its teacher; a context that closes them.

    Args:
        make_env: makes an environment whose panel holds the games.
        make_teacher: makes a teacher; None where nobody is taught.
        most: games at once.
        steps: commands after which a game is given up.
    """

    def __init__(self, make_env: MakeEnv, make_teacher: MakeTeacher | None, most: int, steps: int) -> None:
        if most < 1:
            raise InvalidSetting(f"At least one game has to be played, not {most}.")
        self._make_env, self._make_teacher = make_env, make_teacher
        self._steps = steps
        self._opened = ExitStack()
        self._envs: list[gym.Env[str, str]] = []
        self._teachers: list[Teacher] = []
        self._grow(1)
        self.tasks: tuple[str, ...] = tuple(panel_of(self._envs[0]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def play(
        self,
        student: Student,
        tasks: Sequence[str],
        rng: np.random.Generator,
        mixture: Mixture | None = None,
        after_step: Callable[[int], None] | None = None,
    ) -> Played:
        """Play some games to their ends.

        Args:
            student: begins the games; whether they are kept in its replay is the caller's to say, by `end`.
            tasks: one a game.
            rng: who plays, and what is drawn.
            mixture: None: the student plays alone, as well as it can, and nobody teaches.
            after_step: called after every parallel step with its number, from 1.
        """
        self._grow(len(tasks))
        student.begin(len(tasks))
        running = [self._begun(slot, task) for slot, task in enumerate(tasks)]
        counts = np.zeros(4, np.int64)  # won, commands, judged, agreed
        for step in range(1, self._steps + 1):
            if not running:
                break
            chosen = student.act(running, rng, greedy=mixture is None)
            judged = [self._labels(one) if mixture else () for one in running]
            played = [
                command if mixture is None else _mixed(mixture, rng, command, good, one.info)
                for one, command, good in zip(running, chosen, judged, strict=True)
            ]
            counts[1:] += len(played), sum(map(bool, judged)), sum(map(_is_in, chosen, judged))
            lessons = zip(running, judged, played, strict=True)
            student.remember([Lesson(one.slot, good, command) for one, good, command in lessons])
            running, won = self._after(running, played)
            counts[0] += won
            if after_step is not None:
                after_step(step)
        return Played(len(tasks), *counts.tolist())

    def _grow(self, size: int) -> None:
        while len(self._envs) < size:
            env = self._make_env()
            self._opened.enter_context(closing(env))
            self._envs.append(env)
            if self._make_teacher is not None:
                self._teachers.append(self._make_teacher())

    def _begun(self, slot: int, task: str) -> Seen:
        env = self._envs[slot]
        observation, info = env.reset(options={"task": task})
        if self._make_teacher is not None:
            self._teachers[slot].watch(env.unwrapped)
            self._teachers[slot].reset(seed=0)
        return Seen(slot, observation, cast(Info, info))

    def _labels(self, seen: Seen) -> tuple[str, ...]:
        return labels(self._teachers[seen.slot], seen.observation, seen.info)

    def _after(self, running: Sequence[Seen], played: Sequence[str]) -> tuple[list[Seen], int]:
        """The games that go on, and how many of the others were won."""
        going, won = [], 0
        for seen, command in zip(running, played, strict=True):
            observation, _, terminated, truncated, info = self._envs[seen.slot].step(command)
            won += bool(terminated and info["success"])
            if not terminated and not truncated:
                going.append(Seen(seen.slot, observation, cast(Info, info)))
        return going, won


def _is_in(command: str, good: tuple[str, ...]) -> bool:
    return command in good


def _mixed(mixture: Mixture, rng: np.random.Generator, command: str, good: tuple[str, ...], info: Any) -> str:
    """The command that is played, drawn as the original draws: the teacher's, a random one, or the student's."""
    drawn = rng.random()
    if drawn < mixture.assistance:
        return good[int(rng.integers(len(good)))] if good else command
    if drawn < mixture.assistance + mixture.random:
        admissible = info.get("admissible_actions") or [command]
        return str(admissible[int(rng.integers(len(admissible)))])
    return command
