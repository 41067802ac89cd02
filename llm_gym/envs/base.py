"""What every text environment is: the contract, and the panel of its tasks."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, overload

import gymnasium as gym
from gymnasium.error import ResetNeeded

from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.spaces import Unicode

MAX_ACTION_CHARS = 200_000
MAX_OBSERVATION_CHARS = 4_000_000
_CONTAINERS = frozenset({list, dict})
_SUGGESTED_FROM = 20_000
"""Near names are looked for among at most this many task ids; further ones would take seconds."""


class TaskPanel(Sequence[str]):
    """An ordered, immutable list of task ids with a name and a digest.

    The first n ids of a panel are what `evaluate(env, n)` plays, on every machine.
    """

    def __init__(self, name: str, task_ids: Iterable[str]) -> None:
        self.name = name
        self._task_ids = tuple(task_ids)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {task_id: position for position, task_id in enumerate(self)}

    @cached_property
    def digest(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 of the ids in order, one a line."""
        sha = hashlib.sha256()
        for task_id in self:
            sha.update(task_id.encode() + b"\n")
        return sha.hexdigest()[:16]

    def check(self, task_id: str) -> str:
        """The id itself.

        Raises:
            UnknownName: the panel does not hold it; the message names near ids and the panel.
        """
        if isinstance(task_id, str) and task_id in self:
            return task_id
        near = list(self[:_SUGGESTED_FROM])
        raise UnknownName(f"task of panel {self.name!r}", task_id, near)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._positions

    def __len__(self) -> int:
        return len(self._task_ids)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._task_ids[index]

    def __repr__(self) -> str:
        return f"TaskPanel({self.name!r}, {len(self)} tasks, digest {self.digest})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the world answers to a reset or an action."""

    observation: str
    info: dict[str, Any]
    reward: float = 0.0
    terminated: bool = False


class TextEnv(gym.Env[str, str]):
    """A world that is read and answered in text.

    Subclasses say what a task begins with (`_begin`) and how the world answers an action (`_respond`); this class
    keeps the promises common to all: which task is played, what happens to an action that is no action, and to one
    after the end. An impossible action is a part of the task, never an exception: the observation stays, the reward
    is 0 and `info["invalid_action"]` says why.

    Args:
        panel: the tasks, in the order in which `evaluate` plays them.
        render_mode: one of `metadata["render_modes"]`, or None.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own shape
    refusal: ClassVar[str | None] = None
    """What the world says to an impossible action; None: the page stays."""

    def __init__(self, panel: TaskPanel, render_mode: str | None = None) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UnknownName("render mode", render_mode, self.metadata["render_modes"])
        if not len(panel):
            raise InvalidSetting(f"Panel {panel.name!r} holds no task. Choose another split or other goals.")
        self.panel = panel
        self.render_mode = render_mode
        self.observation_space = Unicode(MAX_OBSERVATION_CHARS)
        self.action_space = Unicode(MAX_ACTION_CHARS)
        self.task_id: str | None = None
        self._last: Outcome | None = None

    # -- what a subclass provides ------------------------------------------------------------------------------

    @abstractmethod
    def _begin(self, task_id: str) -> Outcome:
        """The first observation of a task of the panel. `info` holds the keys of `llm_gym.core.Info`."""

    @abstractmethod
    def _respond(self, action: str) -> Outcome | str:
        """The world after an action, or one sentence that says why the action is impossible (nothing changed)."""

    def solution(self) -> list[str]:
        """Actions that solve the current task, for oracles only: from where the agent stands, or, in a shop, from its
        search page.

        Raises:
            NotImplementedError: this world knows no solution.
        """
        raise NotImplementedError(f"{type(self).__name__} knows no solution")

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """What fixes the results here, as JSON: data and its digest, split, counts, settings that change a score."""

    def _after_end(self, action: str) -> Outcome | str:
        """The answer to an action, or to what is none, after the task has ended: nothing happens any more."""
        return "The episode is over: call reset() to begin another."

    def _draw(self) -> str:
        """A task of the panel, drawn with `self.np_random`; uniform unless a world knows better."""
        return self.panel[int(self.np_random.integers(len(self.panel)))]

    # -- Gymnasium ---------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a task: the one named by `options={"task": id}`, or one drawn from the panel.

        Raises:
            UnknownName: the panel does not hold the task, or there is no such option.
        """
        super().reset(seed=seed)
        self.task_id = self._chosen(options) if options else self._draw()
        self._last = None  # should the task not begin, there is nothing to act upon
        self._last = self._begin(self.task_id)
        return self._last.observation, copied(self._last.info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Act. `terminated` is the task's own end; the step limit of `gymnasium.make` sets `truncated`."""
        last = self._last
        if last is None:
            raise ResetNeeded("Call reset() before step().")
        answer = self._after_end(action) if last.terminated else self._refusal(action) or self._respond(action)
        if isinstance(answer, str):
            observation = last.observation if self.refusal is None or last.terminated else self.refusal
            info = {**copied(last.info), "page": observation, "invalid_action": answer}
            return observation, 0.0, last.terminated, False, info
        self._last = answer
        return answer.observation, answer.reward, answer.terminated, False, copied(answer.info)

    def render(self) -> str | None:
        """The page as text in mode "ansi"; None without a render mode."""
        if self.render_mode is None or self._last is None:
            return None
        return self._last.observation

    def _refusal(self, action: object) -> str | None:
        """Why something is no action at all, or None."""
        if not isinstance(action, str):
            return f"An action is a string, not {type(action).__name__}: {str(action)[:50]}"
        if len(action) > MAX_ACTION_CHARS:
            return f"An action has at most {MAX_ACTION_CHARS:,} characters, this one has {len(action):,}."
        if not action.strip():
            return "The action is empty."
        return None

    def _chosen(self, options: Mapping[str, Any]) -> str:
        unknown = [key for key in options if key != "task"]
        if unknown:
            raise UnknownName("reset option", unknown[0], ["task"])
        return self.panel.check(options["task"])


def copied(info: dict[str, Any]) -> dict[str, Any]:
    """An info that the caller may keep and change: its own lists and dictionaries, one level deep."""
    copy = info.copy()
    for key, value in info.items():
        if type(value) in _CONTAINERS:
            copy[key] = value.copy()
    return copy


def panel_of(env: gym.Env[Any, Any]) -> TaskPanel:
    """The tasks of an environment, in the order of evaluation.

    Raises:
        InvalidSetting: it has none.
    """
    world: Any = env.unwrapped
    if not hasattr(world, "panel") or not hasattr(world, "description"):
        raise InvalidSetting(
            f"{type(world).__name__} has no task panel; evaluate() plays text environments of llm_gym."
        )
    panel: TaskPanel = world.panel
    return panel
