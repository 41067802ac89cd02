"""`llm-gym demos import`: the official demonstrations of the WebShop paper in the format of this package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from llm_gym.cli.demos_writing import OutFile, Writing
from llm_gym.cli.terminal import Terminal
from llm_gym.demonstrations.files import Header
from llm_gym.demonstrations.official import (
    NO_GOALS,
    SPLITS,
    Images,
    KeptImages,
    Official,
    OfficialGoals,
    read_goal_queries,
    read_trajectories,
)
from llm_gym.demonstrations.record import Demonstration
from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.tables import Table

_QUERIES = ".json"
_LEAK = (
    "The original trains its search model on every goal from place 500 on, {queries} queries of {goals} development "
    "goals included. The train split here leaves them out."
)


@dataclass(frozen=True)
class ImportDemos:
    """Import the official demonstrations of the WebShop paper.

    They are il_trajs_finalized_images.jsonl, the trajectories, and goal_query_map.json, what people searched for. The
    order of human_goals.json tells which goals are the paper's test, development and training goals.

    Examples:
    $ llm-gym demos import goal_query_map.json --goals human_goals.json --out queries.jsonl
    $ llm-gym demos import il_trajs_finalized_images.jsonl --split all --images images --out people.jsonl.gz
    """

    file: Annotated[Positional[Path], arg(metavar="FILE")]
    """A trajectory file (.jsonl) or a goal-query map (.json)."""
    out: OutFile
    """File to write; a name that ends in .gz is compressed."""
    goals: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(needed but for --split all)")] = None
    """The list human_goals.json."""
    split: Literal["train", "dev", "test", "all"] = "train"
    """Part of the goals; "all" takes the unknown ones too."""
    images: Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="(default: drop them)")] = None
    """Folder for the image features that stand in a trajectory file."""

    def run(self, terminal: Terminal) -> int:
        if self.images is not None and self.images.exists():
            raise InvalidSetting(f"{self.images} exists already. Choose another name, or remove it.")
        kept = KeptImages() if self.images is not None else None
        official = self._read(kept)
        counts: Counter[tuple[str, str]] = Counter()
        writing = Writing(self.out, 0, terminal, drawn=False)
        header = Header(origin={"file": self.file.name, "split": self.split})
        code = writing.write(self._chosen(official, counts), header)
        if kept and self.images is not None:
            kept.write(self.images, self.file.name)
        if kept is not None:
            terminal.say(
                f"{len(kept):,} image features are in {self.images}." if kept else "There are no image features."
            )
        if self.goals is not None:
            terminal.say(_table(counts))
            if self.file.suffix == _QUERIES and counts["dev", "goals"]:
                terminal.note(_LEAK.format(queries=counts["dev", "steps"], goals=counts["dev", "goals"]))
        return code

    def _read(self, images: Images | None) -> Iterator[Official]:
        if self.goals is None and self.split != "all":
            raise InvalidSetting(f"--split {self.split} needs --goals human_goals.json. --split all takes every goal.")
        goals = NO_GOALS if self.goals is None else OfficialGoals.read(self.goals)
        match self.file.suffix:
            case ".jsonl":
                return read_trajectories(self.file, goals, images)
            case suffix if suffix == _QUERIES:
                if images is not None:
                    raise InvalidSetting("A goal-query map holds no images: leave out --images.")
                return read_goal_queries(self.file, goals)
            case other:
                raise InvalidSetting(
                    f"{self.file}: a file of trajectories ends in .jsonl, a map in .json, not in {other!r}."
                )

    def _chosen(self, official: Iterator[Official], counts: Counter[tuple[str, str]]) -> Iterator[Demonstration | None]:
        """The demonstrations of the split; all are counted."""
        for one in official:
            counts[one.split, "goals"] += 1
            counts[one.split, "steps"] += len(one.demonstration.steps)
            yield one.demonstration if self.split in (one.split, "all") else None


def _table(counts: Counter[tuple[str, str]]) -> str:
    rows = ((split, f"{counts[split, 'goals']:,}", f"{counts[split, 'steps']:,}") for split in SPLITS)
    return Table(("split", "demonstrations", "steps"), tuple(rows)).text()
