"""Students, experts and the floor of ALFWorld in one table a world.

    python benchmarks/alfworld_students.py --out runs/students
    python benchmarks/alfworld_students.py --out runs/seeds \
        --folder memory 0 memory0/policy --folder memory 1 memory1/policy \
        --folder-scenes memory 0 rooms/policy

Worlds: `valid_seen` and `valid_unseen` of the official games, `heldout_scenes` (games in 20 of the rooms of `train`,
for students that learned in the other rooms: `--folder-scenes`), and `people` (`valid_unseen` with the goals that
people wrote). Learned policies are the shipped ones unless folders are given; several seeds of one make one row. In
the worlds of `--advised` each is played once more beside the expert, whose opinion it takes with a chance of `--heed`.

Rates have the interval over games (Wilson's; with several seeds or goals at the effective number of games) and beside
it the one that takes the games of a room together. A run that was interrupted goes on where it was with `--out`; the
tables are in `table.md` and `table.json` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import gymnasium as gym
import orjson
import tyro
from rich.console import Console

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import write_atomically
from llm_gym.envs.alfworld.scenes import scene_of
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.errors import InvalidSetting, LLMGymError, MissingData, MissingDependency, UnknownName
from llm_gym.evaluation import metrics
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.records import Row
from llm_gym.evaluation.tables import Table
from llm_gym.policies.alfworld.expert import ALFWorldExpertPolicy
from llm_gym.policies.base import Policy
from llm_gym.policies.heeding import HeedingPolicy
from llm_gym.registry import policies as registered
from llm_gym.wrappers.opinion import OpinionWrapper

Folders: TypeAlias = Annotated[tuple[tuple[str, int, Path], ...], tyro.conf.UseAppendAction]
"""Policy, seed, folder."""


@dataclass(frozen=True)
class World:
    """A panel, and how many of its games are played by default."""

    split: str
    goal: str = "templated"
    most: int | None = None
    new_rooms: bool = False
    """Whether a student has to have learned in `train_scenes`, or it knows these rooms."""


WORLDS: Mapping[str, World] = {
    "valid_seen": World("valid_seen"),
    "valid_unseen": World("valid_unseen"),
    "heldout_scenes": World("heldout_scenes", most=200, new_rooms=True),
    "people": World("valid_unseen", goal="annotation"),
}
LEARNED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "butler": ("butler", {"beam": False}),
    "butler-beam": ("butler", {"beam": True}),
    "memory": ("memory", {}),
    "history": ("history", {}),
    "history-pure": ("history", {}),
}
"""Name in the table → name and settings of the policy."""
ABSENT = (MissingData, MissingDependency, UnknownName)
"""Why a policy is left out: its weights are not here, a package is missing, or there is none of this name."""
NOTES = (
    "valid_unseen lies in four rooms only; how a student does in a new room, heldout_scenes tells better.",
    "BUTLER writes its commands word by word; memory, history and random choose among the admissible ones, which is "
    "easier. The planner sees the whole house.",
)


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    games: str = "official"
    """"official", "embedded", a store, a folder or an archive of games."""
    worlds: tuple[str, ...] = tuple(WORLDS)
    """Some of valid_seen, valid_unseen, heldout_scenes, people."""
    policies: tuple[str, ...] = ("random", *LEARNED, "expert", "planner")
    """Rows, in this order. butler-beam is butler with beam search; history-pure is one that counts nothing."""
    folder: Folders = ()
    """Name, seed and folder of a trained policy, where the shipped one is not meant; butler's are butler-beam's too."""
    folder_scenes: Folders = ()
    """The same, of one that learned in train_scenes."""
    advised: tuple[str, ...] = ("valid_unseen",)
    """Worlds in which learned policies are also played with the expert's opinions."""
    heed: float = 0.5
    """Chance that an opinion is taken."""
    n: int | None = None
    """The first so many games of every world; by default all, of heldout_scenes 200."""
    jobs: int = 1
    """Processes."""
    out: Path | None = None
    """Where runs and tables are written."""


@dataclass(frozen=True)
class Line:
    """A policy in a world."""

    name: str
    seeds: tuple[int, ...]
    """Empty where nothing was learned, or what was learned is shipped."""
    rows: tuple[Row, ...]
    """Episodes of all seeds."""


@dataclass(frozen=True)
class Played:
    """A world with what was played in it."""

    name: str
    description: Mapping[str, Any]
    lines: tuple[Line, ...]


# -- playing -------------------------------------------------------------------------------------------------------


def made(name: str, world: World, args: Args) -> dict[int | None, Policy]:
    """A policy by its name in the table, once for each seed; None is the shipped one.

    Raises:
        UnknownName: there is no such policy. MissingData: it has not learned in the right rooms, or its model is gone.
    """
    if name not in LEARNED:
        policy: type[Policy] = registered.load(name)
        return {None: policy()}
    learned, settings = LEARNED[name]
    sources = {"butler-beam": "butler"}
    given = args.folder_scenes if world.new_rooms else args.folder
    folders = {seed: folder for of, seed, folder in given if of == sources.get(name, name)}
    if not folders and world.new_rooms:
        raise MissingData("it knows these rooms: give one that learned in train_scenes by --folder-scenes.")
    if not folders and name == "history-pure":
        raise MissingData("it does not come with the package: give it by --folder.")
    load: Any = registered.load(learned)
    if not folders:
        return {None: load(**settings)}
    return {seed: load.from_pretrained(folder, **settings) for seed, folder in folders.items()}


def opened(name: str, games: str) -> gym.Env[str, str]:
    """A world by its name.

    Raises:
        UnknownName: there is no such world. MissingData: the games are not here, or have no goals that people wrote.
    """
    if name not in WORLDS:
        raise UnknownName("world", name, WORLDS)
    return gym.make("llm_gym/ALFWorld-v1", games=games, split=WORLDS[name].split, goal=WORLDS[name].goal)


def played(name: str, args: Args, say: Callable[[str], None]) -> Played:
    """All policies in one world; those that are not here are told and left out."""
    env, world = opened(name, args.games), WORLDS[name]
    house: Any = env.unwrapped
    n = min(args.n or world.most or len(house.panel), len(house.panel))
    lines = []
    for policy in args.policies:
        try:
            of_seeds = made(policy, world, args)
            lines.append(_line(policy, of_seeds, env, n, name, args))
            say(f"{name}: {policy} {rate(lines[-1].rows)!r}")
            if policy in LEARNED and name in args.advised:
                lines.append(_advised(policy, made(policy, world, args), env, n, name, args))
                say(f"{name}: {lines[-1].name} {rate(lines[-1].rows)!r}")
        except ABSENT as reason:
            say(f"{name}: {policy} is left out: {reason}")
    return Played(name, house.description(), tuple(lines))


def _advised(
    policy: str, of_seeds: Mapping[int | None, Policy], env: gym.Env[str, str], n: int, world: str, args: Args
) -> Line:
    heeding = {seed: HeedingPolicy(one, args.heed) for seed, one in of_seeds.items()}
    return _line(
        f"{policy} + expert", heeding, OpinionWrapper(env, ALFWorldExpertPolicy(), append=False), n, world, args
    )


def _line(
    name: str, of_seeds: Mapping[int | None, Policy], env: gym.Env[str, str], n: int, world: str, args: Args
) -> Line:
    rows: list[Row] = []
    for seed, policy in of_seeds.items():
        label = name.replace(" + ", "-") + ("" if seed is None else f"-{seed}")
        out = args.out / world / label if args.out else None
        rows += policy.evaluate(env, n, jobs=args.jobs, out=out).rows
    return Line(name, tuple(seed for seed in of_seeds if seed is not None), tuple(rows))


# -- telling -------------------------------------------------------------------------------------------------------


def rate(rows: Sequence[Row], clusters: metrics.Clusters | None = None) -> Estimate:
    """Success, in [0, 1]; by default what several seeds did with the goals of a game is taken together."""
    return metrics.rate(rows, lambda row: row["success"], games(rows) if clusters is None else clusters)


def games(rows: Iterable[Row]) -> dict[str, str]:
    """Task → its game, for which several people may have written a goal."""
    return {row["task_id"]: row["task_id"].partition("#")[0] for row in rows}


def rooms(rows: Iterable[Row]) -> dict[str, str]:
    """Task → its room."""
    return {row["task_id"]: scene_of(row["task_id"]) for row in rows}


def steps_of_wins(rows: Sequence[Row]) -> Estimate:
    """Mean number of commands of the games that were won."""
    return metrics.mean([row for row in rows if row["success"]], lambda row: row["steps"])


def markdown(world: Played) -> str:
    """A heading, and one row a policy."""
    some = world.lines[0].rows
    of_task, in_rooms = games(some), len(set(rooms(some).values()))
    count = len(set(of_task.values()))
    goals = f"{len(of_task):,} goals for " if len(of_task) > count else ""
    kinds = [kind for kind in TASK_TYPES.values() if any(row["category"] == kind for row in some)]
    columns = ("policy", "success", "over games", "over rooms", *kinds, "steps of wins", "seeds")
    rows = tuple(_row(line, kinds) for line in world.lines)
    heading = f"### {world.name}: {goals}{count:,} games in {in_rooms:,} rooms"
    return f"{heading}\n\n{Table(columns, rows).markdown()}\n"


def _row(line: Line, kinds: Sequence[str]) -> tuple[str, ...]:
    success, by_room, steps = rate(line.rows), rate(line.rows, rooms(line.rows)), steps_of_wins(line.rows)
    of_kind = (rate([row for row in line.rows if row["category"] == kind]) for kind in kinds)
    return (
        line.name,
        f"{success:.3f}",
        _bounds(success),
        _bounds(by_room),
        *(f"{one:.2f}" for one in of_kind),
        f"{steps:.1f}" if steps.n else "–",
        " ".join(map(str, line.seeds)) or "–",
    )


def _bounds(estimate: Estimate) -> str:
    return f"{estimate.low:.3f} to {estimate.high:.3f}"


def as_json(world: Played) -> dict[str, Any]:
    """Every number of the tables, with its bounds; rates in [0, 1]."""
    lines = {
        line.name: {
            "seeds": list(line.seeds),
            "success": rate(line.rows).to_dict(),
            "success_by_room": rate(line.rows, rooms(line.rows)).to_dict(),
            "success_by_kind": {
                kind: rate([row for row in line.rows if row["category"] == kind]).to_dict()
                for kind in sorted({row["category"] for row in line.rows})
            },
            "success_by_seed": _by_seed(line),
            "steps_of_wins": steps_of_wins(line.rows).to_dict(),
        }
        for line in world.lines
    }
    return {"description": dict(world.description), "policies": lines}


def _by_seed(line: Line) -> list[float]:
    size = len(line.rows) // max(1, len(line.seeds))
    return [rate(line.rows[begin : begin + size]).value for begin in range(0, len(line.rows), size)]


def main(args: Args) -> list[Played]:
    """Play, print, and write the tables."""
    console = Console(stderr=True, highlight=False)
    for name in (*args.worlds, *args.advised):
        if name not in WORLDS:
            raise UnknownName("world", name, WORLDS)
    for name, _, _ in (*args.folder, *args.folder_scenes):
        if name not in LEARNED:
            raise UnknownName("learned policy", name, LEARNED)
    worlds: list[Played] = []
    for name in args.worlds:
        try:
            worlds.append(played(name, args, console.print))
        except MissingData as reason:
            console.print(f"{name} is left out: {reason}")
    worlds = [world for world in worlds if world.lines]
    if not worlds:
        raise InvalidSetting("Nothing was played: no world and policy of those that were named is here.")
    write(worlds, args.out)
    return worlds


def write(worlds: Sequence[Played], out: Path | None) -> None:
    """Print the tables; with a folder, write them there as Markdown and as JSON."""
    text = "\n".join([*map(markdown, worlds), *NOTES])
    print(text)
    if out is not None:
        write_atomically(out / "table.md", f"{text}\n".encode())
        content = {world.name: as_json(world) for world in worlds}
        write_atomically(
            out / "table.json", orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )


if __name__ == "__main__":
    try:
        main(tyro.cli(Args))
    except LLMGymError as error:
        raise SystemExit(f"error: {error}") from None
