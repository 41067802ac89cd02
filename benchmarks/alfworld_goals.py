"""How often human-written goals of ALFWorld are read fully right: kind of task, thing, and place or lamp.

    python benchmarks/alfworld_goals.py --games GAMES [--reader FOLDER]

GAMES is a store of official games with goals in people's words, as `llm-gym download alfworld` makes. Compared are the
rules with their list of phrases (`policies/alfworld/paraphrases.py`) and the trained reader. "first": the likeliest
reading is what the game asks for; "listed": one of those that a player would try in turn. Several people described each
game: the 95 % intervals take the sentences of a game together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import tyro
from rich.console import Console
from rich.table import Table

from llm_gym.envs.alfworld.games import OFFICIAL, open_games
from llm_gym.evaluation.statistics import clustered_wilson
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.goal_reader.tokens import KINDS, kind_of
from llm_gym.policies.alfworld.goals import Errand
from llm_gym.policies.alfworld.paraphrases import readings
from llm_gym.training.goal_examples import GoalExample, goal_examples

Read = Callable[[str, frozenset[str]], Sequence[Errand]]
ALL = "all"


@dataclass(frozen=True)
class Args:
    """What is read, and by whom."""

    games: str = OFFICIAL
    """A store of games with goals in people's words."""
    reader: Path | None = None
    """Folder of a trained reader; by default the one that comes with the package."""
    splits: tuple[str, ...] = ("valid_seen", "valid_unseen")


def main(args: Args) -> None:
    store = open_games(args.games)
    reader = GoalReader(args.reader)
    readers: dict[str, Read] = {"rules": readings, "learned": reader.readings}
    table = Table(title=f"Goals read right; the reader is {reader.digest}", title_justify="left")
    for column in ("split", "reader", "kind", "sentences", "games", "first", "95 %", "listed"):
        table.add_column(column, justify="left" if column in ("split", "reader", "kind") else "right")
    for split in args.splits:
        examples = goal_examples(store, split)
        for name, read in readers.items():
            for row in rows(examples, read):
                table.add_row(split, name, *row)
    Console(width=110).print(table)


def rows(examples: Sequence[GoalExample], read: Read) -> Iterator[tuple[str, ...]]:
    """Of each kind of task, and of all together."""
    found = [read(example.sentence, example.places) for example in examples]
    first = [one[:1] == [example.errand] for one, example in zip(found, examples, strict=True)]
    listed = [example.errand in one for one, example in zip(found, examples, strict=True)]
    for kind in (*KINDS, ALL):
        chosen = [at for at, example in enumerate(examples) if kind in (kind_of(example.errand), ALL)]
        if chosen:
            games = [examples[at].game for at in chosen]
            right = [first[at] for at in chosen]
            interval = clustered_wilson(right, games)
            shares = (
                f"{mean(right):.3f}",
                f"{interval.low:.3f} to {interval.high:.3f}",
                f"{mean(listed[at] for at in chosen):.3f}",
            )
            yield (kind, str(len(chosen)), str(len(set(games))), *shares)


if __name__ == "__main__":
    main(tyro.cli(Args))
