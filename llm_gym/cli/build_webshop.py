"""`llm-gym build webshop`: a product store, from official files or of an invented shop."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from rich import box
from rich.table import Table
from rich.text import Text
from tyro.conf import arg

from llm_gym.cli.stages import DRAWN_EACH, Tell, shown
from llm_gym.cli.terminal import OK, Terminal
from llm_gym.envs.webshop.build import BuildSettings, build_store
from llm_gym.envs.webshop.generator import HARD, STANDARD, CatalogueSettings, write_catalogue
from llm_gym.envs.webshop.store import ProductStore
from llm_gym.errors import InvalidSetting

_PRESETS: Mapping[str, CatalogueSettings] = {"standard": STANDARD, "hard": HARD}
_BAD_SHOWN = 5


@dataclass(frozen=True)
class BuildWebShop:
    """Build a shop from official files, or invent one.

    The result is a folder that an environment opens at once: --set catalogue=DIR on the command line,
    gymnasium.make(…, catalogue="DIR") in Python. Say where the products come from, one of the two:

    --from DIR takes the official files of a folder: items_shuffle.json, items_ins_v2.json and items_human_ins.json,
    or those that end in _1000.json. It goes with --num-products, --spacy-model and --skip-bad.
    --invented standard|hard makes up a shop, so that nothing has to be downloaded. In a "hard" one every product has
    more rivals, and shoppers say less. It goes with --products and --seed; equal values give equal bytes.

    Examples:
    $ llm-gym build webshop --from ~/webshop/data --to worlds/full
    $ llm-gym build webshop --from ~/webshop/data --to worlds/first --num-products 1000 --skip-bad
    $ llm-gym build webshop --invented hard --products 20000 --seed 3 --to worlds/hard
    $ llm-gym play WebShop-v1 --set catalogue=worlds/hard
    """

    to: Annotated[Path, arg(metavar="DIR")]
    """Folder of the store; it must not exist yet, and appears only when all is done."""
    source: Annotated[Path | None, arg(name="from", metavar="DIR", help_behavior_hint="")] = None
    """Folder of official files."""
    num_products: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all)")] = None
    """With --from: only the first N rows of the product file."""
    spacy_model: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: what is installed)")] = None
    """With --from: the spaCy model that finds the nouns of titles."""
    skip_bad: bool = False
    """With --from: count damaged records and leave them out, instead of stopping at the first."""
    invented: Annotated[Literal["standard", "hard"] | None, arg(metavar="standard|hard", help_behavior_hint="")] = None
    """Make up a shop."""
    products: Annotated[int | None, arg(metavar="N", help_behavior_hint=f"(default: {STANDARD.products})")] = None
    """With --invented: how many products."""
    seed: Annotated[
        int | None, arg(help_behavior_hint=f"(default: {STANDARD.seed}, for hard {HARD.seed})", metavar="N")
    ] = None
    """With --invented: everything random hangs on it."""

    def run(self, terminal: Terminal) -> int:
        self._refuse_mixture()
        with shown(terminal) as tell:
            if self.source is not None:
                settings = BuildSettings(self.num_products, self.spacy_model, self.skip_bad)
                store = build_store(self.source.expanduser(), self.to, settings, _staged(tell, self.num_products))
            else:
                store = self._invent(tell)
        terminal.show(_told(store.meta))
        setting = shlex.quote(f"catalogue={self.to}")
        terminal.note(f"The store is in {self.to}. To play in it: llm-gym play WebShop-v1 --set {setting}")
        return OK

    def _refuse_mixture(self) -> None:
        """Raise InvalidSetting unless there is exactly one source, with flags of its own only."""
        if (self.source is None) == (self.invented is None):
            raise InvalidSetting("Say where the products come from: either --from DIR or --invented standard|hard.")
        of_files = {"--num-products": self.num_products, "--spacy-model": self.spacy_model}
        of_invention = {"--products": self.products, "--seed": self.seed}
        foreign, goes_with = (of_files, "--from") if self.source is None else (of_invention, "--invented")
        wrong = [flag for flag, value in foreign.items() if value is not None]
        if self.source is None and self.skip_bad:
            wrong.append("--skip-bad")
        if wrong:
            raise InvalidSetting(f"{wrong[0]} goes with {goes_with} only.")

    def _invent(self, tell: Tell) -> ProductStore:
        assert self.invented is not None
        settings = self._settings(_PRESETS[self.invented])
        self.to.parent.mkdir(parents=True, exist_ok=True)  # the raw files may need gigabytes: not in /tmp
        with tempfile.TemporaryDirectory(prefix=f".{self.to.name}.", suffix=".raw", dir=self.to.parent) as raw:
            write_catalogue(settings, Path(raw), lambda done, total: tell("inventing", done, total))
            return build_store(Path(raw), self.to, progress=_staged(tell, settings.products))

    def _settings(self, preset: CatalogueSettings) -> CatalogueSettings:
        products = preset.products if self.products is None else self.products
        seed = preset.seed if self.seed is None else self.seed
        try:
            return replace(preset, products=products, seed=seed)
        except ValueError as error:
            raise InvalidSetting(f"The shop cannot be invented: {error}.") from None


def _staged(tell: Tell, expected: int | None) -> Callable[[str, int], None]:
    """The progress that `build_store` wants. The index has as many products as came before it."""
    reached: dict[str, int] = {}

    def progress(stage: str, done: int) -> None:
        if stage not in reached:
            for earlier, count in reached.items():
                tell(earlier, count, count)
        reached[stage] = done
        total = reached["products"] if stage == "index" else expected
        if done % DRAWN_EACH == 0 or done in (1, total):
            tell(stage, done, total)

    return progress


def _told(meta: Mapping[str, Any]) -> Table:
    """What `meta.json` says became of the files."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    bad = meta["bad_records"]
    rows = {
        "name": meta["name"],
        "products": f"{meta['products']:,}",
        "goals": ", ".join(f"{count:,} {kind}" for kind, count in meta["goals"].items()),
        "digest": meta["digest"],
        "rows read": f"{meta['rows_read']:,}",
        "left out: id seen before": f"{meta['duplicate_ids']:,}",
        "left out: unusable id": f"{meta['unusable_ids']:,}",
        "left out: damaged": f"{len(bad):,}" + "".join(f"\n{line}" for line in bad[:_BAD_SHOWN]),
        "ids only in the attribute file": f"{meta['ids_only_in_attribute_file']:,}",
        "nouns of titles": meta["noun_model"],
    }
    for name, value in rows.items():
        table.add_row(name, Text(str(value)))
    return table
