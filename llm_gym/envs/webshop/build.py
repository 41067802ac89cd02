"""Builds a product store from official files, once: products, nouns, goals, groups and the search index."""

from __future__ import annotations

import hashlib
import itertools
import random
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson

from llm_gym.data import new_folder
from llm_gym.envs.webshop.goals import STORED_KINDS, StoredKind, goal_count
from llm_gym.envs.webshop.nouns import SpacyNouns
from llm_gym.envs.webshop.official import Lookup, OfficialFiles, lookup, mined_entry, read_settings, stream_rows
from llm_gym.envs.webshop.product import Product, RecordError, asin_of, product_from_raw
from llm_gym.envs.webshop.search import build_index
from llm_gym.envs.webshop.store import FORMAT, GROUP_FIELDS, ProductStore
from llm_gym.errors import BadRecord, DataError, InvalidSetting

GOAL_SHUFFLE_SEED = 233
_BATCH = 512
_MOST_GOALS_OF_A_PRODUCT = 100_000

Progress = Callable[[str, int], None]
"""Called with the name of the stage and the number of products done in it."""


def no_progress(stage: str, done: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How to build."""

    num_products: int | None = None
    """Only the first rows of the product file; None: all."""
    spacy_model: str | None = None
    """For the nouns of titles; None: the first known one that is installed."""
    skip_bad: bool = False
    """Count records that break the format and leave them out, instead of stopping at the first."""


@dataclass(slots=True)
class Tally:
    """What became of the rows."""

    rows: int = 0
    duplicates: int = 0
    unusable_ids: int = 0
    bad: list[str] = field(default_factory=list)
    noun_model: str | None = None


def build_store(
    source: Path, target: Path, settings: BuildSettings | None = None, progress: Progress = no_progress
) -> ProductStore:
    """Build the store of the official files in `source` at `target`, which appears only when all is done.

    Raises:
        MissingData, BadRecord: a file is missing or damaged. InvalidSetting: `target` exists already.
        MissingDependency: titles need a tagger that is not installed.
    """
    settings = settings or BuildSettings()
    check_num_products(settings.num_products)
    with new_folder(target) as workshop:
        _build(OfficialFiles.find(source), workshop, settings, progress)
    return ProductStore.open(target)


def check_num_products(number: int | None) -> None:
    """Refuse what is no number of products; None stands for all."""
    if number is not None and (type(number) is not int or number < 1):
        raise InvalidSetting(f"num_products is a positive whole number, not {number!r}.")


def _build(files: OfficialFiles, folder: Path, settings: BuildSettings, progress: Progress) -> None:
    named = read_settings(files.settings)
    tally = Tally()
    tables_on_disk = folder / "mined.sqlite", folder / "human.sqlite"
    with lookup(files.mined, tables_on_disk[0]) as mined, lookup(files.human, tables_on_disk[1]) as human:
        rows = _usable_rows(files.products, settings, tally)
        products = _products(rows, mined, human, settings, tally, files.products)
        tables = _Tables()
        with (folder / "products.bin").open("wb") as records, (folder / "titles.bin").open("wb") as titles:
            digest = _write_products(products, records, titles, tables, progress)
        unknown = len(mined) - mined.found
    if not tables.asins:
        raise DataError(f"{files.products} holds no usable product.")
    tables.save(folder)
    meta: dict[str, Any] = {
        "format": FORMAT,
        "name": named.get("name", files.products.stem),
        "splits": named.get("splits", "official"),
        "digest": digest,
        "products": len(tables.asins),
        "goals": {kind: int(sum(tables.goal_counts[kind])) for kind in STORED_KINDS},
        "rows_read": tally.rows,
        "duplicate_ids": tally.duplicates,
        "unusable_ids": tally.unusable_ids,
        "bad_records": tally.bad,
        "ids_only_in_attribute_file": unknown,
        "noun_model": tally.noun_model or "given with the titles",
        "sources": files.digests(),
    }
    (folder / "meta.json").write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))
    store = ProductStore.open(folder)
    documents = ((product.asin, product.document()) for product in store)
    build_index(documents, folder / "index", digest=digest, progress=lambda done: progress("index", done))


def _usable_rows(path: Path, settings: BuildSettings, tally: Tally) -> Iterator[tuple[int, Any]]:
    """Rows with an id that is usable and new; the first of several with one id wins."""
    seen: set[bytes] = set()
    for number, row in itertools.islice(stream_rows(path), settings.num_products):
        tally.rows = number
        try:
            asin = asin_of(row)
        except RecordError as error:
            _bad(path, number, error, settings, tally)
            continue
        if asin is None:
            tally.unusable_ids += 1
        elif asin.encode() in seen:
            tally.duplicates += 1
        else:
            seen.add(asin.encode())
            yield number, row


def _products(
    rows: Iterator[tuple[int, Any]], mined: Lookup, human: Lookup, settings: BuildSettings, tally: Tally, path: Path
) -> Iterator[tuple[int, Product]]:
    """Row number and product, tagged batch by batch."""
    tagger: SpacyNouns | None = None
    while batch := list(itertools.islice(rows, _BATCH)):
        untagged = [_title(row) for _, row in batch if "title_nouns" not in row]
        if untagged and tagger is None:
            tagger = SpacyNouns.load(settings.spacy_model)
            tally.noun_model = tagger.model
        found = iter(tagger.nouns(untagged)) if tagger else iter(())
        for number, row in batch:
            nouns = None if "title_nouns" in row else next(found)
            try:
                asin = row["asin"]
                product = product_from_raw(row, mined_entry(mined.get(asin)), human.get(asin), nouns)
                if goal_count(product, "synthetic") > _MOST_GOALS_OF_A_PRODUCT:
                    raise RecordError(f"its options have {goal_count(product, 'synthetic'):,} combinations")
            except RecordError as error:
                _bad(path, number, error, settings, tally)
                continue
            yield number, product


def _title(row: Any) -> str:
    name = row.get("name")
    return name if isinstance(name, str) else ""


def _bad(path: Path, number: int, error: RecordError, settings: BuildSettings, tally: Tally) -> None:
    message = f"{path.name}: record {number:,}: {error}"
    if not settings.skip_bad:
        raise BadRecord(f"{message}. Mend it, or skip bad records (--skip-bad).") from error
    tally.bad.append(message)


class _Tables:
    """The arrays beside the records, filled product by product; a few dozen bytes each."""

    def __init__(self) -> None:
        self.asins: list[bytes] = []
        self.offsets = array("q", [0])
        self.title_offsets = array("q", [0])
        self.rows = array("i")
        self.pricing = array("d")
        self.goal_counts: dict[StoredKind, Any] = {kind: array("i") for kind in STORED_KINDS}
        self.groups: dict[str, dict[str, Any]] = {name: {} for name in GROUP_FIELDS}
        self.instructed: list[tuple[int, tuple[str, ...]]] = []
        """Number of goals and attributes of each product that carries synthetic goals."""

    def add(self, number: int, product: Product, size: int) -> None:
        position = len(self.asins)
        self.asins.append(product.asin.encode())
        self.offsets.append(self.offsets[-1] + size)
        self.title_offsets.append(self.title_offsets[-1] + len(product.title.encode()))
        self.rows.append(number - 1)
        self.pricing.extend((*product.pricing, np.nan, np.nan)[:2])
        for kind in STORED_KINDS:
            self.goal_counts[kind].append(goal_count(product, kind))
        for name, values in zip(GROUP_FIELDS, _group_values(product), strict=True):
            for value in values:
                self.groups[name].setdefault(value, array("i")).append(position)
        if goals := self.goal_counts["synthetic"][-1]:
            self.instructed.append((goals, tuple(map(sys.intern, product.instruction_attributes))))

    def save(self, folder: Path) -> None:
        asins = np.array(self.asins, dtype=np.bytes_)
        np.save(folder / "asins.npy", asins)
        np.save(folder / "by_asin.npy", np.argsort(asins, kind="stable").astype(np.int32))
        np.save(folder / "offsets.npy", np.array(self.offsets, np.int64))
        np.save(folder / "title_offsets.npy", np.array(self.title_offsets, np.int64))
        np.save(folder / "rows.npy", np.array(self.rows, np.int32))
        np.save(folder / "pricing.npy", np.array(self.pricing, np.float64).reshape(-1, 2))
        for kind in STORED_KINDS:
            goals = goal_rows(np.array(self.goal_counts[kind], np.int64))
            np.save(folder / f"goals_{kind}.npy", goals)
            np.save(folder / f"order_{kind}.npy", shuffled(len(goals)))
        np.save(folder / "weights_synthetic.npy", self._synthetic_weights())
        for name, members in self.groups.items():
            _save_groups(folder, name, members)

    def _synthetic_weights(self) -> Any:
        """Mean over a goal's attributes of 1 / (number of goals with the attribute), as the original weighs."""
        occurrences: Counter[str] = Counter()
        for count, attributes in self.instructed:
            for attribute in attributes:
                occurrences[attribute] += count
        weights = [
            sum(1 / occurrences[attribute] for attribute in attributes) / len(attributes) if attributes else 0.0
            for _, attributes in self.instructed
        ]
        return np.repeat(np.array(weights, np.float64), [count for count, _ in self.instructed])


def _group_values(product: Product) -> tuple[Iterable[str], Iterable[str], Iterable[str]]:
    return dict.fromkeys(product.attributes), (product.category,), (product.query,)


def goal_rows(counts: Any) -> Any:
    """(G, 2) catalogue position and ordinal of each goal, from the number of goals of each product."""
    owners = np.repeat(np.arange(len(counts)), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([owners, np.arange(len(owners)) - starts], axis=1).astype(np.int32)


def shuffled(count: int) -> Any:
    """(count,) the official shuffle of so many goals: Python's own, with seed 233."""
    order = list(range(count))
    random.Random(GOAL_SHUFFLE_SEED).shuffle(order)
    return np.array(order, np.int32)


def _save_groups(folder: Path, name: str, members: dict[str, Any]) -> None:
    names = sorted(members)
    counts = np.array([len(members[value]) for value in names], np.int64)
    (folder / f"groups_{name}.json").write_bytes(orjson.dumps(names))
    np.save(folder / f"groups_{name}_starts.npy", np.concatenate([[0], np.cumsum(counts)]))
    joined = [np.array(members[value], np.int32) for value in names]
    np.save(folder / f"groups_{name}_members.npy", np.concatenate([*joined, np.empty(0, np.int32)]).astype(np.int32))


def _write_products(
    products: Iterator[tuple[int, Product]], records: BinaryIO, titles: BinaryIO, tables: _Tables, progress: Progress
) -> str:
    """Write the records; returns the digest of all of them."""
    sha = hashlib.sha256(f"format {FORMAT}\n".encode())
    for number, product in products:
        record = orjson.dumps(product.to_json())
        records.write(record)
        titles.write(product.title.encode())
        sha.update(record)
        tables.add(number, product, len(record))
        progress("products", len(tables.asins))
    return sha.hexdigest()[:16]
