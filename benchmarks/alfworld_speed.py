"""Speed of ALFWorld against TextWorld, in one run over the same games and commands.

    python benchmarks/alfworld_speed.py [--data ARCHIVE] [--games 60] [--seed 0] [--json FILE]

Both play a random walk and the walkthrough of each game, taking turns, and must say the same. Prints CPU time per
command as ratios (TextWorld over ours), that of loading and resetting a game, and what our environment does by itself:
memory of many of them and of many resets, steps per second alone, vectorised and in threads. Run it when nothing else
runs: ratios hold on any machine, absolute times do not. Needs the extra `alfworld`.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path

import gymnasium as gym
import tyro
from reference_alfworld import OfficialGame, ReferenceWorld, Said, official_games
from rich.console import Console
from rich.table import Table

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.alfworld.wording import NOTHING_HAPPENS
from llm_gym.envs.base import panel_of

ENVIRONMENT = "llm_gym/ALFWorld-v1"
RELEASE = "games_v2.1.3_tw-pddl.tar.xz"
MIB = 1024**2
WALK = 25
"""Commands of a random walk."""
MALFORMED = 0.05
"""Share of a random walk's commands that are none."""
TOGETHER, RESETS, VECTOR, THREADS, RATED_STEPS = 32, 1_000, 64, 4, 19_200

Env = gym.Env[str, str]
Choose = Callable[[list[str]], str | None]
"""The next command, from those that are possible; None ends the episode."""
Times = dict[str, list[tuple[int, int]]]
"""Kind of command → nanoseconds of CPU (ours, TextWorld's) of each time it was given."""


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    data: Path | None = None
    """Archive of the official games, or the folder that holds it; by default the one below LLM_GYM_DATA."""
    games: int = 60
    """Number of games: the first of the panel valid_unseen."""
    seed: int = 0
    """Of the random walks."""
    json: Path | None = None
    """File that the numbers are written to."""


def main(args: Args) -> None:
    console = Console(width=110)
    release = release_of(args)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    console.print(f"{machine}, textworld {version('textworld')}, alfworld {version('alfworld')}")
    env = gym.make(ENVIRONMENT, games=str(release))
    tasks, spare = list(panel_of(env)[:-1][: args.games]), panel_of(env)[-1]
    console.print(f"{release.name}: the first {len(tasks)} games of {panel_of(env)}\n", soft_wrap=True)
    steps, loads = race(env, release, tasks, spare, args.seed)
    console.print(ratio_table("CPU time of one command, with the commands that are possible after it", steps))
    console.print(ratio_table("CPU time of loading and resetting a game", loads))
    numbers = {name: by_itself(name, release) for name in MEASUREMENTS}
    for name, measured in numbers.items():
        console.print(f"{name}: " + ", ".join(f"{value:,g} {unit}" for unit, value in measured.items()))
    if args.json:
        found = {
            "machine": machine,
            "games": len(tasks),
            "steps": summaries(steps),
            "loads": summaries(loads),
            **numbers,
        }
        args.json.write_text(json.dumps(found, indent=2) + "\n")


def release_of(args: Args) -> Path:
    """The archive of the official games."""
    given = args.data or Path(os.environ.get(DATA_VARIABLE, ".")) / "alfworld"
    release = given / RELEASE if given.is_dir() else given
    if not release.is_file():
        sys.exit(f"There is no {release}. Name the archive of the official games with --data.")
    return release


# -- against TextWorld ---------------------------------------------------------------------------------------------


def race(env: Env, release: Path, tasks: list[str], spare: str, seed: int) -> tuple[Times, Times]:
    """The times of commands, and of loading and resetting."""
    reference = ReferenceWorld()
    games = {game.task_id: game for game in official_games(release, {*tasks, spare})}
    list(duel(env, reference, games[spare], seed))  # imports
    steps: Times = defaultdict(list)
    loads: Times = {"first time": [], "again": []}
    gc.disable()
    for number, task in enumerate(tasks):
        gc.collect()  # TextWorld's parsers leave cycles; nobody is charged for them while the clock runs
        walk, walkthrough = duel(env, reference, games[task], seed + number)
        for pairs, (begun, *rest) in zip(loads.values(), (walk, walkthrough), strict=True):
            pairs.append(begun[1])
            for kind, pair in rest:
                steps[kind].append(pair)
    gc.enable()
    steps = dict(sorted(steps.items()))
    return steps | {"all steps": [pair for pairs in steps.values() for pair in pairs]}, loads


def duel(
    env: Env, reference: ReferenceWorld, game: OfficialGame, seed: int
) -> Iterator[list[tuple[str, tuple[int, int]]]]:
    """A random walk, then the walkthrough: each played by us and after that by TextWorld, which must say the same."""
    walkthrough = iter(game.data()["walkthrough"])
    for choose in (walker(random.Random(seed)), lambda _: next(walkthrough, None)):
        both = []
        for done in episode(env, game.task_id, choose):
            start = time.thread_time_ns()
            said = reference.begin(game) if done.command is None else reference.respond(done.command)
            pair = (done.nanoseconds, time.thread_time_ns() - start)
            assert said == done.said, (game.task_id, done, said)
            both.append((done.kind, pair))
        yield both


def walker(rng: random.Random) -> Choose:
    """Commands that prefer rare verbs; some are none."""
    left = iter(range(WALK))

    def choose(possible: list[str]) -> str | None:
        if next(left, None) is None:
            return None
        if rng.random() < MALFORMED:
            return "go somewhere"
        verb = rng.choice(sorted({command.split()[0] for command in possible}))
        return rng.choice([command for command in possible if command.split()[0] == verb])

    return choose


@dataclass(frozen=True)
class Done:
    """One command given to our environment, what it said, and the CPU time it took; no command: a reset."""

    command: str | None
    said: Said
    nanoseconds: int

    @property
    def kind(self) -> str:
        return "refused" if self.said.text == NOTHING_HAPPENS else (self.command or "reset").split()[0]


def episode(env: Env, task: str, choose: Choose) -> list[Done]:
    """One episode of ours."""
    start = time.thread_time_ns()
    text, info = env.reset(options={"task": task})
    taken = time.thread_time_ns() - start
    played = [Done(None, Said(text, info["admissible_actions"], info["won"], 0, False), taken)]
    while not info["won"] and (command := choose(info["admissible_actions"])) is not None:
        start = time.thread_time_ns()
        text, reward, terminated, _, info = env.step(command)
        taken = time.thread_time_ns() - start
        said = Said(text, info["admissible_actions"], info["won"], int(float(reward)), terminated)
        played.append(Done(command, said, taken))
    return played


def summary(pairs: list[tuple[int, int]]) -> dict[str, float]:
    """What a table shows of some times."""
    ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
    ratios = [their / our for our, their in pairs]
    return {
        "n": len(pairs),
        "ours_us": statistics.median(ours) / 1e3,
        "textworld_ms": statistics.median(theirs) / 1e6,
        "ratio_min": min(ratios),
        "ratio_of_medians": statistics.median(theirs) / statistics.median(ours),
        "ratio_max": max(ratios),
        "ratio_of_sums": sum(theirs) / sum(ours),
    }


def summaries(times: Times) -> dict[str, dict[str, float]]:
    return {kind: summary(pairs) for kind, pairs in times.items()}


def ratio_table(title: str, times: Times) -> Table:
    table = Table(title=title, title_justify="left")
    columns = ("", "n", "ours, µs (median)", "TextWorld, ms", "ratio: min", "of medians", "max", "of sums")
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    for kind, found in summaries(times).items():
        ratios = [f"{value:,.0f}×" for name, value in found.items() if name.startswith("ratio")]
        table.add_row(kind, f"{found['n']:,}", f"{found['ours_us']:.1f}", f"{found['textworld_ms']:.1f}", *ratios)
    return table


# -- by itself -----------------------------------------------------------------------------------------------------


def memory(release: Path) -> dict[str, float]:
    """Of many environments that play different games in one process, with what they share."""
    importlib.import_module("llm_gym.envs.alfworld.env")
    before = resident()
    envs = [gym.make(ENVIRONMENT, games=str(release)) for _ in range(TOGETHER)]
    for number, env in enumerate(envs):
        episode(env, panel_of(env)[number], walker(random.Random(number)))
    return {"environments": TOGETHER, "MB more": (resident() - before) / MIB}


def resets(release: Path) -> dict[str, float]:
    """How much memory many resets leave behind."""
    env = gym.make(ENVIRONMENT, games=str(release), split="train")
    tasks = cycle(panel_of(env))

    def play(count: int) -> int:
        for task in islice(tasks, count):
            episode(env, task, walker(random.Random(count)))
        return resident()

    before = play(RESETS)  # what is kept on purpose has been read then
    return {"resets": RESETS, "MB before": before / MIB, "MB more after": (play(RESETS) - before) / MIB}


def rates(release: Path) -> dict[str, float]:
    """Steps per second of CPU time, by random commands, with the resets between: alone, vectorised, in threads."""
    start = time.process_time()
    wander(release, 0, RATED_STEPS)
    alone = RATED_STEPS / (time.process_time() - start)
    return {
        "steps/s alone": round(alone),
        f"steps/s of {VECTOR} vectorised": round(vectorised(release)),
        f"steps/s of {THREADS} threads": round(threaded(release)),
    }


def wander(release: Path, seed: int, steps: int) -> str:
    """A digest of everything that an environment says to random commands."""
    env, rng, sha = gym.make(ENVIRONMENT, games=str(release)), random.Random(seed), hashlib.sha256()
    text, info = env.reset(seed=seed)
    for _ in range(steps):
        text, _, terminated, truncated, info = env.step(rng.choice(info["admissible_actions"]))
        if terminated or truncated:
            text, info = env.reset()
        sha.update(text.encode())
    return sha.hexdigest()


def vectorised(release: Path) -> float:
    envs = gym.make_vec(ENVIRONMENT, num_envs=VECTOR, vectorization_mode="sync", games=str(release))
    rng = random.Random(0)
    start = time.process_time()
    _, infos = envs.reset(seed=0)
    for _ in range(RATED_STEPS // VECTOR):
        actions = tuple(rng.choice(possible) for possible in infos["admissible_actions"])
        _, _, _, _, infos = envs.step(actions)
    return RATED_STEPS / (time.process_time() - start)


def threaded(release: Path) -> float:
    """Threads that play in environments of their own, and must see what they see one after the other."""
    each = RATED_STEPS // THREADS
    expected = [wander(release, seed, each) for seed in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        start = time.process_time()
        seen = list(pool.map(lambda seed: wander(release, seed, each), range(THREADS)))
        taken = time.process_time() - start
    assert seen == expected, "threads disturb each other"
    return RATED_STEPS / taken


MEASUREMENTS = {"memory": memory, "resets": resets, "rates": rates}


def by_itself(name: str, release: Path) -> dict[str, float]:
    """A measurement in a process of its own."""
    command = [sys.executable, __file__, "--measure", name, str(release)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this measurement needs Linux")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        sys.stdout.write(json.dumps(MEASUREMENTS[sys.argv[2]](Path(sys.argv[3]))) + "\n")
    else:
        main(tyro.cli(Args))
