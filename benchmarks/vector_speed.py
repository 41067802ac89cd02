"""Environment steps per second: a plain loop, Gymnasium's vector environments in one process, and in processes.

    python benchmarks/vector_speed.py [--catalogue DIR] [--games STORE] [--numbers 1 8 64]

Random possible actions, resets included, in WebShop and ALFWorld. The three take turns in blocks of steps; shown are
steps per second of wall-clock time over all blocks, and the medians of the blocks' ratios, which hold on any machine as
long as nothing else runs. The third ratio is that of CPU time of a vector in one process and the loop: more than that
could not be gained by any stepper of our own that calls the same environments.
"""

from __future__ import annotations

import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import tyro
from gymnasium.vector import AutoresetMode, VectorEnv
from rich.console import Console
from rich.table import Table

import llm_gym  # noqa: F401 - registers the environments

LOOP, SYNC, ASYNC = "loop", "sync", "async"
Step = Callable[[], None]


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    catalogue: str = "embedded"
    """Of WebShop: "embedded", a catalogue, or a folder of official files."""
    games: str = "embedded"
    """Of ALFWorld: "embedded", "official", a store, or an archive of official games."""
    numbers: tuple[int, ...] = (1, 8, 64)
    """Of environments."""
    steps: int = 640
    """Of all environments together, in a block."""
    blocks: int = 9


@dataclass(frozen=True)
class Timing:
    """Seconds of each block, in the same order for every way of stepping."""

    wall: dict[str, list[float]]
    cpu: dict[str, list[float]]
    """Of this process alone."""

    def rate(self, way: str, steps: int) -> float:
        """Steps per second of wall-clock time."""
        return steps * len(self.wall[way]) / sum(self.wall[way])

    def faster(self, way: str) -> float:
        """How many times faster than the loop, by wall-clock time."""
        return median_ratio(self.wall[LOOP], self.wall[way])

    def dearer(self, way: str) -> float:
        """How many times the loop's CPU time."""
        return median_ratio(self.cpu[way], self.cpu[LOOP])


def main(args: Args) -> None:
    console = Console(width=110)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    table = Table(title="Environment steps per second", title_justify="left")
    for column in ("environment", "number", LOOP, SYNC, ASYNC, "sync / loop", "async / loop", "CPU of sync / loop"):
        table.add_column(column, justify="left" if column == "environment" else "right")
    worlds = {"llm_gym/WebShop-v1": {"catalogue": args.catalogue}, "llm_gym/ALFWorld-v1": {"games": args.games}}
    for name, settings in worlds.items():
        for number in args.numbers:
            timing = race(name, settings, number, args.steps // number, args.blocks)
            steps = args.steps // number * number
            rates = (f"{timing.rate(way, steps):,.0f}" for way in (LOOP, SYNC, ASYNC))
            ratios = (f"{ratio:.2f}" for ratio in (timing.faster(SYNC), timing.faster(ASYNC), timing.dearer(SYNC)))
            table.add_row(name, str(number), *rates, *ratios)
    console.print(table)


def race(name: str, settings: dict[str, Any], number: int, rounds: int, blocks: int) -> Timing:
    """Blocks of rounds, in each of which every environment makes a step."""
    with ExitStack() as stack:
        ways = {
            LOOP: looped([stack.enter_context(gym.make(name, **settings)) for _ in range(number)]),
            SYNC: vectorised(_entered(stack, _together(name, settings, number))),
            ASYNC: vectorised(_entered(stack, _processes(name, settings, number))),
        }
        timing = Timing({way: [] for way in ways}, {way: [] for way in ways})
        for _ in range(blocks):
            for way, step in ways.items():
                wall, cpu = time.perf_counter(), time.process_time()
                for _ in range(rounds):
                    step()
                timing.wall[way].append(time.perf_counter() - wall)
                timing.cpu[way].append(time.process_time() - cpu)
    return timing


def looped(envs: Sequence[gym.Env[str, str]]) -> Step:
    """A step of every environment, with a reset at once where an episode ends."""
    rng = random.Random(0)
    infos = [env.reset(seed=seed)[1] for seed, env in enumerate(envs)]

    def step() -> None:
        for at, env in enumerate(envs):
            _, _, terminated, truncated, infos[at] = env.step(some_action(infos[at]["admissible_actions"], rng))
            if terminated or truncated:
                infos[at] = env.reset()[1]

    return step


def vectorised(envs: VectorEnv[Any, Any]) -> Step:
    """The same of a vector."""
    rng = random.Random(0)
    _, infos = envs.reset(seed=0)

    def step() -> None:
        nonlocal infos
        infos = envs.step(tuple(some_action(possible, rng) for possible in infos["admissible_actions"]))[4]

    return step


def some_action(possible: Sequence[str], rng: random.Random) -> str:
    """Any of them; where all words may be searched, two."""
    return rng.choice(possible) if possible else "search[red shoes]"


def median_ratio(above: Iterable[float], below: Iterable[float]) -> float:
    """Of pairs."""
    return statistics.median(one / other for one, other in zip(above, below, strict=True))


def _together(name: str, settings: dict[str, Any], number: int) -> VectorEnv[Any, Any]:
    kwargs = {"autoreset_mode": AutoresetMode.SAME_STEP}
    return gym.make_vec(name, number, vectorization_mode="sync", vector_kwargs=kwargs, **settings)


def _processes(name: str, settings: dict[str, Any], number: int) -> VectorEnv[Any, Any]:
    kwargs = {"shared_memory": False, "autoreset_mode": AutoresetMode.SAME_STEP}
    return gym.make_vec(name, number, vectorization_mode="async", vector_kwargs=kwargs, **settings)


def _entered(stack: ExitStack, envs: VectorEnv[Any, Any]) -> VectorEnv[Any, Any]:
    stack.callback(envs.close)
    return envs


if __name__ == "__main__":
    main(tyro.cli(Args))
