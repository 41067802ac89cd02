"""`llm-gym demos record`: a policy, or a person, plays and is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from llm_gym.cli.demos_writing import OutFile, Writing, told
from llm_gym.cli.keywords import Pairs, flat
from llm_gym.cli.making import make_environment, make_policy
from llm_gym.cli.play import summary
from llm_gym.cli.terminal import Terminal
from llm_gym.core import Episode
from llm_gym.demonstrations.files import Header
from llm_gym.demonstrations.record import Demonstration
from llm_gym.demonstrations.recorder import Recorded, Selection, record
from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.runner import DEFAULT_N, number_of_tasks
from llm_gym.policies.human import HumanPolicy


@dataclass(frozen=True)
class RecordDemos:
    """Let a policy, or yourself, play many tasks, and record it.

    The same policy, tasks and seed play the same episodes as `llm-gym evaluate`. Ctrl-C ends the recording: what is
    finished is written. As a person you end a task with "quit", and the recording with Ctrl-D.

    Examples:
    $ llm-gym demos record WebShop --policy lexical --set split=train -n 100 --success --out demos.jsonl
    $ llm-gym demos record WebShop --policy oracle -n all --repeats 2 --min-score 80 --out demos.jsonl.gz
    $ llm-gym demos record WebShop --policy human -n 5 --out mine.jsonl

    Exit code: 0 done, 1 done but some episodes failed, 2 could not be done, 130 interrupted.
    """

    env: Annotated[Positional[str], arg(metavar="ENV")]
    """Environment, as `llm-gym list environments` shows it; without a version, the newest."""
    policy: Annotated[str, arg(metavar="NAME")]
    """Who demonstrates: a name of `llm-gym list policies`, or module:Class."""
    out: OutFile
    """File to write; a name that ends in .gz is compressed."""
    n: Annotated[int | Literal["all"], arg(name="tasks", aliases=["-n"], metavar="N|all")] = DEFAULT_N
    """Number of tasks, from the first of the panel; "all" plays the whole panel."""
    set: Pairs = ()
    """Keywords of the environment, such as split=train. Numbers, true, false and null are JSON."""
    policy_set: Pairs = ()
    """Keywords of the policy."""
    repeats: Annotated[int, arg(metavar="N")] = 1
    """Episodes of every task, each with its own random stream."""
    seed: int = 0
    """Of everything random in policy and environment."""
    success: bool = False
    """Keep successful episodes only."""
    min_score: Annotated[float | None, arg(metavar="X", help_behavior_hint="(default: any)")] = None
    """Keep episodes of this score at least, of 100."""

    def run(self, terminal: Terminal) -> int:
        if self.repeats < 1:
            raise InvalidSetting(f"--repeats must be 1 or more, got {self.repeats}.")
        person = _Person(terminal) if self.policy == HumanPolicy.name and not self.policy_set else None
        policy = person.policy if person else make_policy(self.policy, flat(self.policy_set))
        with closing(make_environment(self.env, flat(self.set))) as env:
            panel = panel_of(env)
            tasks = panel[: number_of_tasks(None if self.n == "all" else self.n, panel)]
            writing = Writing(self.out, len(tasks) * self.repeats, terminal, drawn=person is None)
            recorded = record(env, policy, tasks, repeats=self.repeats, seed=self.seed, keep=self._selection)
            header = Header.of(
                env,
                policy=policy.name,
                settings=policy.settings(),
                tasks=len(tasks),
                repeats=self.repeats,
                seed=self.seed,
                kept=told(self._selection),
            )
            return writing.write(_demonstrations(recorded, writing, person), header)

    @property
    def _selection(self) -> Selection:
        return Selection(self.success, self.min_score)


def _demonstrations(
    episodes: Iterable[Recorded], writing: Writing, person: _Person | None
) -> Iterator[Demonstration | None]:
    """The demonstration of each episode; failures are counted, and a person is told how it went."""
    for recorded in episodes:
        if recorded.episode.error is not None:
            writing.fail(recorded.episode.error)
        if person is not None:
            if person.gone:  # in the middle of this episode
                return
            person.hear(recorded.episode)
        yield recorded.demonstration


class _Person:
    """Whoever sits at the terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.policy = HumanPolicy(self._ask, lambda text: terminal.say(f"{text}\n"))
        self.gone = False
        """Whether there will be no more answers."""

    def hear(self, episode: Episode) -> None:
        self._terminal.say("\n".join([*summary(episode), ""]))

    def _ask(self, question: str) -> str:
        try:
            return self._terminal.ask(question)
        except EOFError:
            self.gone = True
            raise
