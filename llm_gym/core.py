"""The records that travel between environments, wrappers, policies and the evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

EndedBy = Literal["task", "agent", "limit", "error"]
"""Who ended an episode: the task itself, the agent by stopping, the step limit, or an exception."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One suggestion of an expert."""

    action: str
    confidence: float | None = None
    """In [0, 1]; None when the expert cannot say."""
    source: str = ""
    """Name of the expert."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one decision cost."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    """None: the price is unknown (never 0 for want of a price)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy answers."""

    action: str | None
    """None: the agent stops the episode."""
    rationale: str = ""
    usage: Usage | None = None
    opinions: tuple[Opinion, ...] = ()
    """What the policy was advised besides `info["opinions"]`; kept in the step."""
    out_of_steps: bool = False
    """With no action: the policy stops because of a limit of its own, which counts as the environment's would."""


class Info(TypedDict, total=False):
    """The keys of `info` that general code may rely on; environments add keys of their own."""

    task_id: str
    goal: str
    """The instruction in words, as the agent sees it."""
    admissible_actions: list[str] | None
    """Ready-made action strings; None when the environment cannot list them."""
    success: bool
    page: str
    """The observation before any wrapper touched it."""
    opinions: list[Opinion]
    invalid_action: str
    """Present only when the last action was not possible: one sentence that says why."""
    category: str
    """The group this task belongs to in the table by category."""
    cluster: str
    """The group within which tasks are not independent, such as the goals of one product; absent without one."""
    metrics: Mapping[str, float | bool | None]
    """Numbers of this episode so far that an evaluation averages (True/False become a rate)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One decision and what came of it."""

    observation: str
    """What the policy saw when it decided."""
    action: str | None
    reward: float
    invalid: str | None = None
    """Why the action was not possible, in the environment's words."""
    rationale: str = ""
    opinions: tuple[Opinion, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """One attempt of a policy at a task, from reset to end."""

    task_id: str
    policy: str
    steps: tuple[Step, ...]
    success: bool
    ended_by: EndedBy
    repeat: int = 0
    trial: int = 0
    category: str = ""
    cluster: str = ""
    """`info["cluster"]`; empty when the environment names none."""
    metrics: Mapping[str, float | bool | None] = field(default_factory=dict)
    error: str | None = None
    """`Type: message` of the exception; set only when `ended_by` is "error"."""

    @property
    def total_reward(self) -> float:
        """The undiscounted return."""
        return float(sum(step.reward for step in self.steps))

    @property
    def score(self) -> float:
        """The return on the papers' scale of 0 to 100."""
        return 100.0 * self.total_reward

    @property
    def invalid_actions(self) -> int:
        return sum(step.invalid is not None for step in self.steps)

    def to_row(self) -> dict[str, Any]:
        """The JSON row of `episodes.jsonl`; holds no wall time, so that it is the same on any machine."""
        return {
            "task_id": self.task_id,
            "repeat": self.repeat,
            "trial": self.trial,
            "policy": self.policy,
            "category": self.category,
            **({"cluster": self.cluster} if self.cluster else {}),
            "success": self.success,
            "score": self.score,
            "return": self.total_reward,
            "steps": len(self.steps),
            "invalid_actions": self.invalid_actions,
            "ended_by": self.ended_by,
            "error": self.error,
            "metrics": dict(self.metrics),
            "trajectory": [_step_row(step) for step in self.steps],
        }


def _step_row(step: Step) -> dict[str, Any]:
    """A step as JSON; empty parts are left out, they are the common case."""
    row: dict[str, Any] = {"observation": step.observation, "action": step.action, "reward": step.reward}
    if step.invalid is not None:
        row["invalid"] = step.invalid
    if step.rationale:
        row["rationale"] = step.rationale
    if step.opinions:
        row["opinions"] = [[o.action, o.confidence, o.source] for o in step.opinions]
    if step.usage is not None:
        row["usage"] = [step.usage.prompt_tokens, step.usage.completion_tokens, step.usage.cost_usd]
    return row


def derive_seed(seed: int, *roles: str | int) -> int:
    """A 63-bit seed for one role, independent of every other role's and the same on every machine."""
    text = "\x1f".join([str(seed), *map(str, roles)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
