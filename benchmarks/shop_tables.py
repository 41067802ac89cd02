"""What the tables of WebShop's policies share: the worlds, playing in them, and how numbers are told."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import orjson

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import DATA_VARIABLE, write_atomically
from llm_gym.errors import InvalidSetting, MissingData, MissingDependency, UnknownName
from llm_gym.evaluation.comparison import Comparison
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.policies.base import Policy
from llm_gym.policies.imitation.il import ILPolicy

Settings = dict[str, Any]
Say = Callable[[str], None]

OFFICIAL = "official products"
WORLDS: Mapping[str, Settings] = {
    "embedded": {"split": "test"},
    "official": {"catalogue": OFFICIAL, "goals": "synthetic", "split": "heldout_products"},
    "reworded": {"catalogue": OFFICIAL, "goals": "reworded_heldout", "split": "heldout_products"},
    "human": {"catalogue": OFFICIAL, "goals": "human", "split": "all"},
}
ABSENT = (MissingData, MissingDependency, UnknownName)
"""Why a policy is left out: its weights are not here, a package is missing, or there is none of this name."""


@dataclass(frozen=True)
class Played:
    """A world with what the policies did in it.

    Attributes:
        results: policy → its episodes.
        reachable: tasks that can earn a reward of 1.
    """

    name: str
    results: Mapping[str, Evaluation]
    reachable: frozenset[str]


# -- playing -------------------------------------------------------------------------------------------------------


def opened(world: str, data: Path | None) -> gym.Env[str, str]:
    """A world by its name.

    Raises:
        UnknownName: there is no such world. MissingData: it needs the official products.
    """
    if world not in WORLDS:
        raise UnknownName("world", world, WORLDS)
    settings = dict(WORLDS[world])
    if settings.get("catalogue") == OFFICIAL:
        if data is None:
            raise MissingData(f"the official products are not here: give --data, or set {DATA_VARIABLE}.")
        settings["catalogue"] = str(data)
    return gym.make("llm_gym/WebShop-v1", **settings)


def official_folder(data: Path | None) -> Path | None:
    """The one that was given, or the one below LLM_GYM_DATA if it is there."""
    if data is not None:
        return data
    below = Path(os.environ[DATA_VARIABLE]) / "webshop" if os.environ.get(DATA_VARIABLE) else None
    return below if below is not None and below.is_dir() else None


def all_played(
    world: str,
    env: gym.Env[str, str],
    makers: Mapping[str, Callable[[], tuple[Policy, gym.Env[str, str]]]],
    *,
    n: int | None,
    jobs: int,
    out: Path | None,
    say: Say,
) -> Played:
    """All policies in one world; those that are not here are told and left out.

    Args:
        world: its name.
        env: it.
        makers: row → the policy, and the world as this policy sees it.
        n: the first so many tasks; None: all.
        jobs: processes.
        out: folder of the runs, one a row, which are resumed.
        say: told after each row.
    """
    shop: Any = env.unwrapped
    n = None if n is None else min(n, len(shop.panel))
    results: dict[str, Evaluation] = {}
    for name, make in makers.items():
        try:
            policy, seen = make()
            results[name] = policy.evaluate(seen, n, jobs=jobs, out=out / world / name if out else None)
        except ABSENT as reason:
            say(f"{world}: {name} is left out: {reason}")
        else:
            say(f"{world}: {name} {results[name].success!r}")
    tasks = {row["task_id"] for result in results.values() for row in result.rows}
    return Played(world, results, frozenset(task for task in tasks if shop.reachable(task)))


def every_world(names: Sequence[str], play: Callable[[str], Played], say: Say) -> list[Played]:
    """The worlds in which something was played; one whose files are not here is told and left out.

    Raises:
        UnknownName: there is no world of such a name. InvalidSetting: nothing was played.
    """
    if unknown := [name for name in names if name not in WORLDS]:
        raise UnknownName("world", unknown[0], WORLDS)
    worlds: list[Played] = []
    for name in names:
        try:
            worlds.append(play(name))
        except MissingData as reason:
            say(f"{name} is left out: {reason}")
    worlds = [world for world in worlds if world.results]
    if not worlds:
        raise InvalidSetting("Nothing was played: no world and policy of those that were named is here.")
    return worlds


def imitation(folder: Path | None, *, text: bool = False) -> ILPolicy:
    """The imitation expert of a folder with `choice`, and perhaps `choice_text` and `search`; None: the shipped one."""
    image = False if text else None
    if folder is None:
        return ILPolicy(image=image)
    choice, search = folder / "choice_text", folder / "search"
    return ILPolicy(
        choice=choice if text and choice.is_dir() else folder / "choice",
        search=search if search.is_dir() else "instruction",
        image=image,
    )


# -- telling -------------------------------------------------------------------------------------------------------


def heading(world: Played) -> str:
    some = next(iter(world.results.values()))
    return f"### {world.name}: {some.n:,} goals of {some.clustered().clusters:,} products"


DIFFERENCE = ("difference", "points", "by product", "success", "by product", "p")


def difference_row(label: str, one: Comparison) -> tuple[str, ...]:
    return (
        label,
        f"{one.score:+.1f}",
        bounds(one.score, 1.0),
        f"{100 * one.success:+.1f} %",
        bounds(one.success),
        f"{one.success_p:.4f}",
    )


def percent(rate: Estimate) -> str:
    return f"{100 * rate:.1f} %"


def bounds(estimate: Estimate, scale: float = 100.0) -> str:
    return f"{scale * estimate.low:.1f} to {scale * estimate.high:.1f}"


def write_tables(parts: Sequence[str], content: Mapping[str, Any], out: Path | None) -> None:
    """Print the tables; with `out` they are in `table.md` and `table.json` there as well."""
    text = "\n".join(parts)
    print(text)
    if out is not None:
        write_atomically(out / "table.md", text.encode())
        told = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        write_atomically(out / "table.json", told)
