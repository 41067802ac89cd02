"""Answers that are kept on disk."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from llm_gym.core import Usage
from llm_gym.errors import DataError
from llm_gym.llm.chat import ChatClient, Completion, Finish, Request, ToolCall
from llm_gym.llm.key import answer_key
from llm_gym.llm.layer import Layer
from llm_gym.llm.locks import one_at_a_time


class Cached(Layer):
    """Asks every question once.

    An answer is one file, named by the SHA-256 of the client's settings and of the whole request. It appears whole or
    not at all, so processes and threads may share a folder, and a kill leaves at most a file `*.part` that nobody
    reads. Where two ask the same question at the same moment, the first answer that is written is the answer of both.
    A file that is damaged is asked for again. Errors are not kept.

    Attributes:
        hits: answers that were there.
        misses: answers that were asked for.
    """

    def __init__(self, client: ChatClient, folder: str | Path) -> None:
        super().__init__(client)
        self.folder = Path(folder)
        self.hits = self.misses = 0
        self._lock = one_at_a_time()

    def complete(self, request: Request) -> Completion:
        key = answer_key(self.settings(), request)
        path = self.folder / key[:2] / f"{key}.json"
        kept = read_answer(path)
        with self._lock:
            self.hits += kept is not None
            self.misses += kept is None
        if kept is not None:
            return kept
        with self._writing():  # before anything is paid
            path.parent.mkdir(parents=True, exist_ok=True)
        completion = self.client.complete(request)
        with self._writing():
            write_answer(path, completion)
        first = read_answer(path)
        return completion if first is None else replace(first, cached=False)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(f"The cache of answers {self.folder} cannot be written: {error}.") from error


def read_answer(path: Path) -> Completion | None:
    """The answer in a file; None where there is none, or a damaged one."""
    try:
        return _completion(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write_answer(path: Path, completion: Completion) -> None:
    """Write an answer where there is none, or where a damaged one is."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(completion), file)
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(temporary)  # unlike a replacement, fails where somebody was faster
        except FileExistsError:
            if read_answer(path) is None:
                temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _completion(data: Any) -> Completion:
    """Raises ValueError, TypeError or KeyError where data is no answer."""
    usage = Usage(**data["usage"])
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    texts = [data["text"], data["model"], *(text for call in calls for text in (call.name, call.arguments, call.id))]
    counts = [usage.prompt_tokens, usage.completion_tokens]
    if not all(isinstance(text, str) for text in texts) or not all(type(count) is int for count in counts):
        raise ValueError("a field is of the wrong type")
    if data["finish"] not in get_args(Finish) or not isinstance(usage.cost_usd, float | None):
        raise ValueError("a field has no such value")
    return Completion(data["text"], usage, calls, data["finish"], data["model"], cached=True)
