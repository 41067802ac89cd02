"""A server that speaks the protocol of OpenAI, and does wrong what it is told to."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from llm_gym.extras import installed
from llm_gym.llm import Message, OpenAICompatible, Request


@dataclass
class Reply:
    """What the server does with one question."""

    body: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    """End the connection after so many bytes."""
    wait_s: float = 0.0
    """Before the first byte, and again before each tenth of the body where it drips."""
    drips: bool = False


def chat_answer(text: str | None = "fine", *, finish: str = "stop", **message: object) -> dict[str, Any]:
    """A sound answer: 12 tokens read, 5 written."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "small-2026",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
    }


class ChatServer(ThreadingHTTPServer):
    """A server on this machine.

    Attributes:
        script: replies to the next questions, one each; `usual` when it is empty.
        asked: path, headers (in small letters) and body of every question so far.
        most_at_once: the largest number of questions that were there at the same moment.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Question)
        self.usual = Reply(chat_answer())
        self.script: list[Reply] = []
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.most_at_once = self._now = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next(self, body: object, status: int = 200, **how: Any) -> ChatServer:
        """One more reply of the script."""
        self.script.append(Reply(body, status, **how))
        return self

    def client(self, **settings: Any) -> OpenAICompatible:
        return OpenAICompatible("small", self.url, **{"key_variable": None, "timeout_s": 10, **settings})

    def take(self, path: str, headers: dict[str, str], body: Any) -> Reply:
        with self._lock:
            self.asked.append((path, headers, body))
            return self.script.pop(0) if self.script else self.usual

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        yield
        with self._lock:
            self._now -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no problem of the server."""


class _Question(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.here():
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._give(self.server.take(self.path, headers, body))

    def _give(self, reply: Reply) -> None:
        time.sleep(reply.wait_s)
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        part = len(content) // 10 + 1 if reply.drips else len(content) or 1
        for start in range(0, len(content[: reply.cut]), part):
            self.wfile.write(content[: reply.cut][start : start + part])
            self.wfile.flush()
            time.sleep(reply.wait_s if reply.drips else 0)

    def log_message(self, *what: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    if not installed("openai"):
        pytest.skip("the extra llm is not installed")
    with ChatServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def answer() -> Callable[..., dict[str, Any]]:
    """The JSON of a sound answer."""
    return chat_answer


@pytest.fixture
def question() -> Callable[..., Request]:
    """A request of one message."""
    return lambda text="How are you?", **settings: Request((Message("user", text),), **settings)
