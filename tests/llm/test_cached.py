"""Answers on disk: what tells questions apart, several processes, kills, damage."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from llm_gym.core import Usage
from llm_gym.errors import DataError, EndpointDown
from llm_gym.llm import Cached, Completion, Counted, Message, Request, ScriptedClient, Tool, ToolCall
from llm_gym.llm.cached import write_answer
from llm_gym.llm.key import answer_key

SHARED = """
import sys, time
from llm_gym.llm import Cached, Message, Request, ScriptedClient

mine, folder = sys.argv[1:]
asked = []

def slow(request):
    asked.append(request)
    time.sleep(0.002)
    return f"{mine} {request.messages[0].content}"

client = Cached(ScriptedClient(slow, "shared"), folder)
for number in range(60):
    print(client.complete(Request((Message("user", str(number)),))).text)
print(len(asked), client.hits, client.misses, file=sys.stderr)
"""
WRITER = """
import sys
from llm_gym.llm import Cached, Message, Request, ScriptedClient

def long_answer(request):
    return request.messages[0].content * 20_000

client = Cached(ScriptedClient(long_answer), sys.argv[1])
print("ready", flush=True)
for number in range(100_000):
    client.complete(Request((Message("user", str(number)),)))
"""


def long_answer(request: Request) -> str:
    """Has the name of the writer's function, and so its settings."""
    return "asked again"


def names(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


def test_an_answer_is_kept_whole_and_says_that_it_was_kept(tmp_path: Path, question: Any) -> None:
    answer = Completion('né "x"\n', Usage(3, 4, 0.25), (ToolCall("f", "{", "1"),), "tool_calls", "m-1")
    client = Cached(ScriptedClient([answer]), tmp_path)
    assert client.complete(question()) == answer
    assert client.complete(question()) == replace(answer, cached=True)
    assert (client.hits, client.misses) == (1, 1)


BASE = Request((Message("user", "a"),), 0.5, 7, ("x",), {"type": "object"}, (Tool("t", "d", {"a": 1}),), 1)
OTHERS = [
    replace(BASE, messages=(Message("user", "b"),)),
    replace(BASE, messages=(Message("system", "a"),)),
    replace(BASE, messages=(Message("user", "a", tool_call_id="1"),)),
    replace(BASE, messages=(Message("user", "a", (ToolCall("f", "{}"),)),)),
    replace(BASE, temperature=0.6),
    replace(BASE, max_tokens=None),
    replace(BASE, stop=()),
    replace(BASE, schema=None),
    replace(BASE, schema={"type": "array"}),
    replace(BASE, tools=()),
    replace(BASE, seed=2),
    replace(BASE, seed=None),
]


def test_everything_in_a_request_tells_it_from_others() -> None:
    keys = {answer_key({"model": "m"}, request) for request in [BASE, *OTHERS]}
    assert len(keys) == 1 + len(OTHERS)
    assert answer_key({"model": "n"}, BASE) not in keys


def test_equal_requests_have_one_key_however_they_are_written() -> None:
    same = replace(BASE, schema=MappingProxyType({"type": "object"}))
    assert answer_key({"a": 1, "b": 2}, BASE) == answer_key({"b": 2, "a": 1}, same)


def test_errors_are_not_kept(tmp_path: Path, question: Any) -> None:
    client = Cached(ScriptedClient([EndpointDown("no"), "yes"]), tmp_path)
    with pytest.raises(EndpointDown):
        client.complete(question())
    assert client.complete(question()).text == "yes"


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"\x00" * 300, b"[]", b"null", b'{"text": 1}', b"[" * 100_000, b"\xff"],
    ids=["empty", "cut", "zeros", "list", "null", "fields", "deep", "no text"],
)
def test_a_damaged_answer_is_asked_for_again_and_mended(tmp_path: Path, question: Any, damage: bytes) -> None:
    client = Cached(ScriptedClient(["one", "two"]), tmp_path)
    client.complete(question())
    [file] = names(tmp_path)
    file.write_bytes(damage)
    assert client.complete(question()).text == "two"
    assert client.complete(question()).text == "two"


@pytest.mark.parametrize(
    ("old", "new"), [('"one"', "1"), ('"stop"', '"end"'), ("null", '"free"'), ('"prompt_tokens": 9', '"x": 9')]
)
def test_an_answer_with_a_wrong_field_is_asked_for_again(tmp_path: Path, question: Any, old: str, new: str) -> None:
    client = Cached(ScriptedClient([Completion("one", Usage(9, 1)), "two"]), tmp_path)
    client.complete(question())
    [file] = names(tmp_path)
    content = file.read_text()
    assert old in content
    file.write_text(content.replace(old, new))
    assert client.complete(question()).text == "two"


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path: Path, question: Any) -> None:
    (tmp_path / "file").write_text("")
    script = ScriptedClient(["one"])
    with pytest.raises(DataError, match=r"cache of answers .* cannot be written"):
        Cached(script, tmp_path / "file").complete(question())
    assert script.complete(question()).text == "one"


def test_threads_share_a_folder(tmp_path: Path, question: Any) -> None:
    client = Cached(ScriptedClient(lambda request: request.messages[0].content), tmp_path)
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda n: client.complete(question(str(n % 10))).text, range(200)))
    assert given == [str(n % 10) for n in range(200)]
    assert client.hits + client.misses == 200
    assert len(names(tmp_path)) == 10


def test_two_processes_that_share_a_folder_get_the_same_answers(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHARED]
    started = [
        subprocess.Popen([*command, mine, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for mine in ("left", "right")
    ]
    (left, told_left), (right, told_right) = [process.communicate(timeout=60) for process in started]
    assert left == right
    assert [line.split()[1] for line in left.splitlines()] == [str(number) for number in range(60)]
    assert len(names(tmp_path)) == 60
    for told in (told_left, told_right):
        asked, hits, misses = map(int, told.split())
        assert (asked, hits + misses) == (misses, 60)


def test_the_first_answer_that_is_written_is_everybodys(tmp_path: Path, question: Any) -> None:
    def answer_while_another_does(request: Request) -> str:
        key = answer_key(client.settings(), request)
        write_answer(tmp_path / key[:2] / f"{key}.json", Completion("theirs"))
        return "mine"

    client = Cached(ScriptedClient(answer_while_another_does), tmp_path)
    assert client.complete(question()) == Completion("theirs")
    assert client.complete(question()) == Completion("theirs", cached=True)


def test_a_kill_leaves_no_half_of_an_answer(tmp_path: Path, question: Any) -> None:
    for wait_s in (0.05, 0.11):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        before = len(names(tmp_path))
        while len(names(tmp_path)) < before + 3:
            time.sleep(0.005)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    written = len(names(tmp_path))
    assert written >= 6
    client = Cached(ScriptedClient(long_answer), tmp_path)
    given = [client.complete(question(str(number))).text for number in range(written)]
    assert given == [str(number) * 20_000 for number in range(written)]
    assert client.hits == written


def test_what_is_kept_costs_nothing_again(tmp_path: Path, question: Any) -> None:
    answers = [Completion("a", Usage(1_000_000, 0))]
    inner = Counted(ScriptedClient(answers, "gpt-4o"))
    outer = Counted(Cached(inner, tmp_path))
    assert [outer.complete(question()).usage.cost_usd for _ in range(3)] == [2.5, 2.5, 2.5]
    assert (outer.totals.cost_usd, outer.totals.answers, outer.totals.cached) == (2.5, 1, 2)
    assert inner.totals.answers == 1
