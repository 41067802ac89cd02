"""Counts where things are in the training games of ALFWorld: the table that the expert searches by.

    python benchmarks/alfworld_places.py GAMES [--out llm_gym/policies/alfworld/places.json]

GAMES is a store, a folder or an archive of the official games. Of each kind of place the table says how many there are,
how many of them are shut at the beginning, and how many hold at least one thing of each kind.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from llm_gym.data import write_atomically
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.house import House
from llm_gym.policies.alfworld.places import word_of


@dataclass(frozen=True)
class Args:
    """Settings of the count."""

    games: Annotated[str, tyro.conf.Positional]
    """A store, a folder or an archive of the official games."""
    out: Path = Path("llm_gym/policies/alfworld/places.json")
    """The table."""


def main(args: Args) -> None:
    store = open_games(args.games)
    tasks = [entry.task_id for entry in store.entries("train")]
    table = counted(House.of(store.game("train", task_id).problem) for task_id in tasks)
    lines = ",\n".join(f" {json.dumps(place)}: {json.dumps(counts)}" for place, counts in table.items())
    write_atomically(args.out, f"{{\n{lines}\n}}\n".encode())
    print(f"{args.out}: {len(table)} kinds of places in {len(tasks):,} games")


def counted(houses: Iterable[House]) -> dict[str, Any]:
    """Place → its counts, places and things in alphabetical order."""
    number: Counter[str] = Counter()
    shut: Counter[str] = Counter()
    holds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for house in houses:
        for receptacle, name in enumerate(house.receptacle_names):
            place = word_of(name)
            number[place] += 1
            shut[place] += house.is_shut(receptacle, house.initial)
            holds[place].update({word_of(house.object_names[thing]) for thing in house.initial.contents[receptacle]})
    return {
        place: {"number": number[place], "shut": shut[place], "holds": dict(sorted(holds[place].items()))}
        for place in sorted(number)
    }


if __name__ == "__main__":
    main(tyro.cli(Args))
