"""Several episodes at once in one process: the same bytes as one after the other, and nothing shared but clients."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Decision, Info, Usage
from llm_gym.envs.corridor import Corridor
from llm_gym.errors import BudgetExceeded, InvalidSetting, MissingDependency
from llm_gym.evaluation import Evaluation, evaluate
from llm_gym.evaluation.store import RunFolder
from llm_gym.llm import Budgeted, Limited
from llm_gym.llm.chat import ChatClient, Completion, Message, Request
from llm_gym.policies.base import Policy
from llm_gym.policies.uniform import RandomPolicy

Env = gym.Env[str, str]


@pytest.fixture(autouse=True)
def _threads_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def players() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("player ")]


@pytest.mark.parametrize(("jobs", "concurrency"), [(1, 4), (2, 2), (2, 1)])
def test_any_numbers_write_the_same_bytes(
    corridor: Env, odd_policies: ModuleType, tmp_path: Path, jobs: int, concurrency: int
) -> None:
    for policy in (RandomPolicy(), odd_policies.Learner(), odd_policies.Raises()):
        one, many = tmp_path / policy.name / "one", tmp_path / policy.name / "many"
        evaluate(policy, corridor, 20, repeats=2, trials=2, out=one)
        evaluate(policy, corridor, 20, repeats=2, trials=2, jobs=jobs, concurrency=concurrency, out=many)
        for name in ("plan.json", "episodes.jsonl", "failures.jsonl"):
            assert (one / name).read_bytes() == (many / name).read_bytes()


@pytest.mark.parametrize("env_id", ["llm_gym/WebShop-v1", "llm_gym/ALFWorld-v1"])
def test_worlds_in_threads_do_not_disturb_each_other(env_id: str) -> None:
    env = gym.make(env_id, max_episode_steps=15)
    one, many = (evaluate(RandomPolicy(), env, 12, concurrency=concurrency) for concurrency in (1, 6))
    assert one.rows == many.rows


def test_as_many_episodes_are_in_flight_as_was_said(corridor: Env, odd_policies: ModuleType) -> None:
    # Each episode waits for three others: with fewer than four in flight none would ever begin.
    result = evaluate(odd_policies.Together(), corridor, 12, concurrency=4)
    assert result.success == 1.0
    worlds = odd_policies.Together.worlds
    assert len(worlds) == 4
    assert all(len(seen) == 1 for seen in worlds.values())  # each thread keeps its policy and its world …
    policies, environments = zip(*(pair for seen in worlds.values() for pair in seen), strict=True)
    assert len(set(policies)) == len(set(environments)) == 4  # … which no other has
    assert players() == []


def test_processes_have_threads_each(odd_policies: ModuleType, corridor: Env) -> None:
    result = evaluate(odd_policies.Signs(), corridor, 40, jobs=2, concurrency=3)
    signatures = {row["trajectory"][0]["rationale"] for row in result.rows}
    threads = Counter(signature.split()[0] for signature in signatures)
    assert len(threads) <= 2
    assert max(threads.values()) == 3


def test_fewer_attempts_than_threads(corridor: Env) -> None:
    one, many = (evaluate(RandomPolicy(), corridor, 2, concurrency=concurrency) for concurrency in (1, 50))
    assert one.rows == many.rows


def test_the_callers_policy_is_left_as_it_was(corridor: Env, odd_policies: ModuleType) -> None:
    policy = odd_policies.Learner()
    policy.trial = 7
    evaluate(policy, corridor, 4, concurrency=2)
    assert policy.trial == 7


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_in_a_thread_leaves_the_others(corridor: Env, odd_policies: ModuleType, jobs: int) -> None:
    result = evaluate(odd_policies.Raises(), corridor, 12, jobs=jobs, concurrency=4)
    ended = {row["task_id"]: row["ended_by"] for row in result.rows}
    assert ended.pop("corridor-3") == "error"
    assert Counter(ended.values()) == {"task": 11}


def test_a_process_that_dies_costs_what_its_threads_were_playing(corridor: Env, odd_policies: ModuleType) -> None:
    result = evaluate(odd_policies.Dies(), corridor, 20, jobs=2, concurrency=2)
    lost = [row for row in result.rows if row["ended_by"] == "error"]
    assert len(result.rows) == 20
    assert 1 <= len(lost) <= 2
    assert all("exit code 3" in row["error"] for row in lost)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_missing_package_reaches_the_caller(corridor: Env, odd_policies: ModuleType, jobs: int) -> None:
    with pytest.raises(MissingDependency, match=r"llm-gym\[torch\]"):
        evaluate(odd_policies.Lacks(), corridor, 8, jobs=jobs, concurrency=2)


def test_only_the_calling_thread_writes_and_tells(
    corridor: Env, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers, tellers = set(), set()
    append = RunFolder.append

    def noted(folder: RunFolder, attempt: Any) -> None:
        writers.add(threading.get_ident())
        append(folder, attempt)

    monkeypatch.setattr(RunFolder, "append", noted)
    evaluate(
        RandomPolicy(),
        corridor,
        20,
        concurrency=4,
        out=tmp_path,
        progress=lambda row: tellers.add(threading.get_ident()),
    )
    assert writers == tellers == {threading.get_ident()}


# -- what cannot be copied -----------------------------------------------------------------------------------------


def test_a_policy_that_cannot_be_copied_is_refused_before_anything_is_written(
    corridor: Env, odd_policies: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting, match=r"cannot be copied.*lambda.*use jobs=1 and concurrency=1\."):
        evaluate(odd_policies.Unpicklable(), corridor, 2, concurrency=2, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_policy_that_cannot_be_made_again_says_why(corridor: Env, odd_policies: ModuleType) -> None:
    with pytest.raises(InvalidSetting, match=r"no model here.*use jobs=1 and concurrency=1\."):
        evaluate(odd_policies.UnmadeElsewhere(), corridor, 2, concurrency=2)
    assert players() == []


def test_an_environment_that_gymnasium_did_not_make_is_refused(odd_policies: ModuleType) -> None:
    with pytest.raises(InvalidSetting, match=r"not made by gymnasium\.make"):
        evaluate(odd_policies.Reader(), Corridor(), 2, concurrency=2)


# -- stopping ------------------------------------------------------------------------------------------------------


class Held(Policy):
    """From the fourth task on waits until it is let go; counts its decisions there."""

    name = "held"
    go = threading.Event()
    decisions = itertools.count()

    def act(self, observation: str, info: Info) -> Decision:
        if int(info["task_id"].removeprefix("corridor-")) >= 3:
            next(self.decisions)
            self.go.wait(60)
            return Decision("left")
        return Decision(None)


def test_after_an_interruption_no_thread_writes_or_goes_on_asking(corridor: Env, tmp_path: Path) -> None:
    heard: list[str] = []

    def interrupt_at_the_third(row: dict[str, Any]) -> None:
        heard.append(row["task_id"])
        if len(heard) == 3:
            raise KeyboardInterrupt

    Held.go.clear()
    with pytest.raises(KeyboardInterrupt):
        evaluate(Held(), corridor, 20, concurrency=5, out=tmp_path, progress=interrupt_at_the_third)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert ".lock" not in files
    left = players()
    asked = next(Held.decisions)
    Held.go.set()
    for thread in left:
        thread.join(60)
    assert players() == []
    assert next(Held.decisions) == asked + 1  # nobody but this test has counted since
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    assert sorted(row["task_id"] for row in Evaluation.load(tmp_path).rows) == sorted(heard)


class Interrupted(Policy):
    """Is interrupted in the sixth task, as if Ctrl-C had been pressed there."""

    name = "interrupted"

    def act(self, observation: str, info: Info) -> Decision:
        if info["task_id"] == "corridor-5":
            raise KeyboardInterrupt
        return Decision(None)


def test_an_interruption_inside_a_thread_reaches_the_caller(corridor: Env) -> None:
    with pytest.raises(KeyboardInterrupt):
        evaluate(Interrupted(), corridor, 20, concurrency=2)
    assert players() == []


class Unclosable(Corridor):
    def close(self) -> None:
        raise OSError("stuck")


def test_an_environment_that_cannot_be_closed_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    gym.register("Unclosable-v0", Unclosable)
    try:
        assert len(evaluate(RandomPolicy(), gym.make("Unclosable-v0"), 4, concurrency=2).rows) == 4
    finally:
        gym.registry.pop("Unclosable-v0")
    assert caplog.text.count("could not be closed: OSError('stuck')") == 2


# -- clients -------------------------------------------------------------------------------------------------------


class Model:
    """A chat model that walks right, and counts how many questions it is asked at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # cannot be pickled: a copy would be refused
        self.asked = self.most = self._now = 0

    @property
    def model(self) -> str:
        return "walker"

    def settings(self) -> dict[str, Any]:
        return {"client": "walker"}

    def complete(self, request: Request) -> Completion:
        with self.lock:
            self.asked += 1
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.01)
        with self.lock:
            self._now -= 1
        return Completion("right")


class Asks(Policy):
    name = "asks"

    def __init__(self, client: ChatClient) -> None:
        self.client = client
        self.again = client

    def act(self, observation: str, info: Info) -> Decision:
        assert self.again is self.client
        return Decision(self.client.complete(Request((Message("user", observation),))).text)


@pytest.fixture
def short_corridor() -> Env:
    return gym.make("llm_gym/Corridor-v0", max_episode_steps=3)


def test_threads_share_the_limit_of_a_client(short_corridor: Env) -> None:
    free, narrow = Model(), Model()
    evaluate(Asks(free), short_corridor, 12, concurrency=6)
    evaluate(Asks(Limited(narrow, 2)), short_corridor, 12, concurrency=6)
    assert 3 <= free.most <= 6
    assert narrow.most <= 2
    assert free.asked == narrow.asked == 12 * 3


class Dear(Model):
    """Each answer costs ten tokens."""

    def complete(self, request: Request) -> Completion:
        return Completion(super().complete(request).text, Usage(6, 4))


def test_a_budget_is_that_of_all_threads_and_a_run_that_spent_it_resumes(short_corridor: Env, tmp_path: Path) -> None:
    evaluate(Asks(Dear()), short_corridor, 16, out=tmp_path / "whole")
    model = Dear()
    with pytest.raises(BudgetExceeded, match="200 tokens that were allowed are spent"):
        evaluate(Asks(Budgeted(model, tokens=200)), short_corridor, 16, concurrency=4, out=tmp_path / "run")
    assert 20 <= model.asked <= 20 + 3  # those that were in flight when it was spent
    kept = Evaluation.load(tmp_path / "run")
    assert 0 < len(kept.rows) <= model.asked // 3
    assert kept.errors == 0
    assert players() == []
    rest = Dear()
    evaluate(Asks(Budgeted(rest, tokens=10_000)), short_corridor, 16, concurrency=3, out=tmp_path / "run")
    assert rest.asked == 3 * (16 - len(kept.rows))
    whole, resumed = ((tmp_path / name / "episodes.jsonl").read_bytes() for name in ("whole", "run"))
    assert whole == resumed
