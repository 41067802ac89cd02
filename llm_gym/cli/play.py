"""`llm-gym play`: one task in the terminal, played by a person or by a policy that is watched."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

import gymnasium as gym
import numpy as np
from tyro.conf import Positional, UseAppendAction, arg

from llm_gym.cli.keywords import Pairs, flat
from llm_gym.cli.making import make_environment, make_policy
from llm_gym.cli.terminal import OK, Terminal
from llm_gym.core import Decision, Episode, Info
from llm_gym.envs.base import TaskPanel, panel_of
from llm_gym.policies.base import Policy
from llm_gym.policies.human import HumanPolicy
from llm_gym.rollout import Actor, play

_ENDED_BY = {"task": "the task", "agent": "stopping", "limit": "the step limit", "error": "an error"}


@dataclass(frozen=True)
class Play:
    """Play one task in the terminal, or watch a policy play it.

    Without --policy you decide: type an action, or the number of one. With a policy every step is shown.

    Examples:
    $ llm-gym play WebShop-v1
    $ llm-gym play WebShop-v1 --policy rule --task 3
    $ llm-gym play Corridor-v0 --set length=9
    """

    env: Annotated[Positional[str], arg(metavar="ENV")]
    """Environment, as `llm-gym list environments` shows it; without a version, the newest."""
    task: Annotated[str | None, arg(metavar="ID|N", help_behavior_hint="(default: one drawn at random)")] = None
    """Task by its id, or by its number in the panel, from 0."""
    policy: Annotated[str, arg(metavar="NAME")] = HumanPolicy.name
    """Who decides: a name of `llm-gym list policies`, or module:Class."""
    set: Pairs = ()
    """Keywords of the environment, such as split=dev. Numbers, true, false and null are JSON."""
    policy_set: Pairs = ()
    """Keywords of the policy."""
    wrapper: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME[:KEY=VALUE,…]")] = ()
    """Wrapper around the environment; once for each, the innermost first."""
    seed: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: another one each time)")] = None
    """Of the task that is drawn, and of everything random in policy and environment."""

    def run(self, terminal: Terminal) -> int:
        actor = self._actor(terminal)
        with closing(make_environment(self.env, flat(self.set), self.wrapper, render_mode="ansi")) as env:
            task = _chosen(panel_of(env), self.task, self.seed)
            episode = play(env, actor, task, seed=self.seed or 0)
            if episode.ended_by != "agent":  # who stops has seen the page already
                terminal.say(f"\n{env.render()}\n")
        terminal.say("\n".join(summary(episode)))
        return OK

    def _actor(self, terminal: Terminal) -> Actor:
        if self.policy == HumanPolicy.name and not self.policy_set:
            return HumanPolicy(terminal.ask, lambda text: terminal.say(f"{text}\n"))
        return Watched(make_policy(self.policy, flat(self.policy_set)), terminal)


def _chosen(panel: TaskPanel, task: str | None, seed: int | None) -> str:
    """The task that is meant.

    Raises:
        UnknownName: the panel holds no such id and has no such number.
    """
    if task is None:
        return panel[int(np.random.default_rng(seed).integers(len(panel)))]
    if task not in panel and task.isdecimal() and int(task) < len(panel):
        return panel[int(task)]
    return panel.check(task)


class Watched:
    """A policy whose decisions are shown as it makes them."""

    def __init__(self, policy: Policy, terminal: Terminal) -> None:
        self._policy = policy
        self._terminal = terminal
        self._step = 0

    @property
    def name(self) -> str:
        return self._policy.name

    def watch(self, world: gym.Env[str, str]) -> None:
        self._policy.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._step = 0
        self._policy.reset(seed, trial)

    def act(self, observation: str, info: Info) -> Decision:
        decision = self._policy.act(observation, info)
        self._step += 1
        self._terminal.out.rule(f"step {self._step}", style="dim")
        self._terminal.say(observation)
        if reason := info.get("invalid_action"):
            self._terminal.say(f"({reason})")
        if decision.rationale:
            self._terminal.say(f"\n{decision.rationale}")
        self._terminal.say(f"\n{self.name} > {'(stops)' if decision.action is None else decision.action}")
        return decision


def summary(episode: Episode) -> list[str]:
    """What came of it, in words."""
    verdict = "Success" if episode.success else "No success"
    lines = [
        f"{verdict}: score {episode.score:.1f} of 100 in {len(episode.steps)} steps, "
        f"ended by {_ENDED_BY[episode.ended_by]}. Task: {episode.task_id}"
    ]
    if episode.invalid_actions:
        lines.append(f"Actions that were not possible: {episode.invalid_actions}.")
    if episode.metrics:
        lines.append(", ".join(f"{name.replace('_', ' ')} {_number(value)}" for name, value in episode.metrics.items()))
    return lines


def _number(value: float | bool | None) -> str:
    if value is None:
        return "unknown"
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:.2f}"
