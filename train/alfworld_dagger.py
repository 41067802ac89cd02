"""Students of ALFWorld, taught by DAgger (arXiv:1011.0686) as in the ALFWorld paper (arXiv:2010.03768, section 4.1).

    python train/alfworld_dagger.py --student memory --out memory
    python train/alfworld_dagger.py --student history --out history
    python train/alfworld_dagger.py --student butler --out butler

Three students: "butler", the text agent of the paper, writes its commands word by word; "history" reads all that was
said and done and chooses among the admissible commands; "memory" does so with a memory that is made for the task. The
games are the official ones (`llm-gym download alfworld`); `--games embedded` takes the invented ones of the package.

The policy is in OUT/policy, for `from_pretrained` of ButlerPolicy, HistoryPolicy and MemoryPolicy. What each student
reaches, and in what time, is in docs/dagger.md.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.envs.alfworld.games import open_games
from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.training.dagger.loop import teach
from llm_gym.training.dagger.schedule import DaggerSchedule
from llm_gym.training.dagger.student import Student
from llm_gym.training.dagger.teachers import TeacherName, teacher
from llm_gym.training.script import run

POLICY = "policy"
VOCABULARY = 500
"""Pieces of words that BUTLER knows, beside single characters."""
StudentName = Literal["butler", "history", "memory"]

DEFAULTS: dict[StudentName, DaggerSchedule] = {
    "butler": DaggerSchedule(rounds=60, games=32, learn_every=1, updates=1, annealed=0.4, look_every=6, looked_at=40),
    "history": DaggerSchedule(rounds=100, games=96, learn_every=2, updates=1, annealed=0.25, look_every=20),
    "memory": DaggerSchedule(rounds=14, games=512, learn_every=1, updates=2, annealed=0.25, look_every=7),
}
"""What was chosen for each on valid_seen."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Args:
    """Who is taught, by whom, with which games, for how long."""

    student: StudentName = "memory"
    """Who is taught."""
    out: Path = Path("alfworld_dagger")
    """Folder of the training, which can be continued there; the policy is put into OUT/policy."""
    teacher: TeacherName = "explorer"
    """Who says what would have been right: "explorer" sees what the student sees, "planner" the whole house."""
    cloning: bool = False
    """Always play what the teacher says: behaviour cloning instead of DAgger."""
    games: str = "official"
    """"official", "embedded", a store, a folder or an archive of games."""
    split: str = "train"
    """Games to learn from."""
    held_out: str = "valid_seen"
    """Games to look at the student with."""
    tasks: int | None = None
    """Learn from the first so many games of the panel; None: from all."""
    rounds: int | None = None
    """Of games side by side; None: the student's own number, as with all that follow."""
    side_by_side: int | None = None
    """Games of a round."""
    updates: int | None = None
    """Between two commands of a game."""
    look_every: int | None = None
    """Rounds between two looks at the held-out games."""
    remembers: bool = True
    """Whether the student "memory" has one; without, it knows what it sees now."""
    counts: bool = True
    """Whether the student "history" is told how often it gave each command."""
    smoothing: Literal["standard", "original"] = "standard"
    """Of BUTLER's labels; "original": inside the logarithm, as in the paper's code."""
    embeddings: str = "minilm"
    """BUTLER's frozen word vectors: "minilm", which comes in a package; else a folder or a name on the hub."""
    seed: int = 0
    threads: int = 1
    """Of the CPU. Where other work is done beside it, one is fastest."""
    smoke: bool = False
    """Try the whole way in seconds, with embedded games."""


def main(args: Args) -> Path:
    """Teach a student, or go on with it.

    Returns:
        The folder of the policy, `OUT/policy`.

    Raises:
        LLMGymError: something is missing or wrong.
        KeyboardInterrupt: Ctrl-C; the same command goes on.
    """
    _check(args)
    if args.smoke:
        args = replace(args, games="embedded", rounds=2, side_by_side=32, look_every=1, updates=1, tasks=64)
    require("torch", "torch").set_num_threads(args.threads)
    student = _student(args)
    make = partial(gym.make, "llm_gym/ALFWorld-v1", games=args.games)
    taught = teach(
        student,
        partial(make, split=args.split),
        partial(make, split=args.held_out),
        partial(teacher, args.teacher),
        _schedule(args),
        args.out,
        most_tasks=args.tasks,
        plan=_plan(args),
    )
    _logger.info("%d games, %.0f s: %.1f %% of those held out won", taught.games, taught.seconds, 100 * taught.success)
    folder = args.out / POLICY
    if not folder.exists():
        student.save(folder)
    return folder


def _check(args: Args) -> None:
    """Raises InvalidSetting where an argument is given that another student has."""
    own = {"remembers": "memory", "counts": "history", "smoothing": "butler", "embeddings": "butler"}
    for name, student in own.items():
        if args.student != student and getattr(args, name) != getattr(Args, name):
            raise InvalidSetting(f"{name}={getattr(args, name)} is for --student {student}, not {args.student}.")


def _student(args: Args) -> Student:
    match args.student:
        case "memory":
            from llm_gym.training.dagger.memory import MemoryStudent

            return MemoryStudent(args.seed, remembers=args.remembers)
        case "history":
            from llm_gym.training.dagger.history import HistoryStudent

            return HistoryStudent(args.seed, counts=args.counts)
        case "butler":
            from llm_gym.training.dagger.butler import ButlerSchedule, ButlerStudent
            from llm_gym.training.dagger.butler_vocabulary import texts_of, vocabulary

            tokens, table = vocabulary(texts_of(open_games(args.games), args.split), VOCABULARY, args.embeddings)
            return ButlerStudent(tokens, table, schedule=ButlerSchedule(kind=args.smoothing), seed=args.seed)


def _schedule(args: Args) -> DaggerSchedule:
    given = {
        "rounds": args.rounds,
        "games": args.side_by_side,
        "updates": args.updates,
        "look_every": args.look_every,
        "assistance": (1.0, 1.0) if args.cloning else None,
        "looked_at": 8 if args.smoke else None,
        "steps": 12 if args.smoke else None,
    }
    named = {name: value for name, value in given.items() if value is not None}
    return replace(DEFAULTS[args.student], seed=args.seed, **named)  # type: ignore[arg-type]


def _plan(args: Args) -> dict[str, Any]:
    """What the result depends on beside the schedule, games by their content."""
    of_student: dict[StudentName, dict[str, Any]] = {
        "memory": {"remembers": args.remembers},
        "history": {"counts": args.counts},
        "butler": {"smoothing": args.smoothing, "embeddings": args.embeddings},
    }
    games = {"games": open_games(args.games).digest, "split": args.split, "held_out": args.held_out}
    return {**games, "teacher": args.teacher, **of_student[args.student]}


if __name__ == "__main__":
    run(main, Args, __doc__)
