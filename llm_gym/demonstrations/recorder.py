"""Recording: episodes of any policy, a person's included, as demonstrations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import gymnasium as gym

from llm_gym.core import Decision, Episode, Info, derive_seed
from llm_gym.demonstrations.record import Demonstration, DemonstrationStep
from llm_gym.envs.webshop.item_names import item_names
from llm_gym.errors import FATAL, InvalidSetting
from llm_gym.rollout import Actor, Rollout

_AROUND_BRACKETS = re.compile(r" ?([\[\]]) ?")
_SEARCH = re.compile(r"\s*search\s*\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which episodes are worth imitating; by default all."""

    success: bool = False
    """Only successful ones."""
    min_score: float | None = None
    """Only those of this score at least, on the papers' scale of 0 to 100."""

    def __post_init__(self) -> None:
        if self.min_score is not None and not 0 <= self.min_score <= 100:
            raise InvalidSetting(f"The lowest score to keep lies between 0 and 100, got {self.min_score}.")

    def keeps(self, success: bool, score: float) -> bool:
        return (success or not self.success) and (self.min_score is None or score >= self.min_score)


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Sight:
    """What a decision is made from: the page, and what can be done there, in the world's own words."""

    page: str
    actions: tuple[str, ...]
    image: str | None
    searchable: bool
    """Whether any words can be searched for here, though the world can list one search only."""
    titled: Mapping[str, str]
    """Where results may be clicked by their titles: such a click → the world's own."""

    @classmethod
    def of(cls, observation: str, info: Info) -> Sight:
        """What an observation and its `info` show; wrappers around the world change nothing of it."""
        keys = cast("Mapping[str, Any]", info)
        names = item_names([(result.asin, result.title) for result in keys.get("results", ())])
        titled = {f"click[{name}]": plain for name, plain in names.items()}
        listed = info.get("admissible_actions") or ()
        return cls(
            page=info.get("page", observation),
            actions=tuple(titled.get(action, action) for action in listed),
            image=keys.get("image_id"),
            searchable=keys.get("screen") == "search",
            titled=titled,
        )

    def plain(self, action: str) -> str:
        """The action in the world's own words."""
        if action in self.actions or not self.titled:
            return action
        folded = _folded(action)
        return next((plain for title, plain in self.titled.items() if _folded(title) == folded), action)

    def choice(self, action: str) -> DemonstrationStep:
        """The step of somebody who took this action, which the world has accepted.

        On a search page the one listed search gives place to the one that was made. Of an action in another spelling
        the listed one is meant; one that the world accepts without listing it is put at the end.
        """
        action = self.plain(action)
        search = _SEARCH.fullmatch(action)
        if search is not None:
            action = f"search[{search[1]}]"
        if self.searchable and search is not None:
            return DemonstrationStep(self.page, (action,), 0, self.image)
        if action in self.actions:
            return DemonstrationStep(self.page, self.actions, self.actions.index(action), self.image)
        folded = [_folded(listed) for listed in self.actions]
        if _folded(action) in folded:
            return DemonstrationStep(self.page, self.actions, folded.index(_folded(action)), self.image)
        return DemonstrationStep(self.page, (*self.actions, action), len(self.actions), self.image)


def _folded(action: str) -> str:
    """An action without regard to case, to the width of gaps, and to blanks around its brackets."""
    return _AROUND_BRACKETS.sub(r"\1", " ".join(action.lower().split()))


class Recorder:
    """A policy around any policy, which keeps what that one saw. Use it wherever a policy plays an episode.

    Args:
        policy: who decides; it notices nothing.
    """

    def __init__(self, policy: Actor) -> None:
        self.policy = policy
        self._goal = ""
        self._sights: list[Sight] = []

    @property
    def name(self) -> str:
        return self.policy.name

    def watch(self, world: gym.Env[str, str]) -> None:
        self.policy.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._sights = []
        self.policy.reset(seed=seed, trial=trial)

    def act(self, observation: str, info: Info) -> Decision:
        self._goal = info.get("goal", "")
        self._sights.append(Sight.of(observation, info))
        return self.policy.act(observation, info)

    def demonstration(self, episode: Episode) -> Demonstration | None:
        """The episode that was just played; None when nothing was done in it.

        An action that the world refused is no step, nor is stopping.
        """
        steps = tuple(
            sight.choice(step.action)
            for sight, step in zip(self._sights, episode.steps, strict=True)
            if step.action is not None and step.invalid is None
        )
        if not steps:
            return None
        return Demonstration(episode.task_id, self._goal, steps, episode.success, episode.score, self.name)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An episode that was played to be recorded."""

    episode: Episode
    demonstration: Demonstration | None
    """None when the episode failed, was not worth keeping, or has no step."""


def record(
    env: gym.Env[str, str],
    policy: Actor,
    task_ids: Iterable[str],
    *,
    repeats: int = 1,
    seed: int = 0,
    keep: Selection = EVERYTHING,
) -> Iterator[Recorded]:
    """Play tasks and give each episode as soon as it is over.

    The same seed plays the same episodes as `evaluate` does. An exception ends its episode only, which is given with
    `ended_by="error"`.

    Args:
        env: any text environment, wrapped or not; what is recorded is the world inside.
        policy: who demonstrates.
        task_ids: of the environment's panel.
        repeats: episodes of every task, each with its own random stream.
        seed: of everything random in policy and environment.
        keep: which episodes become demonstrations.

    Raises:
        LLMGymError: one of `errors.FATAL`, which would end every further episode too.
    """
    recorder = Recorder(policy)
    for task_id, repeat in itertools.product(task_ids, range(repeats)):
        episode = _played(Rollout(recorder, task_id, repeat), env, seed)
        wanted = episode.ended_by != "error" and keep.keeps(episode.success, episode.score)
        yield Recorded(episode, recorder.demonstration(episode) if wanted else None)


def _played(rollout: Rollout, env: gym.Env[str, str], seed: int) -> Episode:
    place = rollout.task_id, rollout.repeat, rollout.trial
    try:
        return rollout.play(
            env, env_seed=derive_seed(seed, "env", *place), policy_seed=derive_seed(seed, "policy", *place)
        )
    except FATAL:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary: a failed episode ends no recording
        return rollout.failed(error)
