"""What learning by acting is worth in WebShop: imitation, imitation and then reinforcement, reinforcement alone.

    python benchmarks/webshop_rl.py --worlds embedded --n 100
    python benchmarks/webshop_rl.py --data webshop-data --folder-a2c official runs/a2c/model --out runs/rl

Worlds: `embedded` (the test panel of the invented catalogue) and `official` (synthetic goals of the official products
held out). Rows: `il` is the imitation expert, `a2c` the same trained on by acting, `a2c-scratch` the same network
without imitation (a folder of `train/webshop_a2c.py --begin pretrained` or `random`), `rnn` the recurrent baseline.
Every policy plays the same tasks in the same order. Beside score and success stand what an episode consists of, its
actions, searches and different items opened: the paper found that reinforcement makes an agent explore less.

The second table has the paired differences. In the third every policy stands inside `HeedingPolicy`, which takes the
opinion of `match` (`OpinionWrapper`) on four pages of five, as a scripted model does; effects are paired against the
policy alone. All intervals take the goals of a product together. With `--out` a run that was interrupted goes on where
it was, and the tables are in `table.md` and `table.json` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import tyro
from rich.console import Console
from shop_tables import (
    DIFFERENCE,
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

from llm_gym.errors import LLMGymError, MissingData
from llm_gym.evaluation.comparison import Comparison
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.metrics import attempts, mean
from llm_gym.evaluation.records import Row, clusters_of
from llm_gym.evaluation.tables import Table
from llm_gym.policies.base import Policy
from llm_gym.policies.heeding import HeedingPolicy
from llm_gym.policies.matching.policy import MatchPolicy
from llm_gym.policies.reinforcement.policy import A2CPolicy
from llm_gym.policies.reinforcement.rnn_policy import RNNPolicy
from llm_gym.policies.shopper import BACK, PREVIOUS
from llm_gym.registry import policies as registered
from llm_gym.wrappers import OpinionWrapper

RANDOM, IMITATION, REINFORCED = "random", "il", "a2c"
ADVISED = " + match"
"""After the name of a policy that is advised."""
FOLLOW = 0.8
_NEXT = "click[next >]"
_OF_RESULTS = "(Total results: "
"""Stands on a page of results and on no other."""


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    data: Path | None = None
    """Folder of the official 1,000 products; by default the one below LLM_GYM_DATA. Without it: the embedded world."""
    worlds: tuple[str, ...] = ("embedded", "official")
    """Some of embedded, official, reworded, human."""
    policies: tuple[str, ...] = (RANDOM, "rule", IMITATION, REINFORCED, "a2c-scratch", "rnn")
    """Rows, in this order."""
    folder_il: dict[str, Path] = field(default_factory=dict)
    """World → folder of a trained `il`, where the shipped one is not meant."""
    folder_a2c: dict[str, Path] = field(default_factory=dict)
    """World → folder of a trained `a2c`, where the shipped one is not meant."""
    folder_scratch: dict[str, Path] = field(default_factory=dict)
    """World → folder of a network that was not shown what to do; none is shipped."""
    folder_rnn: dict[str, Path] = field(default_factory=dict)
    """World → folder of a trained `rnn`, where the shipped one is not meant."""
    advised: bool = True
    """Whether every policy plays with the opinions of `match` too."""
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
        UnknownName: there is no such policy. MissingData: its network is not here.
    """
    match name:
        case "il":
            return imitation(args.folder_il.get(world))
        case "a2c":
            return A2CPolicy.from_pretrained(args.folder_a2c.get(world, A2CPolicy.shipped))
        case "rnn":
            return RNNPolicy.from_pretrained(args.folder_rnn.get(world, RNNPolicy.shipped))
        case "a2c-scratch":
            if world not in args.folder_scratch:
                raise MissingData(f"no such network is shipped: give --folder-scratch {world} FOLDER.")
            return A2CPolicy.from_pretrained(args.folder_scratch[world])
    policy: type[Policy] = registered.load(name)
    return policy()


def played(world: str, args: Args, say: Callable[[str], None]) -> Played:
    """All policies in one world, each alone and then advised; those that are not here are told and left out."""
    env = opened(world, official_folder(args.data))

    def alone(name: str) -> tuple[Policy, gym.Env[str, str]]:
        return made(name, world, args), env

    def advised(name: str) -> tuple[Policy, gym.Env[str, str]]:
        return HeedingPolicy(made(name, world, args), FOLLOW), OpinionWrapper(env, MatchPolicy())

    makers = {name: partial(alone, name) for name in args.policies}
    if args.advised:
        makers |= {name + ADVISED: partial(advised, name) for name in args.policies}
    return all_played(world, env, makers, n=args.n, jobs=args.jobs, out=args.out, say=say)


# -- counting ------------------------------------------------------------------------------------------------------


def searches(row: Row) -> int:
    """How often an episode searched."""
    return sum(step["action"] is not None and step["action"].startswith("search[") for step in row["trajectory"])


def items(row: Row) -> int:
    """How many different items an episode opened."""
    on_results = [step["action"] for step in row["trajectory"] if _OF_RESULTS in step["observation"]]
    return len({action for action in on_results if _opens(action)})


def _opens(action: str | None) -> bool:
    return action is not None and action.startswith("click[") and action not in (_NEXT, PREVIOUS, BACK)


def mean_of(result: Evaluation, count: Callable[[Row], int]) -> Estimate:
    """The mean of a number of an episode, products taken together."""
    return mean(attempts(result.rows), count, clusters_of(result.rows))


def differences(world: Played) -> Iterator[Comparison]:
    """Of each policy from random, and of what reinforcement made of imitation."""
    own = {name: result for name, result in world.results.items() if not name.endswith(ADVISED)}
    pairs = [(name, RANDOM) for name in own if name != RANDOM] + [(REINFORCED, IMITATION)]
    for first, second in pairs:
        if first in own and second in own:
            yield own[first].compare(own[second], clustered=True)


def effects(world: Played) -> Mapping[str, Comparison]:
    """Policy → what the opinions changed."""
    pairs = {name: world.results.get(name + ADVISED) for name in world.results}
    return {
        name: advised.compare(world.results[name], clustered=True)
        for name, advised in pairs.items()
        if advised is not None
    }


# -- telling -------------------------------------------------------------------------------------------------------


def markdown(world: Played) -> str:
    """A heading and three tables."""
    own = {name: result for name, result in world.results.items() if not name.endswith(ADVISED)}
    columns = ("policy", "points", "interval", "success", "interval", "actions", "searches", "items", "n")
    parts = [heading(world), Table(columns, tuple(_row(name, one) for name, one in own.items())).markdown()]
    if pairs := tuple(difference_row(f"{one.first} − {one.second}", one) for one in differences(world)):
        parts.append(Table(DIFFERENCE, pairs).markdown())
    if advised := tuple(_advised_row(name, world, effect) for name, effect in effects(world).items()):
        head = ("advised by match", "points", "effect", "interval", "success", "effect", "interval")
        parts.append(Table(head, advised).markdown())
    return "\n\n".join(parts) + "\n"


def _row(name: str, result: Evaluation) -> tuple[str, ...]:
    together = result.clustered()
    return (
        name,
        f"{together.score:.1f}",
        bounds(together.score, 1.0),
        percent(together.success),
        bounds(together.success),
        f"{together.steps:.1f} ({bounds(together.steps, 1.0)})",
        *(
            f"{one:.2f} ({one.low:.2f} to {one.high:.2f})"
            for one in (mean_of(result, searches), mean_of(result, items))
        ),
        str(together.success.n),
    )


def _advised_row(name: str, world: Played, effect: Comparison) -> tuple[str, ...]:
    advised = world.results[name + ADVISED]
    return (
        name,
        f"{advised.score:.1f}",
        f"{effect.score:+.1f}",
        bounds(effect.score, 1.0),
        percent(advised.success),
        f"{100 * effect.success:+.1f} %",
        bounds(effect.success),
    )


def as_json(world: Played) -> dict[str, Any]:
    """Every number of the tables, with its bounds; rates in [0, 1]."""
    some = next(iter(world.results.values()))
    rows = {}
    for name, result in world.results.items():
        together = result.clustered()
        rows[name] = {
            "fingerprint": result.plan.fingerprint,
            "score": together.score.to_dict(),
            "success": together.success.to_dict(),
            "actions": together.steps.to_dict(),
            "searches": mean_of(result, searches).to_dict(),
            "items": mean_of(result, items).to_dict(),
            "seconds": result.seconds.to_dict(),
        }
    return {
        "description": dict(some.plan.description),
        "goals": some.n,
        "products": some.clustered().clusters,
        "policies": rows,
        "differences": [one.to_dict() for one in differences(world)],
        "effects": {name: effect.to_dict() for name, effect in effects(world).items()},
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
