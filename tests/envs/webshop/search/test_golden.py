"""The ranking of the original server, recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llm_gym.envs.webshop.search.bm25 import BM25

Documents = list[tuple[str, str]]


@pytest.mark.data
def test_recorded_searches_of_the_original_are_reproduced(documents: Documents, webshop_folder: Path) -> None:
    engine = BM25.in_memory(documents)
    with (webshop_folder / "golden_search_top10.jsonl").open(encoding="utf-8") as lines:
        golden = [json.loads(line) for line in lines]
    found = [engine.search(record["query"]) for record in golden]
    assert [(ids[:10], len(ids)) for ids in found] == [(record["top10"], record["total_results"]) for record in golden]
