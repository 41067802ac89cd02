"""Attempts played by several processes. One that dies costs what it was playing, which is recorded as an error."""

from __future__ import annotations

import math
import multiprocessing
import pickle
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, cast

from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.attempts import lost
from llm_gym.evaluation.players import Fatal, Message, Players, Ready, Unready
from llm_gym.evaluation.records import Attempt, Played, attempt_of
from llm_gym.rollout import Stopped

_STOP_S = 5.0
"""How long a process may take to close its environment (a browser, say) before it is killed."""


@dataclass(slots=True)
class Worker:
    """A process as its parent sees it."""

    process: multiprocessing.process.BaseProcess
    connection: Connection[Any, Any]
    ready: bool = False
    playing: dict[Attempt, list[Played]] = field(default_factory=dict)
    """What it plays now, with the trials that are finished; nothing when it waits."""


def play_in_processes(
    attempts: Sequence[Attempt], *, payload: bytes, name: str, jobs: int, concurrency: int, trials: int, seed: int
) -> Generator[Sequence[Played]]:
    """The attempts as they are finished, in any order. Closing the iterator ends the processes.

    Args:
        attempts: what to play.
        payload: from `parcel.sealed`.
        name: of the policy, for the row of an attempt whose process died.
        jobs: number of processes.
        concurrency: number of threads in each, all of which play.
        trials: at most so many in an attempt.
        seed: of the evaluation.

    Raises:
        InvalidSetting: a process cannot begin.
        BaseException: a process met it, and it is no failure of one episode: one of `errors.FATAL`, say.
    """
    pending = deque(attempts)
    concurrency = min(concurrency, math.ceil(len(attempts) / jobs))
    crew: list[Worker] = []
    try:
        while pending or any(worker.playing for worker in crew):
            while len(crew) < min(jobs, len(pending) + sum(bool(worker.playing) for worker in crew)):
                crew.append(_started(payload, concurrency, trials, seed))
            for worker in _reporting(crew):
                message = _message(worker)
                if message is None:
                    crew.remove(worker)
                    yield from _buried(worker, name)
                elif done := _heard(worker, message, pending):
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
    """Take a message; returns the attempt that it finishes, else nothing. Gives a free player its next attempt."""
    match message:
        case Unready(reason):
            raise InvalidSetting(reason)
        case Fatal(error):
            raise error
        case Ready():
            worker.ready = True
            _assign(worker, pending)
            return []
        case Played():
            attempt = attempt_of(message.row)
            worker.playing[attempt].append(message)
            if not message.last:
                return []
            _assign(worker, pending)
            return worker.playing.pop(attempt)


def _assign(worker: Worker, pending: deque[Attempt]) -> None:
    if pending:
        with suppress(OSError):  # it has died: the attempt stays where it is
            worker.connection.send(pending[0])
            worker.playing[pending.popleft()] = []


def _buried(worker: Worker, name: str) -> Iterator[list[Played]]:
    """What a dead process had played of each of its attempts, ending with an error; nothing if it was waiting."""
    worker.process.join()
    code = worker.process.exitcode
    worker.connection.close()
    if not worker.ready:
        raise InvalidSetting(
            f"A process ended while it was starting ({_told(code)}). A script that evaluates with jobs > 1 needs "
            "`if __name__ == '__main__':` around its own work; jobs=1 needs nothing."
        )
    reason = f"WorkerDied: the process that played this episode ended ({_told(code)})"
    for attempt, played in worker.playing.items():
        yield [*played, lost(name, attempt, len(played), reason)]


def _told(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        return f"signal {name}" + (", often a sign of too little memory" if name == "SIGKILL" else "")
    return f"exit code {code}"


def _end(crew: list[Worker]) -> None:
    """Let waiting processes go, stop playing ones; nothing is left behind."""
    for worker in crew:
        worker.connection.close()
        if worker.playing or not worker.ready:
            worker.process.terminate()
    for worker in crew:
        worker.process.join(_STOP_S)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _started(payload: bytes, concurrency: int, trials: int, seed: int) -> Worker:
    context = multiprocessing.get_context("spawn")  # forking a process with threads (torch, BLAS) can deadlock
    parent, child = context.Pipe()
    process = context.Process(target=_work, args=(child, payload, concurrency, trials, seed), daemon=True)
    resource_tracker.ensure_running()  # where it begins it unblocks the interrupt: not within the block
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


def _work(connection: Connection[Any, Any], payload: bytes, concurrency: int, trials: int, seed: int) -> None:
    """The other side: play what the parent sends until it closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    line = _Pipe(connection)
    with suppress(Stopped, KeyboardInterrupt), _closing_when_terminated():  # the parent is done or stops us
        try:
            parcel = pickle.loads(payload)
        except Exception as error:  # noqa: BLE001 - a process boundary: the parent raises it
            line.say(Unready.because(error))
            return
        players = Players(parcel, line, trials, seed)
        with players.threads(concurrency - 1):
            players.play()


@contextmanager
def _closing_when_terminated() -> Iterator[None]:
    """A termination is an interrupt, so that the environment is closed on the way out; after that it is nothing."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class _Pipe:
    """The line from players to the process that has started theirs."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        self._taking, self._saying = threading.Lock(), threading.Lock()

    def take(self) -> Attempt | None:
        with self._taking:
            try:
                return cast(Attempt, self._connection.recv())
            except (EOFError, OSError):
                return None

    def say(self, message: Message) -> None:
        with self._saying:
            try:
                self._connection.send(message)
            except OSError as error:
                raise Stopped from error
