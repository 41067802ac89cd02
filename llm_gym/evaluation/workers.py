"""Attempts played by several processes. A process that dies costs one attempt, which is recorded as an error."""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, cast

import gymnasium as gym

from llm_gym.errors import InvalidSetting, LLMGymError
from llm_gym.evaluation.attempts import FATAL, lost, play_attempt
from llm_gym.evaluation.plan import step_limit
from llm_gym.evaluation.records import Attempt, Played
from llm_gym.policies.base import Policy

_STOP_S = 5.0
"""How long a process may take to close its environment (a browser, say) before it is killed."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process has its policy and its environment."""


@dataclass(frozen=True, slots=True)
class Unready:
    """The process cannot begin."""

    reason: str


@dataclass(frozen=True, slots=True)
class Fatal:
    """An exception that stops the whole evaluation."""

    error: LLMGymError


Message = Ready | Unready | Fatal | Played


@dataclass(slots=True)
class Worker:
    """A process as its parent sees it."""

    process: multiprocessing.process.BaseProcess
    connection: Connection[Any, Any]
    ready: bool = False
    attempt: Attempt | None = None
    """What it plays now; None when it waits."""
    played: list[Played] = field(default_factory=list)
    """The finished trials of that attempt."""


def packed(policy: Policy, env: gym.Env[str, str]) -> bytes:
    """Policy and environment as bytes for other processes; the environment travels as its `spec`.

    Raises:
        InvalidSetting: one of them cannot travel; the message says why and that `jobs=1` works.
    """
    spec = env.spec
    if spec is None:
        raise InvalidSetting("An environment that was not made by gymnasium.make cannot be made again: use jobs=1.")
    silent = [wrapper.name for wrapper in spec.additional_wrappers if wrapper.kwargs is None]
    if silent:
        raise InvalidSetting(
            f"{silent[0]} does not record its arguments, so other processes cannot wrap with it: let it inherit "
            "gymnasium.utils.RecordConstructorArgs, or use jobs=1."
        )
    try:
        return pickle.dumps((policy, dataclasses.replace(spec, max_episode_steps=step_limit(env))))
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError) as error:
        raise InvalidSetting(f"{policy!r} cannot be sent to other processes ({error}): use jobs=1.") from error


def play_in_processes(
    attempts: Sequence[Attempt], *, payload: bytes, name: str, jobs: int, trials: int, seed: int
) -> Generator[Sequence[Played]]:
    """The attempts as they are finished, in any order. Closing the iterator ends the processes.

    Args:
        attempts: what to play.
        payload: from `packed`.
        name: of the policy, for the row of an attempt whose process died.
        jobs: number of processes.
        trials: at most so many in an attempt.
        seed: of the evaluation.

    Raises:
        InvalidSetting: a process cannot begin.
        MissingDependency, MissingData, InvalidSetting: a process met it, and no episode can be played before it is
            put right.
    """
    pending = deque(attempts)
    crew: list[Worker] = []
    try:
        while pending or any(worker.attempt for worker in crew):
            while len(crew) < min(jobs, len(pending) + sum(worker.attempt is not None for worker in crew)):
                crew.append(_started(payload, trials, seed))
            for worker in _reporting(crew):
                message = _message(worker)
                if message is None:
                    crew.remove(worker)
                    done = _buried(worker, name)
                else:
                    done = _heard(worker, message, pending)
                if done:
                    yield done
    finally:
        _end(crew)


def _reporting(crew: list[Worker]) -> list[Worker]:
    """Wait until a process says something or ends."""
    signs = wait([sign for worker in crew for sign in (worker.connection, worker.process.sentinel)])
    return [worker for worker in crew if worker.connection in signs or worker.process.sentinel in signs]


def _message(worker: Worker) -> Message | None:
    """What the process says; None when it is dead and everything it said has been read."""
    try:
        return cast(Message, worker.connection.recv()) if worker.connection.poll() else None
    except (EOFError, OSError):
        return None


def _heard(worker: Worker, message: Message, pending: deque[Attempt]) -> list[Played]:
    """Take a message; returns the attempt that it finishes, else nothing. Gives a free process its next attempt."""
    match message:
        case Unready(reason):
            raise InvalidSetting(reason)
        case Fatal(error):
            raise error
        case Ready():
            worker.ready = True
            return _assigned(worker, pending)
        case Played():
            worker.played.append(message)
            return _assigned(worker, pending) if message.last else []


def _assigned(worker: Worker, pending: deque[Attempt]) -> list[Played]:
    done, worker.played = worker.played, []
    worker.attempt = pending.popleft() if pending else None
    if worker.attempt is not None:
        try:
            worker.connection.send(worker.attempt)
        except OSError:  # it died between two attempts: give the attempt back
            pending.appendleft(worker.attempt)
            worker.attempt = None
    return done


def _buried(worker: Worker, name: str) -> list[Played]:
    """What a dead process had played of its attempt, ending with an error; nothing if it was waiting."""
    worker.process.join()
    code = worker.process.exitcode
    worker.connection.close()
    if not worker.ready:
        raise InvalidSetting(
            f"A process ended while it was starting ({_told(code)}). A script that evaluates with jobs > 1 needs "
            "`if __name__ == '__main__':` around its own work; jobs=1 needs nothing."
        )
    if worker.attempt is None:
        return []
    reason = f"WorkerDied: the process that played this episode ended ({_told(code)})"
    return [*worker.played, lost(name, worker.attempt, len(worker.played), reason)]


def _told(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        return f"signal {name}" + (", often a sign of too little memory" if name == "SIGKILL" else "")
    return f"exit code {code}"


def _end(crew: list[Worker]) -> None:
    """Let waiting processes go, stop playing ones; nothing is left behind."""
    for worker in crew:
        worker.connection.close()
        if worker.attempt is not None or not worker.ready:
            worker.process.terminate()
    for worker in crew:
        worker.process.join(_STOP_S)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _started(payload: bytes, trials: int, seed: int) -> Worker:
    context = multiprocessing.get_context("spawn")  # forking a process with threads (torch, BLAS) can deadlock
    parent, child = context.Pipe()
    process = context.Process(target=_work, args=(child, payload, trials, seed), daemon=True)
    with _interrupt_blocked():
        process.start()
    child.close()
    return Worker(process, parent)


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; a new one inherits this mask until it has its own answer."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection[Any, Any], payload: bytes, trials: int, seed: int) -> None:
    """The other side: play what the parent sends until it closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the environment is closed on the way out
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):  # the parent is done or stops us
        try:
            policy, env = _unpacked(payload)
        except FATAL as error:
            connection.send(Fatal(error))
        except Exception as error:  # noqa: BLE001 - a process boundary: the parent raises it
            connection.send(Unready(f"Another process cannot make policy and environment ({error!r}): use jobs=1."))
        else:
            with closing(env):
                _serve(connection, policy, env, trials, seed)


def _unpacked(payload: bytes) -> tuple[Policy, gym.Env[str, str]]:
    policy, spec = pickle.loads(payload)
    return policy, gym.make(spec)


def _serve(connection: Connection[Any, Any], policy: Policy, env: gym.Env[str, str], trials: int, seed: int) -> None:
    connection.send(Ready())
    try:
        while True:
            for played in play_attempt(policy, env, connection.recv(), trials=trials, seed=seed):
                connection.send(played)
    except FATAL as error:
        connection.send(Fatal(error))
