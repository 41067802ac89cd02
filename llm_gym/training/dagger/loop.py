"""Teaches a student by DAgger: one call that a kill interrupts and the same call continues."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llm_gym.core import derive_seed
from llm_gym.data import new_folder, write_atomically
from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.extras import require
from llm_gym.training.curves import draw_curves
from llm_gym.training.dagger.games import Games, MakeEnv, MakeTeacher, Mixture
from llm_gym.training.dagger.schedule import DaggerSchedule
from llm_gym.training.dagger.student import LossNotFinite, Student
from llm_gym.training.log import HELD_OUT, Log
from llm_gym.training.plan import claim
from llm_gym.training.schedule import LOSS
from llm_gym.training.watch import Watch

CHECKPOINTS, TAUGHT, BAD_BATCH = "checkpoints", "taught.json", "bad_batch"
_ROUND = re.compile(r"round-(\d+)")
_PREFIX = "round-"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Taught:
    """How a training went."""

    rounds: int
    games: int
    """Played to learn from."""
    success: float
    """Share of the held-out games that were won at the last look."""
    seconds: float
    """Of training, in all calls together."""


def teach(
    student: Student,
    make_env: MakeEnv,
    make_held_out: MakeEnv,
    make_teacher: MakeTeacher,
    schedule: DaggerSchedule,
    out: Path,
    *,
    most_tasks: int | None = None,
    plan: Mapping[str, Any] | None = None,
) -> Taught:
    """Play rounds of games in which the teacher helps less and less, and learn what it would have done everywhere.

    In `out` there are afterwards `plan.json`, `log.jsonl`, `curves.png`, `taught.json` and the last checkpoint. The
    same call in the same folder continues after a kill from the last look at the held-out games, and after Ctrl-C from
    the last round, to the same weights as without. The weights of the last round are those that count: nothing is
    chosen by the held-out games. A finished training is only read.

    Args:
        student: with the same weights every time.
        make_env: makes an environment of the games to learn from.
        make_held_out: makes one of the games that the student is looked at with; it plays them alone and greedily.
        make_teacher: makes one of the teachers, of whom every game has its own.
        schedule: how long, how many at once.
        out: the folder.
        most_tasks: the first so many games of the panel; None: all.
        plan: whatever else makes the weights what they are, as JSON knows it; others are refused in this folder.

    Raises:
        InvalidSetting: there is no game; or a loss was no finite number: the student as it was before that update, with
            its replay and the state of the generator that drew the batch, is in `out/bad_batch`.
        PlanMismatch: `out` holds a training with other settings.
        KeyboardInterrupt: Ctrl-C; the message says how to go on.
        BadRecord: what `out` holds is malformed.
        MissingDependency: the extra `train` is not installed.
    """
    require("matplotlib", "train")
    if most_tasks is not None and most_tasks < 1:
        raise InvalidSetting(f"There has to be a game to learn from: {most_tasks} are too few.")
    out = out.resolve()
    with Games(make_env, make_teacher, schedule.games, schedule.steps) as games:
        tasks = games.tasks[:most_tasks]
        settings = {"schedule": dataclasses.asdict(schedule), "student": student.name, "tasks": len(tasks)}
        claim(out, settings | {"plan": dict(plan or {})})
        if (out / TAUGHT).exists():
            return _read(student, out)
        with Games(make_held_out, None, schedule.looked_at, schedule.steps) as held_out:
            return _Training(student, games, tasks, held_out, schedule, out).run()


class _Training:
    """A training under way."""

    def __init__(
        self,
        student: Student,
        games: Games,
        tasks: tuple[str, ...],
        held_out: Games,
        schedule: DaggerSchedule,
        out: Path,
    ) -> None:
        self.student, self.games, self.tasks, self.held_out = student, games, tasks, held_out
        self.schedule, self.out = schedule, out
        self.done = _last_round(out) or 0
        if self.done:
            _load(student, _folder(out, self.done))
        self.log = Log(out, self.done)
        self.losses: list[float] = []

    def run(self) -> Taught:
        rounds = self.schedule.rounds
        try:
            with Watch(rounds, self.done) as watch:
                while self.done < rounds and not watch.stopping:
                    self._round()
                    watch.tell(self.done)
                    if self.done % self.schedule.look_every == 0 or self.done == rounds:
                        self._look()
        finally:
            if self.log.rows:
                draw_curves(self.out, self.log.rows)
        if self.done < rounds:
            self._save()
            raise KeyboardInterrupt(f"Stopped after round {self.done}. The same command in {self.out} goes on.")
        success = next(row[HELD_OUT]["success"] for row in reversed(self.log.rows) if HELD_OUT in row)
        taught = Taught(rounds, rounds * self.schedule.games, success, round(self.log.seconds, 1))
        write_atomically(self.out / TAUGHT, json.dumps(dataclasses.asdict(taught), indent=1).encode() + b"\n")
        return taught

    def _round(self) -> None:
        schedule = self.schedule
        rng = np.random.default_rng(derive_seed(schedule.seed, "round", self.done))
        mixture = Mixture(schedule.assistance_in(self.done), schedule.random)
        self.losses = []

        def learn(step: int) -> None:
            if step % schedule.learn_every == 0:
                for _ in range(schedule.updates):
                    self._learn(rng)

        played = self.games.play(self.student, self._drawn(), rng, mixture, learn)
        self.student.end()
        self.done += 1
        told = {
            "assistance": mixture.assistance,
            "won": played.success,
            "agreement": played.agreement,
            "commands": played.commands,
            "updates": len(self.losses),
        }
        if self.losses:
            told[LOSS] = float(np.mean(self.losses))
        self.log.write(self.done, {name: round(value, 5) for name, value in told.items()})

    def _drawn(self) -> list[str]:
        """The games of this round: all in a random order, then all in another one, …."""
        size, first = len(self.tasks), self.done * self.schedule.games
        numbers = range(first, first + self.schedule.games)
        orders = {
            epoch: np.random.default_rng(derive_seed(self.schedule.seed, "order", epoch)).permutation(size)
            for epoch in {number // size for number in numbers}
        }
        return [self.tasks[orders[number // size][number % size]] for number in numbers]

    def _learn(self, rng: np.random.Generator) -> None:
        before = rng.bit_generator.state
        try:
            loss = self.student.learn(rng, self.done / self.schedule.rounds)
        except LossNotFinite as error:
            folder = self.out / BAD_BATCH
            shutil.rmtree(folder, ignore_errors=True)
            with new_folder(folder) as workshop:
                self.student.save_state(workshop)
                (workshop / "generator.json").write_text(json.dumps(before, default=str) + "\n", encoding="utf-8")
            raise InvalidSetting(
                f"In round {self.done + 1} the loss was {error}, so the weights were left as they are. The student and "
                f"what it was learning from are in {folder}. Train in another folder with a lower learning rate."
            ) from error
        if loss is not None:
            self.losses.append(loss)

    def _look(self) -> None:
        rng = np.random.default_rng(derive_seed(self.schedule.seed, "look"))
        played = self.held_out.play(self.student, self.held_out.tasks[: self.schedule.looked_at], rng)
        self.log.write(self.done, {HELD_OUT: {"success": round(played.success, 5)}})
        _logger.info(
            "round %d of %d, held out: %d of %d games won", self.done, self.schedule.rounds, played.won, played.games
        )
        self._save()

    def _save(self) -> None:
        folder = _folder(self.out, self.done)
        if not folder.exists():
            with new_folder(folder) as workshop:
                self.student.save_state(workshop)
        for path in _folders(self.out):
            if path != folder:
                shutil.rmtree(path)


def _read(student: Student, out: Path) -> Taught:
    """What a finished training found, its weights put into the student.

    Raises:
        BadRecord: a file of it is malformed or gone.
    """
    try:
        taught = Taught(**json.loads((out / TAUGHT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise BadRecord(f"{out} holds no whole training ({error}). Remove it and train again.") from error
    _load(student, _folder(out, taught.rounds))
    return taught


def _load(student: Student, folder: Path) -> None:
    try:
        student.load_state(folder)
    except Exception as error:  # what a damaged archive raises is the archive library's business
        told = " ".join(str(error).split())[:200]
        raise BadRecord(f"{folder} cannot be read ({told}). Remove it and go on, or train again.") from error


def _folder(out: Path, number: int) -> Path:
    return out / CHECKPOINTS / f"{_PREFIX}{number}"


def _folders(out: Path) -> list[Path]:
    return [path for path in (out / CHECKPOINTS).glob(f"{_PREFIX}*") if _ROUND.fullmatch(path.name)]


def _last_round(out: Path) -> int | None:
    """After how many rounds the newest state was written; None where there is none."""
    return max((int(path.name.removeprefix(_PREFIX)) for path in _folders(out)), default=None)
