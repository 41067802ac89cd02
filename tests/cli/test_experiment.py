"""`llm-gym experiment`: a whole table without network, killed and resumed, in one process and in two."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from llm_gym.cli.terminal import FAILED, INTERRUPTED, OK, WRONG
from llm_gym.extras import installed

Run = Callable[..., Any]
TABLE = ("opinions-webshop", "--tasks", "10")
CELLS = ("rule", "expert", "scripted-alone", "scripted-1-opinion", "scripted-5-opinions", "scripted-random-opinion")


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All that the same experiment has to write in the same way."""
    names = ("report.md", *(f"runs/{cell}/episodes.jsonl" for cell in CELLS))
    return {name: (folder / name).read_bytes() for name in names}


def calls(folder: Path) -> int:
    return (folder / "calls.jsonl").read_bytes().count(b"\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished experiment."""
    folder = tmp_path_factory.mktemp("whole") / "table"
    command = [sys.executable, "-m", "llm_gym", "experiment", *TABLE, "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "PUBLISHED, not measured here" in done.stdout
    return folder


def test_the_table_has_every_row_with_intervals_and_the_published_numbers_beside_it(whole: Path) -> None:
    text = (whole / "report.md").read_text()
    for cell in ("rule", "expert", "scripted alone", "scripted + 1 opinion", "scripted + random opinion"):
        assert f"\n| {cell} | 0." in text or f"\n| {cell} | 1." in text
    assert "| Auto-GPT (GPT-4) + IL (top 5) | 0.320 | 61.550 | 0.372 | 0.860 |" in text
    assert "## PUBLISHED, not measured here" in text
    assert "sampled-opinions, not repeated" in text
    assert "| scripted alone | authors |" in text


def test_the_same_command_again_asks_nothing_and_writes_the_same(run: Run, whole: Path) -> None:
    before, asked = bytes_of(whole), calls(whole)
    ran = run("experiment", *TABLE, "--out", str(whole))
    assert ran.code == OK
    assert "0 calls now" in ran.err
    assert (bytes_of(whole), calls(whole)) == (before, asked)
    assert "scripted + 5 opinions" in ran.out


@pytest.mark.parametrize("how", [("--jobs", "2"), ("--concurrency", "3")])
def test_processes_and_threads_share_the_answers_and_change_nothing(
    run: Run, whole: Path, tmp_path: Path, how: tuple[str, ...]
) -> None:
    assert run("experiment", *TABLE, *how, "--out", str(tmp_path / "table")).code == OK
    assert bytes_of(tmp_path / "table") == bytes_of(whole)
    assert calls(tmp_path / "table") == calls(whole)


def test_an_experiment_that_is_killed_goes_on_to_the_same_bytes(run: Run, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    command = [sys.executable, "-m", "llm_gym", "experiment", *TABLE, "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(folder / "runs" / "scripted-alone" / "episodes.jsonl")
        os.kill(process.pid, signal.SIGKILL)
    assert not (folder / "report.md").exists()
    assert run("experiment", *TABLE, "--out", str(folder)).code == OK
    assert bytes_of(folder) == bytes_of(whole)
    assert calls(folder) in (calls(whole), calls(whole) + 1)  # an answer may be lost between the payment and the cache


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if file.exists() and file.read_bytes().count(b"\n") >= 2:
            return
        time.sleep(0.005)
    raise AssertionError("the experiment did not begin")


def test_the_house_with_every_accident(run: Run, tmp_path: Path) -> None:
    words = ("experiment", "opinions-alfworld", "-n", "2", "--preset", "paper", "--out", str(tmp_path / "table"))
    ran = run(*words)
    assert ran.code == OK
    assert "llm_gym/ALFWorld-v0" in ran.out
    assert ran.out.count(", REPEATED: ") == 4
    assert "The model was asked once more after the end" in ran.out


def test_the_shop_with_every_accident_that_an_invented_catalogue_has(run: Run, tmp_path: Path) -> None:
    names = (
        *("original-world", "asin-names", "sampled-opinions", "random-clicks"),
        "silent-after-error",
        "asked-after-end",
    )
    accidents = [word for name in names for word in ("--accident", name)]
    ran = run("experiment", "opinions-webshop", "-n", "2", *accidents, "--out", str(tmp_path / "table"))
    assert ran.code == OK
    assert "llm_gym/WebShop-v0" in ran.out
    assert ran.out.count(", REPEATED: ") == 6


def test_a_dry_run_asks_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    words = ("--model", "scripted", "--model", "gpt-4o-mini", "--model", "unheard-of")
    ran = run("experiment", *TABLE, *words, "--dry-run", "--out", str(tmp_path / "table"))
    assert ran.code == OK
    assert "14 rows of 10 tasks; 12 of them ask a model" in ran.out
    assert "unknown" in ran.out
    assert "Nothing was asked" in ran.err
    assert not (tmp_path / "table").exists()


def test_agents_and_experts_can_be_chosen(run: Run, tmp_path: Path) -> None:
    chosen = ("--agent", "react", "--agent-set", "history=4", "--expert", "first-hit", "--set", "split=dev")
    ran = run("experiment", "opinions-webshop", "-n", "2", *chosen, "--out", str(tmp_path / "table"))
    assert ran.code == OK
    assert "panel dev" in ran.out
    assert "agent react · history 4 · expert FirstHitPolicy()" in ran.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("opinions-webshop",), "--out DIR is needed"),
        ((*TABLE, "--out", "x", "--accident", "clumsy"), "Unknown accident 'clumsy'"),
        ((*TABLE, "--out", "x", "--preset", "paper"), "--set catalogue=DIR"),
        ((*TABLE, "--out", "x", "--agent", "rule"), "--agent rule asks no model"),
        ((*TABLE, "--out", "x", "--agent", "autogtp"), "Did you mean 'autogpt'"),
        ((*TABLE, "--out", "x", "--expert", "lexicla"), "Did you mean 'lexical'"),
        ((*TABLE, "--out", "x", "--expert-set", "read=1"), "--expert-set needs --expert"),
        ((*TABLE, "--out", "x", "--agent-set", "step_limit=5"), "step_limit is no choice here"),
        ((*TABLE, "--out", "x", "--agent-set", "histroy=5"), "Did you mean 'history'"),
        ((*TABLE, "--out", "x", "--set", "splt=dev"), "Did you mean 'split'"),
        (("opinions-webshop", "-n", "0", "--out", "x"), "-n must be 1 or more"),
        ((*TABLE, "--out", "x", "--budget-usd", "1", "--model", "unheard-of", "--no-key"), "price of 'unheard-of'"),
        ((*TABLE, "--out", "x", "--model", "a", "--model", "a"), "models of different names"),
        (("opinions-alfworld", "-n", "999", "--out", "x"), "134 tasks"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("experiment", *words)
    assert ran.code == WRONG
    assert sentence in ran.err
    assert "Traceback" not in ran.err


FINISH = json.dumps({"thoughts": {"text": "Enough."}, "command": {"name": "finish", "args": {"response": "done"}}})
ANSWER = {
    "model": "good",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": FINISH}}],
    "usage": {"prompt_tokens": 1_000, "completion_tokens": 100},
}
REFUSAL = {"error": {"message": "The model does not exist.", "code": "model_not_found"}}


class _Endpoint(BaseHTTPRequestHandler):
    """Knows a model `good`, which ends every episode at once, and no other."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, answer = (200, ANSWER) if asked["model"] == "good" else (404, REFUSAL)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *what: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def asks(run: Run, tmp_path: Path) -> Callable[..., str]:
    """What is said when a model is asked that cannot answer; the rows before it are kept."""
    if not (installed("openai") and installed("tenacity")):
        pytest.skip("the extra llm is not installed")

    def ask(*words: str) -> str:
        ran = run("experiment", "opinions-webshop", "-n", "2", "--model", "small", *words, "--out", str(tmp_path / "t"))
        assert ran.code == WRONG
        assert "2 of 6 rows are finished" in ran.err
        assert "To go on:" in ran.err
        assert (tmp_path / "t" / "runs" / "expert" / "episodes.jsonl").read_text().count("\n") == 2
        return str(ran.err)

    return ask


def test_a_model_behind_an_endpoint_costs_what_its_price_says(run: Run, endpoint: str, tmp_path: Path) -> None:
    if not (installed("openai") and installed("tenacity")):
        pytest.skip("the extra llm is not installed")
    prices = tmp_path / "prices.json"
    prices.write_text('{"date": "2026-01-01", "models": {"good": [3.00, 15.00]}}')
    model = ("--model", "good", "--base-url", endpoint, "--no-key", "--prices", str(prices), "--budget-usd", "1")
    ran = run("experiment", "opinions-webshop", "-n", "3", *model, "--concurrency", "2", "--out", str(tmp_path / "t"))
    assert ran.code == OK
    # $0.0045 a call; 3 for the row alone, 3 for the rows with opinions, whose first questions are the same
    assert "6 calls now; 6 in all, for $0.0270." in ran.err


def test_a_wrong_name_of_a_model(asks: Callable[..., str], endpoint: str) -> None:
    assert "Is 'small' a model of this endpoint?" in asks("--base-url", endpoint, "--no-key")


def test_an_endpoint_that_is_down(asks: Callable[..., str]) -> None:
    began = time.monotonic()
    assert "cannot be reached" in asks("--base-url", "http://127.0.0.1:9/v1", "--no-key")
    assert time.monotonic() - began < 20  # it is not waited for


def test_a_key_that_is_missing(asks: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    assert "SOME_KEY holds no key" in asks("--key-variable", "SOME_KEY")


def test_ctrl_c_tells_how_to_go_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "interrupted_expert.py"
    module.write_text(
        "from llm_gym.policies import Policy\n\n\nclass Interrupted(Policy):\n    name = 'interrupted'\n\n"
        "    def act(self, observation, info):\n        raise KeyboardInterrupt\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    words = ("opinions-webshop", "-n", "2", "--expert", "interrupted_expert:Interrupted", "--out", str(tmp_path / "t"))
    ran = run("experiment", *words, command="llm-gym experiment …")
    assert ran.code == INTERRUPTED
    assert "Interrupted. 1 of 6 rows are finished" in ran.err
    assert "To go on:\n  llm-gym experiment …" in ran.err


def test_episodes_that_end_in_an_error_are_told(run: Run, tmp_path: Path) -> None:
    module = tmp_path / "odd_expert.py"
    module.write_text(
        "from llm_gym.policies import Policy\n\n\nclass Odd(Policy):\n    name = 'odd'\n\n"
        "    def act(self, observation, info):\n        raise KeyError('a drawer')\n"
    )
    command = [sys.executable, "-m", "llm_gym", "experiment", "opinions-alfworld", "-n", "2"]
    done = subprocess.run(
        [*command, "--expert", "odd_expert:Odd", "--out", "table"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == FAILED
    assert "expert: 2 episodes ended in an error; the first: KeyError" in done.stdout
    assert "ExpertFailed" in done.stdout
