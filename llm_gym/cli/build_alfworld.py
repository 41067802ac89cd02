"""`llm-gym build alfworld`: a game store, from official files or of invented households."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text
from tyro.conf import arg

from llm_gym.cli.stages import DRAWN_EACH, Tell, shown
from llm_gym.cli.terminal import OK, Terminal
from llm_gym.envs.alfworld.build import build_store
from llm_gym.envs.alfworld.generator.games import build_invented
from llm_gym.envs.alfworld.generator.plan import Settings
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.errors import InvalidSetting

_STANDARD = Settings()
_BAD_SHOWN = 5
_ENVIRONMENTS: Mapping[str, str] = {"original": "ALFWorld-v0"}
"""Wording of a store → the environment to play it in, where that is not the newest."""


@dataclass(frozen=True)
class BuildALFWorld:
    """Build a store of household games from official files, or invent them.

    The result is a folder that an environment opens at once: --set games=DIR on the command line,
    gymnasium.make(…, games="DIR") in Python. Say where the games come from, one of the two:

    --from PATH takes each game.tw-pddl of a folder, or of an archive (.zip, .tar, .tar.gz, .tar.xz), of either
    release. Games that are not solvable, or have to do with sliced or movable things, are left out and counted, as the
    original does. It goes with --annotations and --skip-bad.
    --invented makes up rooms and tasks, so that nothing has to be downloaded. It goes with --games and --seed; equal
    values give equal games.

    Examples:
    $ llm-gym build alfworld --from ~/alfworld/json_2.1.1 --to worlds/games
    $ llm-gym build alfworld --from games.tar.xz --annotations traj_data.tar.xz --to worlds/games --skip-bad
    $ llm-gym build alfworld --invented --games 1000 --seed 3 --to worlds/invented
    $ llm-gym play ALFWorld-v1 --set games=worlds/games
    """

    to: Annotated[Path, arg(metavar="DIR")]
    """Folder of the store; it must not exist yet, and appears only when all is done."""
    source: Annotated[Path | None, arg(name="from", metavar="PATH", help_behavior_hint="")] = None
    """Folder or archive of games, or one game.tw-pddl."""
    annotations: Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="")] = None
    """With --from: folder or archive of traj_data.json, which hold the goals in people's words; those that lie beside
    games in a folder are found without it."""
    skip_bad: bool = False
    """With --from: count damaged games and leave them out, instead of stopping at the first."""
    invented: bool = False
    """Make up the games."""
    games: Annotated[int | None, arg(metavar="N", help_behavior_hint=f"(default: {_STANDARD.games})")] = None
    """With --invented: how many games, of all splits together."""
    seed: Annotated[int | None, arg(metavar="N", help_behavior_hint=f"(default: {_STANDARD.seed})")] = None
    """With --invented: everything random hangs on it."""

    def run(self, terminal: Terminal) -> int:
        self._refuse_mixture()
        with shown(terminal) as tell:
            store = self._invent(tell) if self.source is None else self._build(self.source.expanduser(), tell)
        terminal.show(Group(_counts(store), _told(store.meta)))
        setting = shlex.quote(f"games={self.to}")
        environment = _ENVIRONMENTS.get(store.meta.get("wording", ""), "ALFWorld-v1")
        terminal.note(f"The store is in {self.to}. To play its games: llm-gym play {environment} --set {setting}")
        return OK

    def _refuse_mixture(self) -> None:
        """Raise InvalidSetting unless there is exactly one source, with flags of its own only."""
        if (self.source is None) == (not self.invented):
            raise InvalidSetting("Say where the games come from: either --from PATH or --invented.")
        of_files = {"--annotations": self.annotations, "--skip-bad": self.skip_bad or None}
        of_invention = {"--games": self.games, "--seed": self.seed}
        foreign, goes_with = (of_files, "--from") if self.invented else (of_invention, "--invented")
        wrong = [flag for flag, value in foreign.items() if value is not None]
        if wrong:
            raise InvalidSetting(f"{wrong[0]} goes with {goes_with} only.")

    def _build(self, source: Path, tell: Tell) -> GameStore:
        annotations = self.annotations and self.annotations.expanduser()

        def progress(done: int) -> None:
            if done == 1 or done % DRAWN_EACH == 0:
                tell("games", done, None)

        return build_store(source, self.to, annotations=annotations, skip_bad=self.skip_bad, progress=progress)

    def _invent(self, tell: Tell) -> GameStore:
        games = _STANDARD.games if self.games is None else self.games
        try:
            settings = Settings(games, _STANDARD.seed if self.seed is None else self.seed)
        except ValueError as error:
            raise InvalidSetting(f"The games cannot be invented: {error}.") from None
        return build_invented(settings, self.to, lambda done: tell("inventing", done, games))


def _counts(store: GameStore) -> Table:
    """Splits, with the kinds of task in the order in which papers print them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("split")
    kinds = [*TASK_TYPES.items()]
    if any("other" in counts for counts in store.meta["games"].values()):
        kinds.append(("other", "other"))
    for heading in (*(short for _, short in kinds), "all"):
        table.add_column(heading, justify="right")
    for split, counts in store.meta["games"].items():
        row = (*(counts.get(kind, 0) for kind, _ in kinds), store.splits[split])
        table.add_row(Text(split), *(f"{count:,}" for count in row))
    return table


def _told(meta: Mapping[str, Any]) -> Table:
    """What `meta.json` says became of the files."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    bad = meta.get("bad_games", [])
    rows = {
        "name": meta["name"],
        "wording": meta.get("wording"),
        "with goals in people's words": f"{meta['annotated']:,}",
        "digest": meta["digest"],
        **{f"left out: {reason}": f"{count:,}" for reason, count in meta.get("left_out", {}).items()},
    }
    if bad:
        rows["left out: damaged"] = "\n".join([f"{len(bad):,}", *bad[:_BAD_SHOWN]])
    for name, value in rows.items():
        table.add_row(name, Text(str(value)))
    return table
