"""`llm-gym evaluate`: a policy plays the first tasks of an environment and is measured."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import gymnasium as gym
from tyro.conf import Positional, UseAppendAction, arg

from llm_gym.cli.keywords import Pairs, flat
from llm_gym.cli.making import make_environment, make_policy
from llm_gym.cli.progress import Tally, finished_before, shown_progress
from llm_gym.cli.terminal import FAILED, INTERRUPTED, OK, Terminal
from llm_gym.envs.base import TaskPanel, panel_of
from llm_gym.errors import FATAL, InvalidSetting
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.runner import DEFAULT_N, evaluate
from llm_gym.policies.base import Policy
from llm_gym.policies.human import HumanPolicy


@dataclass(frozen=True)
class Evaluate:
    """Let a policy play many tasks and measure it.

    The first N tasks of the environment's panel are played, always the same ones in the same order. With --out the
    run can be stopped at any time and goes on where it was when the same command is given again. The numbers do not
    depend on --jobs and --concurrency.

    Examples:
    $ llm-gym evaluate WebShop-v1 --policy rule -n 50
    $ llm-gym evaluate WebShop-v1 --policy rule -n all --set split=dev --out runs/rule --jobs 4
    $ llm-gym evaluate WebShop-v1 --policy rule --wrapper history:observations=3 --wrapper item-titles
    $ llm-gym evaluate my_module:MyWorld-v0 --policy my_module:MyPolicy --policy-set greedy=true

    Exit code: 0 done, 1 done but some attempts ended in an error, 2 could not be done, 130 interrupted.
    """

    env: Annotated[Positional[str], arg(metavar="ENV")]
    """Environment, as `llm-gym list environments` shows it; without a version, the newest."""
    policy: Annotated[str, arg(metavar="NAME")]
    """Who decides: a name of `llm-gym list policies`, or module:Class."""
    n: Annotated[int | Literal["all"], arg(name="tasks", aliases=["-n"], metavar="N|all")] = DEFAULT_N
    """Number of tasks, from the first of the panel; "all" plays the whole panel."""
    set: Pairs = ()
    """Keywords of the environment, such as split=dev. Numbers, true, false and null are JSON."""
    policy_set: Pairs = ()
    """Keywords of the policy."""
    wrapper: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME[:KEY=VALUE,…]")] = ()
    """Wrapper around the environment; once for each, the innermost first."""
    out: Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="(default: keep nothing)")] = None
    """Folder of the run, which can be resumed, compared and reported."""
    jobs: Annotated[int, arg(metavar="N")] = 1
    """Processes, for policies that compute."""
    concurrency: Annotated[int, arg(metavar="N")] = 1
    """Episodes in flight in each process, for policies that wait for a network."""
    repeats: Annotated[int, arg(metavar="N")] = 1
    """Attempts at every task, each with its own random stream."""
    trials: Annotated[int, arg(metavar="N")] = 1
    """Tries within an attempt; the policy may learn from those that failed."""
    seed: int = 0
    """Of everything random in policy and environment."""

    def run(self, terminal: Terminal) -> int:
        policy = make_policy(self.policy, flat(self.policy_set))
        with closing(make_environment(self.env, flat(self.set), self.wrapper)) as env:
            evaluation = self._played(policy, env, terminal)
        if evaluation is None:
            return INTERRUPTED
        terminal.say(str(evaluation))
        if self.out is not None:
            terminal.note(f"The run is in {self.out}.")
        if not evaluation.errors:
            return OK
        first = next(row["error"] for row in evaluation.rows if row["ended_by"] == "error")
        terminal.note(f"The first error: {first}")
        return FAILED

    def _played(self, policy: Policy, env: gym.Env[str, str], terminal: Terminal) -> Evaluation | None:
        """The result, or None after Ctrl-C, when how to go on has been told."""
        total = self._tasks(panel_of(env)) * self.repeats
        tally = Tally(self.trials)
        present = finished_before(self.out, self.trials)
        try:
            with shown_progress(terminal, tally, total, present, drawn=not _asks(policy)) as progress:
                return evaluate(
                    policy,
                    env,
                    None if self.n == "all" else self.n,
                    repeats=self.repeats,
                    trials=self.trials,
                    jobs=self.jobs,
                    concurrency=self.concurrency,
                    seed=self.seed,
                    out=self.out,
                    progress=progress,
                )
        except KeyboardInterrupt:
            terminal.note(f"Interrupted: {len(tally)} of {total} attempts are finished{self._told(tally)}.")
            terminal.note(self._how_to_go_on(terminal))
            return None
        except FATAL:
            if len(tally):  # else nothing was played, and the error says it all
                terminal.note(f"Stopped: {len(tally)} of {total} attempts are finished{self._told(tally)}.")
                terminal.note(self._how_to_go_on(terminal))
            raise

    def _tasks(self, panel: TaskPanel) -> int:
        """How many tasks -n means; the default is "at most 50", as in Python.

        Raises:
            InvalidSetting: the panel has not so many. `evaluate` would refuse too, in the words of Python.
        """
        if self.n == "all":
            return len(panel)
        if self.n < 1 or (self.n > len(panel) and self.n != DEFAULT_N):
            raise InvalidSetting(f"-n must lie between 1 and {len(panel)}, or be all (the whole panel); got {self.n}.")
        return min(self.n, len(panel))

    def _told(self, tally: Tally) -> str:
        return f", {tally.told()}" if len(tally) else ""

    def _how_to_go_on(self, terminal: Terminal) -> str:
        if self.out is None:
            return "Nothing is kept. With --out DIR a run can be resumed."
        return f"{self.out} keeps them. To go on:\n  {terminal.command}"


def _asks(policy: Policy) -> bool:
    """Whether a person answers at this terminal, where a bar would write over the question."""
    return isinstance(policy, HumanPolicy)
