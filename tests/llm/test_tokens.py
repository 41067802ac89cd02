"""Tokens are counted as the model does where that is possible, and estimated where not; never by a download."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.extras import installed
from llm_gym.llm import Message, ToolCall, count_tokens
from llm_gym.llm.tokens import ESTIMATE, count_text, counter_name, text_counter


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No data of tiktoken, and no network."""

    def refuse(*given: Any, **named: Any) -> None:
        raise AssertionError("something is looked up in the network")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    counter_name.cache_clear()
    text_counter.cache_clear()
    yield
    counter_name.cache_clear()
    text_counter.cache_clear()


@pytest.fixture
def tiktoken_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of encodings that the package llama-index-core brings."""
    found = importlib.util.find_spec("llama_index") if installed("llama_index") and installed("tiktoken") else None
    if found is None:
        pytest.skip("tiktoken or its data (in the package llama-index-core) is not here")
    [folder] = found.submodule_search_locations or []
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(Path(folder) / "core" / "_static" / "tiktoken_cache"))


def test_four_bytes_are_a_token_where_nothing_better_is_known() -> None:
    assert counter_name("gpt-4") == ESTIMATE
    assert [count_text(text, "gpt-4") for text in ("", "abc", "abcd", "abcde", "ééé")] == [0, 1, 1, 2, 2]


def test_a_damaged_file_of_tiktoken_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_bytes(b"IQ== 0\n")
    assert counter_name("gpt-4") == ESTIMATE


def test_a_conversation_has_tokens_around_its_messages() -> None:
    # 3 for all; each 3 + role + text: 3 + 2 + 1, 3 + 3 + 0 + name 1 + arguments 2
    talk = [Message("system", "abcd"), Message("assistant", "", (ToolCall("click", '{"a": 1}', "c1"),))]
    assert count_tokens(talk, "any") == 3 + (3 + 2 + 1) + (3 + 3 + 0 + 2 + 2)
    assert count_tokens([], "any") == 0


@given(st.text(max_size=50), st.text(max_size=50))
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    count = text_counter(ESTIMATE)
    assert max(count(one), count(other)) <= count(one + other) <= count(one) + count(other)


@pytest.mark.usefixtures("tiktoken_data")
def test_tokens_are_those_of_the_model_where_its_data_is_there() -> None:
    assert (counter_name("gpt-3.5-turbo"), counter_name("gpt-4o")) == ("cl100k_base", "o200k_base")
    assert counter_name("vicuna-13b") == ESTIMATE
    # The examples of OpenAI's cookbook on counting tokens.
    assert count_text("tiktoken is great!", "gpt-4") == 6
    assert count_text("antidisestablishmentarianism", "gpt-3.5-turbo") == 6
    assert count_text("2 + 2 = 4", "gpt-4") == 7
    assert count_tokens([Message("user", "tiktoken is great!")], "gpt-4") == 3 + 3 + 1 + 6


@pytest.mark.usefixtures("tiktoken_data")
def test_what_looks_like_a_special_token_is_text() -> None:
    assert count_text("<|endoftext|>", "gpt-4") > 1
