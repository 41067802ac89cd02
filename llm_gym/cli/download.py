"""`llm-gym download`: the official games of ALFWorld."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from rich import box
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from tyro.conf import Positional, arg

from llm_gym.cli.terminal import OK, Terminal
from llm_gym.envs.alfworld.games import OFFICIAL, official_folder
from llm_gym.envs.alfworld.installation import Stage, Tell, install, installed
from llm_gym.envs.alfworld.releases import RELEASES
from llm_gym.envs.alfworld.store import GameStore

_DRAWN_EACH = 50
"""The bar moves once for so many games."""
_EXAMPLE = {"2.1.3": "ALFWorld-v1", "2.1.1": "ALFWorld-v0"}
"""The environment with the wording of a release."""


@dataclass(frozen=True)
class Download:
    """Fetch the official games of ALFWorld, ready to be played.

    The archives are fetched from the addresses where they were published: 36 MB of games (45 MB those of 2.1.1), 72 MB
    of annotations. Every game is compared with a list that came with this package. Called again after Ctrl-C, a lost
    connection or a kill, it goes on where it stopped.

    Examples:
    $ llm-gym download alfworld
    $ llm-gym play ALFWorld-v1 --set games=official
    $ llm-gym download alfworld --release 2.1.1 --no-annotations --to worlds/papers
    $ llm-gym play ALFWorld-v0 --set games=worlds/papers
    """

    world: Positional[Literal["alfworld"]]
    """What to fetch."""
    release: Literal["2.1.3", "2.1.1"] = "2.1.3"
    """2.1.3 has the current wording, 2.1.1 that of the papers."""
    to: Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="(default: in the folder of official data)")] = (
        None
    )
    """Folder of the store; it appears only when all is done."""
    annotations: bool = True
    """Leave out the goals in people's words, which goal=annotation needs."""
    from_url: Annotated[str | None, arg(metavar="URL", help_behavior_hint="(default: where they were published)")] = (
        None
    )
    """Folder of a mirror that has the archives under their own names."""
    keep: bool = False
    """Keep the archives, in DIR.download."""

    def run(self, terminal: Terminal) -> int:
        release = RELEASES[self.release]
        target = self.to.expanduser() if self.to else official_folder().with_name(release.folder)
        store = installed(release, target, annotations=self.annotations)
        if store is None:
            source = release if self.from_url is None else release.mirrored(self.from_url)
            try:
                with _shown(terminal) as tell:
                    store = install(source, target, annotations=self.annotations, keep=self.keep, tell=tell)
            except KeyboardInterrupt:
                terminal.note("What has arrived is kept. The same command goes on there.")
                raise
            said = f"The games are in {target}."
        else:
            said = f"The games are in {target} already: nothing was fetched."
        terminal.show(_told(store))
        setting = shlex.quote(f"games={OFFICIAL if target == official_folder() else target}")
        terminal.note(f"{said} To play them: llm-gym play {_EXAMPLE[self.release]} --set {setting}")
        return OK


@contextmanager
def _shown(terminal: Terminal) -> Iterator[Tell]:
    """A bar for each stage, if somebody watches."""
    if not terminal.interactive:
        yield lambda stage, done, total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        _Amount(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=terminal.err) as bar:
        stages: dict[Stage, TaskID] = {}

        def tell(stage: Stage, done: int, total: int | None) -> None:
            if stage not in stages:
                for earlier in stages.values():
                    bar.stop_task(earlier)
                stages[stage] = bar.add_task(stage.name, in_bytes=stage.in_bytes)
            if stage.in_bytes or done % _DRAWN_EACH == 0 or done == total:
                bar.update(stages[stage], completed=done, total=total)

        yield tell


class _Amount(ProgressColumn):
    """`12.1 MB of 36.5 MB`, or `1,200 of 4,027`."""

    def render(self, task: Task) -> Text:
        show = decimal if task.fields["in_bytes"] else "{:,}".format
        of_all = "" if task.total is None else f" of {show(int(task.total))}"
        return Text(show(int(task.completed)) + of_all)


def _told(store: GameStore) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    rows = {
        "name": store.name,
        "games": ", ".join(f"{count:,} {split}" for split, count in store.splits.items()),
        "with goals in people's words": f"{store.meta['annotated']:,}",
        "digest": store.digest,
    }
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table
