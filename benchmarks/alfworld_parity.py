"""The native engine against the original, text for text, over the games of both releases.

    python benchmarks/alfworld_parity.py [--data DIR] [--train 300] [--steps 25] [--log parity.jsonl]

Plays every evaluation game and a sample of the training games in both wordings: the walkthrough, then a random walk
that prefers rare commands, with malformed commands between. The observation, the admissible commands, whether it is
won, the score and whether it is over must be equal, byte for byte. One line per game goes to the log; games that are
in it already are not played again. Needs the extra `alfworld`; without --hurry it takes 2 to 5 seconds a game.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import tyro
from reference_alfworld import OfficialGame, ReferenceWorld, Said, hurried, official_games
from rich.console import Console
from rich.table import Table

from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.alfworld.engines import make_engine
from llm_gym.envs.alfworld.engines.base import Engine
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, Wording, reworded

RELEASES = {"current": "games_v2.1.3_tw-pddl.tar.xz", "original": "games_v2.1.1_tw-pddl.tar.xz"}
WORDINGS = {wording.name: wording for wording in (CURRENT, ORIGINAL)}
KINDS = ("introduction", "observation", "admissible", "won", "score", "over")
MALFORMED = 0.05
SHARE = 20
"""Number of games that a process plays before it hands in what it found."""


@dataclass(frozen=True)
class Args:
    """Settings of the comparison."""

    data: Path = Path(os.environ.get(DATA_VARIABLE, ".")) / "alfworld"
    """Folder of the releases' archives."""
    log: Path = Path("alfworld_parity.jsonl")
    """One line per game; a second run goes on with it."""
    wording: Literal["current", "original", "both"] = "both"
    engine: Literal["native", "textworld"] = "native"
    """Which of our engines is compared."""
    train: int = 300
    """Number of training games, drawn at random; the evaluation games are all played."""
    games: int | None = None
    """At most so many games of each wording, drawn at random from the above; None: all."""
    steps: int = 25
    """Length of the random walk that follows the walkthrough."""
    seed: int = 0
    jobs: int = 1
    hurry: bool = False
    """Let TextWorld remember what it parsed and translated; its output is the same."""


@dataclass(frozen=True)
class Job:
    """A game to play, in the wording of its file."""

    game: OfficialGame
    wording: str
    walkthrough: tuple[str, ...]
    """In the current wording; only the files of the current release hold it."""


@dataclass
class Outcome:
    """What the comparison of one game gave."""

    task_id: str
    split: str
    wording: str
    setting: str
    compared: Counter[str] = field(default_factory=Counter)
    """Kind → number of comparisons."""
    verbs: Counter[str] = field(default_factory=Counter)
    """Kind of command → number of commands that were not answered "Nothing happens."; "refused": the others."""
    differences: list[dict[str, Any]] = field(default_factory=list)
    wins: int = 0
    seconds: float = 0.0


def main(args: Args) -> None:
    console = Console(width=110)
    done = {(line["task_id"], line["wording"], line["setting"]) for line in read_log(args.log)}
    jobs = [job for job in chosen(args) if (job.game.task_id, job.wording, setting(args)) not in done]
    console.print(f"{len(jobs)} games to compare, {len(done)} in {args.log} already")
    with args.log.open("a", encoding="utf-8") as log:
        if log.tell():
            log.write("\n")  # the last line may have been cut
        for number, outcome in enumerate(outcomes(args, jobs), 1):
            log.write(json.dumps(vars(outcome)) + "\n")
            log.flush()
            if outcome.differences or number % 50 == 0:
                console.print(f"{number}/{len(jobs)} {outcome.wording} {outcome.task_id}: {outcome.differences}")
    show(console, read_log(args.log))


def setting(args: Args) -> str:
    return f"{args.engine}, {args.steps} steps, seed {args.seed}{', hurried' if args.hurry else ''}"


def read_log(log: Path) -> list[dict[str, Any]]:
    """The lines that were written to their end."""
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.is_file() else []
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")]


def chosen(args: Args) -> list[Job]:
    """The games to play, the two wordings taking turns."""
    splits = {game.task_id: game.split for game in official_games(args.data / RELEASES["current"])}
    dice = random.Random(args.seed)
    train = dice.sample(sorted(task for task, split in splits.items() if split == "train"), args.train)
    tasks = [*sorted(task for task, split in splits.items() if split in ("valid_seen", "valid_unseen")), *train]
    if args.games is not None:
        tasks = dice.sample(tasks, min(args.games, len(tasks)))
    held = {
        name: {game.task_id: game for game in official_games(args.data / release, tasks)}
        for name, release in RELEASES.items()
    }
    walkthroughs = {task: tuple(game.data()["walkthrough"]) for task, game in held["current"].items()}
    names = list(RELEASES) if args.wording == "both" else [args.wording]
    return [Job(held[name][task], name, walkthroughs[task]) for task in tasks for name in names]


def outcomes(args: Args, jobs: list[Job]) -> Iterator[Outcome]:
    if args.jobs == 1:
        yield from compared(args, jobs)
        return
    shares = [jobs[number : number + SHARE] for number in range(0, len(jobs), SHARE)]
    with ProcessPoolExecutor(args.jobs) as pool:
        for share in pool.map(_compared_list, itertools.repeat(args), shares):
            yield from share


def _compared_list(args: Args, jobs: list[Job]) -> list[Outcome]:
    return list(compared(args, jobs))


def compared(args: Args, jobs: Iterable[Job]) -> Iterator[Outcome]:
    """Each game in turn, in one TextWorld."""
    with hurried() if args.hurry else contextlib.nullcontext():
        reference, engine = ReferenceWorld(), make_engine(args.engine)
        for job in jobs:
            outcome = Outcome(job.game.task_id, job.game.split, job.wording, setting(args))
            started = time.perf_counter()
            dice = random.Random(f"{args.seed} {job.wording} {job.game.task_id}")
            Comparison(reference, engine, WORDINGS[job.wording], outcome).play(job, args.steps, dice)
            outcome.seconds = round(time.perf_counter() - started, 2)
            yield outcome


class Comparison:
    """One game played in two engines at once."""

    def __init__(self, reference: ReferenceWorld, engine: Engine, wording: Wording, outcome: Outcome) -> None:
        self.reference, self.engine, self.wording, self.outcome = reference, engine, wording, outcome

    def play(self, job: Job, steps: int, dice: random.Random) -> None:
        game = job.game.game()
        said = self.reference.begin(job.game)
        self._check("introduction", "", said, self.engine.begin(game, game.goal, self.wording))
        for command in (reworded(command, self.wording) for command in job.walkthrough):
            if dice.random() < MALFORMED:
                said = self.step(malformed(command, dice))
            said = self.step(command)
        for _ in range(steps):
            command = weighted_choice(said.admissible, dice)
            said = self.step(malformed(command, dice) if dice.random() < MALFORMED else command)

    def step(self, command: str) -> Said:
        said = self.reference.respond(command)
        self.outcome.verbs["refused" if said.text == "Nothing happens." else command.split()[0]] += 1
        self.outcome.wins += said.won
        self._check("observation", command, said, self.engine.respond(command))
        return said

    def _check(self, kind: str, command: str, said: Said, reply: Any) -> None:
        pairs = {
            kind: (said.text, reply.text),
            "admissible": (said.admissible, reply.admissible),
            "won": (said.won, reply.won),
            "score": (said.score, int(reply.won)),
            "over": (said.done, reply.won),
        }
        for name, (theirs, mine) in pairs.items():
            self.outcome.compared[name] += 1
            if theirs != mine:
                self.outcome.differences.append({"kind": name, "command": command, "original": theirs, "ours": mine})


WEIGHTS = {
    **{"go": 4.0, "take": 3.0, "put": 1.5, "move": 1.5, "open": 3.0, "close": 1.0, "examine": 2.0},
    **{"look": 0.7, "inventory": 0.3, "help": 0.2},
}
"""Of a kind of command; of those that are not here 6, for they are seldom possible."""
APPLIANCES = ("microwave", "fridge", "sinkbasin", "bathtubbasin", "desklamp", "countertop", "sidetable")


def weighted_choice(commands: list[str], dice: random.Random) -> str:
    """A kind of command, the rare ones first, then one of the kind; appliances are gone to more often."""
    by_verb: dict[str, list[str]] = {}
    for command in commands:
        by_verb.setdefault(command.split()[0], []).append(command)
    verbs = sorted(by_verb)
    [verb] = dice.choices(verbs, [WEIGHTS.get(verb, 6.0) for verb in verbs])
    wanted = [command for command in by_verb[verb] if command.split()[-2:][0] in APPLIANCES]
    return dice.choice(wanted if wanted and dice.random() < 0.4 else by_verb[verb])


DISTORTIONS: tuple[Callable[[str], str], ...] = (
    str.upper,
    str.title,
    lambda command: "",
    lambda command: " \t\n",
    lambda command: f"  {command}\n",  # accepted
    lambda command: f"\u00a0{command}\u2003",  # accepted: these are blanks too
    lambda command: command.replace(" ", "  ", 1) if " " in command else f"{command} now",
    lambda command: command.replace(" ", "\u00a0"),
    lambda command: f"{command}.",
    lambda command: f"{command}\x00",
    lambda command: f"\ufeff{command}",
    lambda command: command.replace("e", "é"),
    lambda command: command.translate({letter: letter + 0xFEE0 for letter in range(33, 127)}),  # full width
    lambda command: f"{command} the",
    lambda command: " the ".join(command.split(" ", 1)),
    lambda command: command.rstrip("0123456789") + "99",
    lambda command: command.rpartition(" ")[0],
    lambda command: f"{command}; look",
    lambda command: f"{command}\nlook",
    lambda command: "i",
    lambda command: "l",
    lambda command: "help",  # accepted in the current wording
    lambda command: "put apple 1 in/on countertop 1",
    lambda command: "move apple 1 to countertop 1",
    lambda command: "{r.name} [{o.name | holds(a:agent, o:object)}] #intro#",
    lambda command: command * 5_000,
)


def malformed(command: str, dice: random.Random) -> str:
    return dice.choice(DISTORTIONS)(command)


def show(console: Console, lines: list[dict[str, Any]]) -> None:
    """Equal and different, by setting, wording and kind; then every difference."""
    for key in sorted({(line["setting"], line["wording"]) for line in lines}):
        of_key = [line for line in lines if (line["setting"], line["wording"]) == key]
        compared = sum((Counter(line["compared"]) for line in of_key), Counter[str]())
        different = Counter(one["kind"] for line in of_key for one in line["differences"])
        splits = Counter(line["split"] for line in of_key)
        games = ", ".join(f"{count} {split}" for split, count in sorted(splits.items()))
        console.print(f"[b]{key[1]} wording[/b]: {games} ({key[0]})")
        table = Table()
        for column in ("compared", "equal", "different"):
            table.add_column(column, justify="left" if column == "compared" else "right")
        for kind in KINDS:
            table.add_row(kind, f"{compared[kind] - different[kind]:,}", f"{different[kind]:,}")
        console.print(table)
        verbs = sum((Counter(line["verbs"]) for line in of_key), Counter[str]())
        console.print("Commands: " + ", ".join(f"{verb} {count:,}" for verb, count in verbs.most_common()))
        seconds, wins = sum(line["seconds"] for line in of_key), sum(line["wins"] for line in of_key)
        console.print(f"Steps at which it was won: {wins:,}; {seconds / len(of_key):.1f} s a game\n")
    for line in lines:
        for one in line["differences"]:
            console.print(line["wording"], line["task_id"], json.dumps(one, ensure_ascii=False))


if __name__ == "__main__":
    main(tyro.cli(Args))
