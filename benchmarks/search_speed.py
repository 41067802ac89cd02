"""Our search against Lucene's: the same documents, the same queries, taking turns in one process.

    python benchmarks/search_speed.py [--catalogue DIR] [--queries 500]

Prints median wall time of the top 50 of a query, and how many rankings are identical. Needs the extra `lucene`.
"""

from __future__ import annotations

import itertools
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console
from rich.table import Table

from llm_gym.envs.webshop.catalogue import EMBEDDED, Catalogue
from llm_gym.envs.webshop.goals import GOAL_KINDS, goal_count, make_goal
from llm_gym.envs.webshop.search import BM25, LuceneEngine


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    catalogue: str = EMBEDDED
    """"embedded", a folder of official files, or a built store."""
    queries: int = 500
    """So many instructions are searched."""


def main(args: Args) -> None:
    console = Console(width=110)
    catalogue = Catalogue.open(args.catalogue)
    documents = [(product.asin, product.document()) for product in catalogue.store]
    ours = BM25.open(catalogue.store.folder / "index", expect_digest=catalogue.digest)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        lucene = LuceneEngine.build(documents, Path(folder) / "lucene", digest=catalogue.digest)
        queries = instructions(catalogue, args.queries)
        for query in queries[:50]:  # warm up both
            ours.search(query), lucene.search(query)
        pairs = [(timed(ours.search, query), timed(lucene.search, query)) for query in queries]
    same = sum(one[0] == other[0] for one, other in pairs)
    table = Table(title=f"Top 50 of {len(queries)} instructions over {len(documents):,} products", title_justify="left")
    for column in ("ours, ms (median)", "Lucene, ms (median)", "Lucene ÷ ours", "identical rankings"):
        table.add_column(column, justify="right")
    our_ms, lucene_ms = (1000 * statistics.median(pair[side][1] for pair in pairs) for side in (0, 1))
    table.add_row(f"{our_ms:.2f}", f"{lucene_ms:.2f}", f"{lucene_ms / our_ms:.1f}×", f"{same} of {len(pairs)}")
    console.print(table)


def instructions(catalogue: Catalogue, count: int) -> list[str]:
    """Instructions of different products, first of each kind."""
    found = (
        make_goal(product, kind, 0, 50.0).instruction
        for product in catalogue.store
        for kind in GOAL_KINDS
        if goal_count(product, kind)
    )
    return list(itertools.islice(found, count))


def timed(search: Callable[[str], list[str]], query: str) -> tuple[list[str], float]:
    """What a search finds, and its seconds."""
    start = time.perf_counter()
    hits = search(query)
    return hits, time.perf_counter() - start


if __name__ == "__main__":
    main(tyro.cli(Args))
