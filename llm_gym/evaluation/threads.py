"""Attempts played by several threads of this process, for policies that wait for a network."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator, Sequence
from queue import SimpleQueue

from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.parcel import Parcel
from llm_gym.evaluation.players import Fatal, Message, Players, Ready, Unready
from llm_gym.evaluation.records import Attempt, Played, attempt_of


class _Queues:
    """The line to players of the same process."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self._pending = deque(attempts)
        self.said: SimpleQueue[Message] = SimpleQueue()

    def take(self) -> Attempt | None:
        try:
            return self._pending.popleft()
        except IndexError:
            return None

    def say(self, message: Message) -> None:
        self.said.put(message)


def play_in_threads(
    attempts: Sequence[Attempt], *, parcel: Parcel, concurrency: int, trials: int, seed: int
) -> Generator[Sequence[Played]]:
    """The attempts as they are finished, in any order. Closing the iterator stops the threads.

    Args:
        attempts: what to play.
        parcel: what each thread unpacks.
        concurrency: number of threads.
        trials: at most so many in an attempt.
        seed: of the evaluation.

    Raises:
        InvalidSetting: a thread cannot begin.
        BaseException: a thread met it, and it is no failure of one episode: one of `errors.FATAL`, say.
    """
    line = _Queues(attempts)
    unfinished: defaultdict[Attempt, list[Played]] = defaultdict(list)
    left = len(attempts)
    with Players(parcel, line, trials, seed).threads(min(concurrency, left)) as threads:
        while left:
            match line.said.get():
                case Unready(reason):
                    raise InvalidSetting(reason)
                case Fatal(error):
                    raise error
                case Ready():
                    pass
                case Played() as played:
                    attempt = attempt_of(played.row)
                    unfinished[attempt].append(played)
                    if played.last:
                        left -= 1
                        yield unfinished.pop(attempt)
        for thread in threads:
            thread.join()
