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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import tyro
from rich.console import Console
from shop_tables import (
    DIFFERENCE,
    WORLDS,
    Played,
    all_played,
    bounds,
    difference_row,
    every_world,
    heading,
    imitation,
    official_folder,
    opened,
    percent,
    write_tables,
)

from llm_gym.errors import LLMGymError
from llm_gym.evaluation.comparison import Comparison
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.tables import Table
from llm_gym.policies.base import Policy
from llm_gym.policies.matching.policy import MatchPolicy
from llm_gym.policies.oracle import OraclePolicy
from llm_gym.registry import policies as registered

PAIRS = (("match", "first-hit"), ("match", "lexical"), ("match", "il"), ("il", "lexical"), ("il", "il-text"))
"""Differences that are told: first minus second."""


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


# -- playing -------------------------------------------------------------------------------------------------------


def made(name: str, world: str, args: Args) -> Policy:
    """A policy by its name in the table.

    Raises:
        UnknownName: there is no such policy.
    """
    match name:
        case "il" | "il-text":
            return imitation(args.folder_il.get(world), text=name == "il-text")
        case "match":
            return MatchPolicy(args.folder_match.get(world))
        case "oracle-50":
            return OraclePolicy(queries="instruction", top=50)
    policy: type[Policy] = registered.load(name)
    return policy()


def played(world: str, args: Args, say: Callable[[str], None]) -> Played:
    """All policies in one world; those that are not here are told and left out."""
    env = opened(world, official_folder(args.data))

    def ready(name: str) -> tuple[Policy, gym.Env[str, str]]:
        return made(name, world, args), env

    makers = {name: partial(ready, name) for name in args.policies}
    return all_played(world, env, makers, n=args.n, jobs=args.jobs, out=args.out, say=say)


# -- telling -------------------------------------------------------------------------------------------------------


def differences(world: Played) -> Iterator[Comparison]:
    """Of the pairs that were both played, products taken together."""
    for first, second in PAIRS:
        if first in world.results and second in world.results:
            yield world.results[first].compare(world.results[second], clustered=True)


def markdown(world: Played) -> str:
    """A heading and one row a policy, then one row a difference."""
    some = next(iter(world.results.values()))
    unmet = some.n - len(world.reachable)
    rows = tuple(_row(name, result, world.reachable) for name, result in world.results.items())
    columns = ("policy", "points", "by product", "success", "Wilson", "by product", "n")
    parts = [heading(world), Table(columns + (_MET if unmet else ()), rows).markdown()]
    if unmet:
        parts.insert(1, f"{unmet} of them cannot earn a reward of 1: the last two columns leave these out.")
    if pairs := tuple(difference_row(f"{one.first} − {one.second}", one) for one in differences(world)):
        parts.append(Table(DIFFERENCE, pairs).markdown())
    return "\n\n".join(parts) + "\n"


_MET = ("success where it can be had", "by product")


def _row(name: str, result: Evaluation, reachable: frozenset[str]) -> tuple[str, ...]:
    together = result.clustered()
    cells = (
        name,
        f"{result.score:.1f}",
        bounds(together.score, 1.0),
        percent(result.success),
        bounds(result.success),
        bounds(together.success),
        str(result.success.n),
    )
    if result.n == len(reachable):
        return cells
    met = together.subset(reachable)
    return (*cells, percent(met.success), bounds(met.success))


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
    worlds = every_world(args.worlds, lambda name: played(name, args, console.print), console.print)
    write_tables(list(map(markdown, worlds)), {world.name: as_json(world) for world in worlds}, args.out)
    return worlds


if __name__ == "__main__":
    try:
        main(tyro.cli(Args))
    except LLMGymError as error:
        raise SystemExit(f"error: {error}") from None
