"""Fixtures of the whole suite."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.alfworld.build import build_store
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.wording import CURRENT, Wording


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of official data; tests that need it are skipped when the variable is not set."""
    chosen = os.environ.get(DATA_VARIABLE)
    if not chosen:
        pytest.skip(f"{DATA_VARIABLE} is not set: the official files are not here")
    return Path(chosen)


@pytest.fixture(scope="session")
def webshop_folder(data_folder: Path) -> Path:
    return data_folder / "webshop"


@pytest.fixture(scope="session")
def alfworld_folder(data_folder: Path) -> Path:
    return data_folder / "alfworld"


@pytest.fixture(scope="session")
def official_store(alfworld_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> GameStore:
    """The games of release 2.1.3 of ALFWorld, of the current wording; built once, in about 15 seconds."""
    target = tmp_path_factory.mktemp("games") / "official"
    return build_store(alfworld_folder / "games_v2.1.3_tw-pddl.tar.xz", target)


@pytest.fixture(scope="session")
def original_store(alfworld_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> GameStore:
    """The games of release 2.1.1 of ALFWorld, of the wording of the papers; built once, in about 15 seconds."""
    target = tmp_path_factory.mktemp("games") / "original"
    return build_store(alfworld_folder / "games_v2.1.1_tw-pddl.tar.xz", target)


@pytest.fixture(scope="session")
def make_env() -> Callable[..., gym.Env[str, str]]:
    """Any registered environment, with its defaults unless settings say otherwise."""
    return _make_env


def _make_env(env_id: str, **settings: Any) -> gym.Env[str, str]:
    with warnings.catch_warnings():
        # Gymnasium calls every version but the newest out of date; here v0 is kept for comparison with the original.
        warnings.filterwarnings("ignore", r".*The environment llm_gym/\w+-v0 is out of date", DeprecationWarning)
        return gym.make(env_id, **settings)


Answer = Callable[["_Request"], object]


class FileServer(ThreadingHTTPServer):
    """A web server on this machine, which does wrong what it is told to.

    Attributes:
        files: path → content.
        script: what to do with the next requests, one each; a good answer when it is empty.
        asked: the path and the headers of every request so far.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.files: dict[str, bytes] = {}
        self.script: list[Answer] = []
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no problem of the server."""


class _Request(BaseHTTPRequestHandler):
    """One request: `good` is the right answer to it, a script may call it with other wishes."""

    server: FileServer

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        (self.server.script.pop(0) if self.server.script else _Request.good)(self)

    def good(self, *, cut: int | None = None, ranges: bool = True, marked: bool = True, **told: object) -> None:
        """The file, or the rest of it.

        Args:
            cut: end the connection after so many bytes of the body.
            ranges: False sends the whole file whatever is wanted.
            marked: False says nothing by which a changed file could be known.
            told: headers that say something else than the truth.
        """
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        tag = f'"{hashlib.sha256(content).hexdigest()[:8]}"'
        wanted = self.headers.get("Range", "").removeprefix("bytes=").rstrip("-")
        start = int(wanted) if wanted and ranges and self.headers.get("If-Range", tag) == tag else 0
        if start >= len(content) > 0:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        headers = {"Content-Length": len(content) - start}
        headers |= {"ETag": tag} if marked else {}
        headers |= {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        for name, value in (headers | {name.replace("_", "-"): value for name, value in told.items()}).items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content[start:][:cut])

    def log_message(self, *what: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def file_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FileServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


SMALL_PROBLEM = """
(define (problem Small)
 (:domain alfred)
 (:objects loc_bar_1 - location)
 (:init
   (atLocation agent1 loc_bar_1)
   (receptacleType Shelf_bar_1 ShelfType) (receptacleAtLocation Shelf_bar_1 loc_bar_1)
   (receptacleType Desk_bar_1 DeskType) (receptacleAtLocation Desk_bar_1 loc_bar_2) (openable Desk_bar_1)
   (objectType Mug_bar_1 MugType) (inReceptacle Mug_bar_1 Desk_bar_1) (objectAtLocation Mug_bar_1 loc_bar_2)
   (pickupable Mug_bar_1) (canContain ShelfType MugType) (canContain DeskType MugType)
 )
 (:goal (exists (?r - receptacle) (exists (?o - object)
   (and (inreceptacle ?o ?r) (objectType ?o MugType) (receptacleType ?r ShelfType)))))
)
"""
SMALL_GRAMMAR = 'grammar :: """ {"task": [{"rhs": "Your task is to: %s"}], "feedback": [{"rhs": "%s"}]} """'
SMALL_SENTENCES = {
    "current": "You arrive at {r.name}. #examineReceptacle.feedback# You move the {o.name} to the {r.name}.",
    "original": "You arrive at {lend.name}. #examineReceptacle.feedback# You put the {o.name} in/on the {r.name}.",
}


def _game_file(
    goal: str = "put a mug in shelf.",
    wording: Wording = CURRENT,
    solvable: bool | None = True,
    walkthrough: Sequence[str] | None = ("look",),
    problem: str = SMALL_PROBLEM,
) -> bytes:
    sentences = SMALL_SENTENCES[wording.name] + " You open the {r.name}. #examineReceptacle.feedback#"
    data: dict[str, object] = {"grammar": SMALL_GRAMMAR % (goal, sentences), "pddl_problem": problem}
    given = {"solvable": solvable, "walkthrough": walkthrough}
    return json.dumps(data | {key: value for key, value in given.items() if value is not None}).encode()


@pytest.fixture(scope="session")
def game_file() -> Callable[..., bytes]:
    """The bytes of a small `game.tw-pddl`; None leaves a key out."""
    return _game_file
