"""Ranking, and the index in memory and in a folder."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from llm_gym.envs.webshop.search.bm25 import BM25, best
from llm_gym.envs.webshop.search.index import Index, build_index
from llm_gym.envs.webshop.search.index_builder import IndexBuilder
from llm_gym.envs.webshop.search.storage import MemoryStorage
from llm_gym.errors import DataError, DataMismatch, MissingData

SHOP = [
    ("B3", "red shoes red shoes"),
    ("B1", "red shoes for running, blue laces"),
    ("B2", "blue shoes for running, blue laces"),
    ("B4", "a tea pot"),
    ("B5", "the"),
]


@pytest.fixture
def engine() -> BM25:
    return BM25.in_memory(SHOP)


def test_a_document_with_more_of_the_query_comes_first(engine: BM25) -> None:
    assert engine.search("red running shoe") == ["B1", "B3", "B2"]


def test_equal_scores_are_ordered_by_id() -> None:
    assert BM25.in_memory([("B2", "tea"), ("B10", "tea"), ("B1", "tea")]).search("tea") == ["B1", "B10", "B2"]


def test_a_repeated_word_weighs_more(engine: BM25) -> None:
    assert engine.search("pot red", 1) == ["B4"]
    assert engine.search("pot red red red", 1) == ["B3"]


@pytest.mark.parametrize("query", ["", " ", "the and", "unknown", "!?"])
def test_a_query_without_a_known_term_finds_nothing(engine: BM25, query: str) -> None:
    assert engine.search(query) == []


def test_k_limits_the_answer(engine: BM25) -> None:
    assert engine.search("shoes", 2) == engine.search("shoes")[:2]
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        engine.search("shoes", 0)


def test_an_empty_catalogue_finds_nothing(tmp_path: Path) -> None:
    build_index([], tmp_path / "index", digest="")
    assert BM25.open(tmp_path / "index").search("shoes") == []


def test_a_folder_answers_as_memory_does(engine: BM25, tmp_path: Path) -> None:
    counts: list[int] = []
    build_index(SHOP, tmp_path / "index", digest="shop", progress=counts.append)
    opened = BM25.open(tmp_path / "index", expect_digest="shop")
    assert counts == [1, 2, 3, 4, 5]
    assert (len(opened), opened.digest) == (5, "shop")
    for query in ("red shoes", "blue", "tea pot red red red"):
        assert opened.search(query) == engine.search(query)


def test_order_of_arrival_leaves_no_trace(tmp_path: Path) -> None:
    build_index(SHOP, tmp_path / "one", digest="shop")
    build_index(SHOP[::-1], tmp_path / "other", digest="shop")
    files = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert [(tmp_path / "one" / name).read_bytes() for name in files] == [
        (tmp_path / "other" / name).read_bytes() for name in files
    ]


def test_the_size_of_runs_leaves_no_trace() -> None:
    generator = random.Random(0)
    words = ["red", "blue", "tea", "pot", "shoe", "lamp"]
    texts = [(f"B{number}", " ".join(generator.choices(words, k=9))) for number in range(40)]
    arrays = []
    for run_postings in (1, 7, 10_000):
        storage = MemoryStorage()
        builder = IndexBuilder(storage, run_postings=run_postings)
        for document_id, text in texts:
            builder.add(document_id, text)
        builder.finish()
        arrays.append({name: array.tolist() for name, array in storage.arrays.items()})
    assert arrays[0] == arrays[1] == arrays[2]


def test_an_index_of_another_catalogue_is_refused(tmp_path: Path) -> None:
    build_index(SHOP, tmp_path / "index", digest="old")
    with pytest.raises(DataMismatch, match="'old', not from 'new'"):
        BM25.open(tmp_path / "index", expect_digest="new")


def test_a_missing_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="nowhere"):
        BM25.open(tmp_path / "nowhere")


ARRAYS = ["documents", "frequencies", "id_starts", "id_text", "impacts", "length_codes", "norms", "posting_starts"]


@pytest.mark.parametrize("name", [*ARRAYS, "term_starts", "term_text"])
def test_a_missing_or_truncated_file_is_named(name: str, tmp_path: Path) -> None:
    build_index(SHOP, tmp_path / "index", digest="")
    file = tmp_path / "index" / f"{name}.npy"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DataError, match=f"{name}.npy"):
        Index.open(tmp_path / "index")
    file.unlink()
    with pytest.raises(MissingData, match=f"{name}.npy"):
        Index.open(tmp_path / "index")


@pytest.mark.parametrize("content", ["", "[]", "{}", json.dumps({"format": 0})])
def test_a_damaged_header_is_named(content: str, tmp_path: Path) -> None:
    build_index(SHOP, tmp_path / "index", digest="")
    (tmp_path / "index" / "index.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"index\.json"):
        Index.open(tmp_path / "index")


def test_two_documents_of_one_id_are_refused() -> None:
    with pytest.raises(DataError, match="'B1'"):
        BM25.in_memory([("B1", "red"), ("B1", "blue")])


def test_a_build_that_fails_leaves_the_old_index(tmp_path: Path) -> None:
    build_index(SHOP, tmp_path / "index", digest="old")

    def broken() -> Iterator[tuple[str, str]]:
        yield SHOP[0]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        build_index(broken(), tmp_path / "index", digest="new")
    assert [file.name for file in tmp_path.iterdir()] == ["index"]
    assert BM25.open(tmp_path / "index").digest == "old"


def test_a_build_replaces_the_old_index(tmp_path: Path) -> None:
    build_index(SHOP, tmp_path / "index", digest="old")
    build_index(SHOP[:2], tmp_path / "index", digest="new")
    assert [file.name for file in tmp_path.iterdir()] == ["index"]
    assert BM25.open(tmp_path / "index", expect_digest="new").search("tea") == []


@given(npst.arrays(np.float32, st.integers(0, 300), elements=st.integers(0, 20)), st.integers(1, 60))
def test_best_is_a_stable_sort_of_the_positive_scores(scores: np.ndarray, k: int) -> None:
    expected = [position for position in sorted(range(len(scores)), key=lambda i: -scores[i]) if scores[position] > 0]
    assert best(scores, k).tolist() == expected[:k]


@pytest.mark.parametrize("levels", [3, 50, 1_000_000])
def test_best_of_many_scores_misses_none(levels: int) -> None:
    scores = np.random.default_rng(levels).integers(0, levels, 20_011).astype(np.float32)
    assert best(scores, 50).tolist() == np.argsort(-scores, kind="stable")[:50].tolist()
