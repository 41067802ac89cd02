"""One demonstration: what somebody saw, what was possible, and what they chose, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_gym.errors import BadRecord


@dataclass(frozen=True, slots=True)
class DemonstrationStep:
    """One decision."""

    observation: str
    """The page, before any wrapper touched it."""
    actions: tuple[str, ...]
    """The admissible actions in the order in which the world listed them. Of a search page: the one that was made."""
    chosen: int
    """Index into `actions`."""
    image: str | None = None
    """Id of the picture on the page, for a store of image features; None where there is none."""

    @property
    def action(self) -> str:
        return self.actions[self.chosen]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One episode of somebody who is worth imitating."""

    task_id: str
    goal: str
    """The whole instruction, price clause included."""
    steps: tuple[DemonstrationStep, ...]
    success: bool | None = None
    """None where nobody knows, as in the official file."""
    score: float | None = None
    """On the papers' scale of 0 to 100."""
    source: str = ""
    """Who demonstrated: the name of a policy, or of a file."""

    def to_json(self) -> dict[str, Any]:
        """One line of a file; `from_json` reads it back."""
        return {
            "task_id": self.task_id,
            "goal": self.goal,
            "success": self.success,
            "score": self.score,
            "source": self.source,
            "observations": [step.observation for step in self.steps],
            "actions": [list(step.actions) for step in self.steps],
            "chosen": [step.chosen for step in self.steps],
            "images": [step.image for step in self.steps],
        }

    @classmethod
    def from_json(cls, row: object, where: str) -> Demonstration:
        """The demonstration of a line.

        Args:
            row: the parsed line.
            where: file and line, for the message.

        Raises:
            BadRecord: a field is missing or has the wrong shape, the lists differ in length, or a chosen index is no
                action's.
        """
        if not isinstance(row, Mapping):
            raise BadRecord(f"{where}: a demonstration is a JSON object, not {type(row).__name__}.")
        columns = [_list(row, name, where) for name in ("observations", "actions", "chosen", "images")]
        lengths = [len(column) for column in columns]
        if len(set(lengths)) != 1:
            raise BadRecord(
                f"{where}: observations, actions, chosen and images have {', '.join(map(str, lengths))} entries; "
                "a demonstration has one of each per step."
            )
        if not lengths[0]:
            raise BadRecord(f"{where}: the demonstration has no step.")
        score = _optional(row, "score", (int, float), where)
        if score is not None and not math.isfinite(score):
            raise BadRecord(f'{where}: "score" should be a finite number, is {score}.')
        steps = tuple(
            _step(place, f"{where}, step {number}") for number, place in enumerate(zip(*columns, strict=True), start=1)
        )
        return cls(
            task_id=_text(row, "task_id", where),
            goal=_text(row, "goal", where),
            steps=steps,
            success=_optional(row, "success", (bool,), where),
            score=score,
            source=_text(row, "source", where),
        )


def _step(columns: tuple[Any, ...], where: str) -> DemonstrationStep:
    observation, actions, chosen, image = columns
    if not isinstance(observation, str):
        raise BadRecord(f"{where}: the observation is a text, not {observation!r:.80}.")
    if not isinstance(actions, list) or not actions or not all(isinstance(action, str) for action in actions):
        raise BadRecord(f"{where}: the actions are a list of texts with one at least, not {actions!r:.80}.")
    if not isinstance(chosen, int) or isinstance(chosen, bool) or not 0 <= chosen < len(actions):
        raise BadRecord(f"{where}: the chosen action is number {chosen!r:.80}, but there are {len(actions)}, from 0.")
    if image is not None and not isinstance(image, str):
        raise BadRecord(f"{where}: the image is an id or null, not {image!r:.80}.")
    return DemonstrationStep(observation, tuple(actions), chosen, image)


def _list(row: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = row.get(key)
    if not isinstance(value, list):
        raise BadRecord(f'{where}: "{key}" should be a list with one entry a step, is {value!r:.80}.')
    return value


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise BadRecord(f'{where}: "{key}" should be a text, is {value!r:.80}.')
    return value


def _optional(row: Mapping[str, Any], key: str, kinds: tuple[type, ...], where: str) -> Any:
    value = row.get(key)
    numeric_bool = isinstance(value, bool) and bool not in kinds
    if value is not None and (numeric_bool or not isinstance(value, kinds)):
        raise BadRecord(f'{where}: "{key}" should be null or {" or ".join(kind.__name__ for kind in kinds)}.')
    return value
