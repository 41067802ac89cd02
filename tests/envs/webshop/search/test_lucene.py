"""Our tokens and rankings are Lucene's: over the real documents and instructions, and over odd text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_gym.envs.webshop.env import WebShop
from llm_gym.envs.webshop.search.bm25 import BM25
from llm_gym.envs.webshop.search.lucene import LuceneEngine, lucene_terms
from llm_gym.envs.webshop.search.tokens import analyze
from llm_gym.envs.webshop.search.word_break_classes import RANGES
from llm_gym.errors import MissingData

Documents = list[tuple[str, str]]

pytestmark = [pytest.mark.lucene, pytest.mark.usefixtures("_lucene_packages")]


@pytest.fixture(scope="module")
def lucene(documents: Documents, lucene_folder: Path) -> LuceneEngine:
    return LuceneEngine.build(documents, lucene_folder, digest="official")


@pytest.fixture(scope="module")
def engine(documents: Documents) -> BM25:
    return BM25.in_memory(documents)


@pytest.mark.data
def test_terms_of_every_document_are_lucenes(documents: Documents) -> None:
    differing = [document_id for document_id, text in documents if analyze(text) != lucene_terms(text)]
    assert differing == []


@pytest.mark.data
def test_top_50_of_every_instruction_is_lucenes(engine: BM25, lucene: LuceneEngine, instructions: list[str]) -> None:
    differing = [query for query in instructions if engine.search(query) != lucene.search(query)]
    assert differing == []


@pytest.mark.data
def test_repeated_words_weigh_as_in_lucene(engine: BM25, lucene: LuceneEngine, instructions: list[str]) -> None:
    queries = [f"{query} {query} {query.split()[-1]}" for query in instructions[:200]]
    assert [engine.search(query) for query in queries] == [lucene.search(query) for query in queries]


@pytest.mark.data
@pytest.mark.parametrize("query", ["", "the and", "zzzyx", "!"])
def test_lucene_too_finds_nothing_without_a_known_term(lucene: LuceneEngine, query: str) -> None:
    assert lucene.search(query) == []


@pytest.mark.data
def test_lucene_keeps_the_digest(lucene: LuceneEngine, lucene_folder: Path) -> None:
    assert lucene.digest == LuceneEngine.open(lucene_folder).digest == "official"


def test_a_missing_lucene_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="nowhere"):
        LuceneEngine.open(tmp_path / "nowhere")


def _ends_of_ranges(kind: str) -> list[str]:
    """First and last characters of the ranges of a class."""
    return [chr(int(end, 16)) for part in RANGES[kind].split() for end in part.split("-")]


_NEIGHBOURS = [chr(ord(character) + 1) for kind in RANGES for character in _ends_of_ranges(kind)]
_ODD_TEXT = st.text(
    alphabet=st.one_of(
        *(st.sampled_from(_ends_of_ranges(kind)) for kind in RANGES),
        st.sampled_from([character for character in _NEIGHBOURS if not "\ud800" <= character <= "\udfff"]),
        st.sampled_from(" .-%aZ9_'’sΣİ"),
    ),
    max_size=15,
)


@given(_ODD_TEXT)
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_terms_of_odd_text_are_lucenes(text: str) -> None:
    assert analyze(text) == lucene_terms(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 600,
        "_" * 300 + "abc",
        "a" * 254 + "'s",
        "\U00010400" * 200 + "b",
        "a." * 300,
        "1," * 300,
        "é" * 256 + "'s x",
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_long_words_are_cut_as_lucene_cuts_them(text: str) -> None:
    assert analyze(text) == lucene_terms(text)


def test_a_shop_with_lucene_shows_the_pages_of_a_shop_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ours, theirs = WebShop(), WebShop(search_engine="lucene")
    for task in ours.panel[:20]:
        pages = []
        for env in (ours, theirs):
            env.reset(options={"task": task})
            pages.append((env.step(f"search[{env.goal.instruction}]")[0], env.step("click[next >]")[0]))
        assert pages[0] == pages[1]
