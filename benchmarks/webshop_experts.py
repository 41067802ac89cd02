"""Experts and baselines of WebShop in one table, on products that none of them was trained on.

    python benchmarks/webshop_experts.py --data webshop-data --out runs/experts

Worlds: `embedded` (the test panel of the invented catalogue), and of the official 1,000 products `official` (synthetic
goals of the products held out), `reworded` (goals of the same products in people's words, by the templates held out)
and `human` (all 13). Every policy plays the same tasks in the same order. Rates have Wilson's interval, and beside it
the one that takes the goals of a product together; differences are paired and take products together. Goals that the
rules keep from a reward of 1 are counted apart. With `--out` a run that was interrupted goes on where it was, and the
tables are in `table.md` and `table.json` there.

The floor has a name in every table: `rule`, `first-hit` and `lexical` have learned nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import orjson
import tyro
from rich.console import Console

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import DATA_VARIABLE, write_atomically
from llm_gym.errors import InvalidSetting, LLMGymError, MissingData, MissingDependency, UnknownName
from llm_gym.evaluation.comparison import Comparison
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.tables import Table
from llm_gym.policies.base import Policy
from llm_gym.policies.imitation.il import ILPolicy
from llm_gym.policies.matching.policy import MatchPolicy
from llm_gym.policies.oracle import OraclePolicy
from llm_gym.registry import policies as registered

Settings = dict[str, Any]

OFFICIAL = "official products"
WORLDS: Mapping[str, Settings] = {
    "embedded": {"split": "test"},
    "official": {"catalogue": OFFICIAL, "goals": "synthetic", "split": "heldout_products"},
    "reworded": {"catalogue": OFFICIAL, "goals": "reworded_heldout", "split": "heldout_products"},
    "human": {"catalogue": OFFICIAL, "goals": "human", "split": "all"},
}
PAIRS = (("match", "first-hit"), ("match", "lexical"), ("match", "il"), ("il", "lexical"), ("il", "il-text"))
"""Differences that are told: first minus second."""
ABSENT = (MissingData, MissingDependency, UnknownName)
"""Why a policy is left out: its weights are not here, a package is missing, or there is none of this name."""


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    data: Path | None = None
    """Folder of the official 1,000 products; by default the one below LLM_GYM_DATA. Without it: the embedded world."""
    worlds: tuple[str, ...] = tuple(WORLDS)
    """Some of embedded, official, reworded, human."""
    policies: tuple[str, ...] = (
        "random",
        "rule",
        "first-hit",
        "lexical",
        "il",
        "il-text",
        "match",
        "oracle-50",
        "oracle",
    )
    """Rows, in this order. il-text is il without pictures; oracle-50 chooses among 50 results of the instruction."""
    folder_il: dict[str, Path] = field(default_factory=dict)
    """World → folder of a trained `il`, where the shipped one is not meant."""
    folder_match: dict[str, Path] = field(default_factory=dict)
    """World → folder of a trained `match`, where the shipped one is not meant."""
    n: int | None = None
    """The first so many tasks of every world; all of them by default."""
    jobs: int = 1
    """Processes."""
    out: Path | None = None
    """Where runs and tables are written."""


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


def made(name: str, world: str, args: Args) -> Policy:
    """A policy by its name in the table.

    Raises:
        UnknownName: there is no such policy.
    """
    match name:
        case "il" | "il-text":
            return _il(args.folder_il.get(world), text=name == "il-text")
        case "match":
            return MatchPolicy(args.folder_match.get(world))
        case "oracle-50":
            return OraclePolicy(queries="instruction", top=50)
    policy: type[Policy] = registered.load(name)
    return policy()


def _il(folder: Path | None, *, text: bool) -> Policy:
    image = False if text else None
    if folder is None:
        return ILPolicy(image=image)
    choice, search = folder / "choice_text", folder / "search"
    return ILPolicy(
        choice=choice if text and choice.is_dir() else folder / "choice",
        search=search if search.is_dir() else "instruction",
        image=image,
    )


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


def played(world: str, args: Args, say: Callable[[str], None]) -> Played:
    """All policies in one world; those that are not here are told and left out."""
    env = opened(world, official_folder(args))
    shop: Any = env.unwrapped
    n = None if args.n is None else min(args.n, len(shop.panel))
    results: dict[str, Evaluation] = {}
    for name in args.policies:
        out = args.out / world / name if args.out else None
        try:
            results[name] = made(name, world, args).evaluate(env, n, jobs=args.jobs, out=out)
        except ABSENT as reason:
            say(f"{world}: {name} is left out: {reason}")
        else:
            say(f"{world}: {name} {results[name].success!r}")
    tasks = {row["task_id"] for result in results.values() for row in result.rows}
    return Played(world, results, frozenset(task for task in tasks if shop.reachable(task)))


def official_folder(args: Args) -> Path | None:
    """The one that was given, or the one below LLM_GYM_DATA if it is there."""
    if args.data is not None:
        return args.data
    below = Path(os.environ[DATA_VARIABLE]) / "webshop" if os.environ.get(DATA_VARIABLE) else None
    return below if below is not None and below.is_dir() else None


# -- telling -------------------------------------------------------------------------------------------------------


def differences(world: Played) -> Iterator[Comparison]:
    """Of the pairs that were both played, products taken together."""
    for first, second in PAIRS:
        if first in world.results and second in world.results:
            yield world.results[first].compare(world.results[second], clustered=True)


def markdown(world: Played) -> str:
    """A heading and one row a policy, then one row a difference."""
    some = next(iter(world.results.values()))
    clusters = some.clustered().clusters
    counts = f"{some.n:,} goals of {clusters:,} products"
    unmet = some.n - len(world.reachable)
    rows = tuple(_row(name, result, world.reachable) for name, result in world.results.items())
    columns = ("policy", "points", "by product", "success", "Wilson", "by product", "n")
    parts = [f"### {world.name}: {counts}", Table(columns + (_MET if unmet else ()), rows).markdown()]
    if unmet:
        parts.insert(1, f"{unmet} of them cannot earn a reward of 1: the last two columns leave these out.")
    if pairs := tuple(_difference_row(one) for one in differences(world)):
        head = ("difference", "points", "by product", "success", "by product", "p")
        parts.append(Table(head, pairs).markdown())
    return "\n\n".join(parts) + "\n"


_MET = ("success where it can be had", "by product")


def _row(name: str, result: Evaluation, reachable: frozenset[str]) -> tuple[str, ...]:
    together = result.clustered()
    cells = (
        name,
        f"{result.score:.1f}",
        _bounds(together.score, 1.0),
        _percent(result.success),
        _bounds(result.success),
        _bounds(together.success),
        str(result.success.n),
    )
    if result.n == len(reachable):
        return cells
    met = together.subset(reachable)
    return (*cells, _percent(met.success), _bounds(met.success))


def _difference_row(one: Comparison) -> tuple[str, ...]:
    return (
        f"{one.first} − {one.second}",
        f"{one.score:+.1f}",
        _bounds(one.score, 1.0),
        f"{100 * one.success:+.1f} %",
        _bounds(one.success),
        f"{one.success_p:.4f}",
    )


def _percent(rate: Estimate) -> str:
    return f"{100 * rate:.1f} %"


def _bounds(estimate: Estimate, scale: float = 100.0) -> str:
    return f"{scale * estimate.low:.1f} to {scale * estimate.high:.1f}"


def as_json(world: Played) -> dict[str, Any]:
    """Every number of the tables, with its bounds; rates in [0, 1]."""
    rows = {}
    for name, result in world.results.items():
        together, met = result.clustered(), result.clustered().subset(world.reachable)
        rows[name] = {
            "fingerprint": result.plan.fingerprint,
            "score": result.score.to_dict(),
            "score_by_product": together.score.to_dict(),
            "success": result.success.to_dict(),
            "success_by_product": together.success.to_dict(),
            "success_where_it_can_be_had": met.success.to_dict(),
            "seconds": result.seconds.to_dict(),
        }
    some = next(iter(world.results.values()))
    return {
        "description": dict(some.plan.description),
        "goals": some.n,
        "products": some.clustered().clusters,
        "reachable": len(world.reachable),
        "policies": rows,
        "differences": [one.to_dict() for one in differences(world)],
    }


def main(args: Args) -> list[Played]:
    """Play, print, and write the tables."""
    console = Console(stderr=True, highlight=False)
    unknown = [name for name in args.worlds if name not in WORLDS]
    if unknown:
        raise UnknownName("world", unknown[0], WORLDS)
    worlds: list[Played] = []
    for name in args.worlds:
        try:
            worlds.append(played(name, args, console.print))
        except MissingData as reason:
            console.print(f"{name} is left out: {reason}")
    worlds = [world for world in worlds if world.results]
    if not worlds:
        raise InvalidSetting("Nothing was played: no world and policy of those that were named is here.")
    write(worlds, args.out)
    return worlds


def write(worlds: Sequence[Played], out: Path | None) -> None:
    text = "\n".join(map(markdown, worlds))
    print(text)
    if out is not None:
        write_atomically(out / "table.md", text.encode())
        content = {world.name: as_json(world) for world in worlds}
        write_atomically(
            out / "table.json", orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )


if __name__ == "__main__":
    try:
        main(tyro.cli(Args))
    except LLMGymError as error:
        raise SystemExit(f"error: {error}") from None
