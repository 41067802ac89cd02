"""What a goal in people's own words may ask for, the likeliest first."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from llm_gym.policies.alfworld.goal_reader.model import SHIPPED, GoalModel
from llm_gym.policies.alfworld.goal_reader.tokens import KINDS, errand_of, tokens
from llm_gym.policies.alfworld.goals import Errand

READINGS = 10
"""So many are listed at most."""
_UNDERSTOOD = 0.1
"""A sentence whose likeliest reading is less probable is not understood."""
_DIGITS = 6
"""To which probabilities are compared, so that they tie on every machine alike."""


class Reading(NamedTuple):
    """What a goal may ask for, and how probably, in [0, 1]."""

    errand: Errand
    probability: float


class GoalReader:
    """Reads human-written goals, such as those of `gym.make("llm_gym/ALFWorld-v1", goal="annotation", …)`.

    A small network (`train/alfworld_goals.py`) that has read what people wrote about the training games. It is given
    words, pairs of words, what `paraphrases.readings` makes of the sentence by rules, and the kinds of furniture that
    are in the room; no place is a target that the room does not have. Sentences of the releases themselves need no
    such reader: `read_goal`.

    Args:
        folder: of a trained model; None: the one that comes with the package, which is read at the first question.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = folder
        self._model: GoalModel | None = None
        self._last: tuple[str, frozenset[str], tuple[Reading, ...]] | None = None
        """The question asked last, and its answer: a player asks the same at every step."""

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """The reader with a trained model, which is read and checked at once.

        Raises:
            MissingData: there is no model.
            BadRecord: a file of it is truncated or malformed.
            DataMismatch: it is a model of another kind or version.
        """
        reader = cls(folder)
        reader.model  # noqa: B018 - reads it
        return reader

    @classmethod
    def pretrained(cls) -> Self:
        """The reader with the model that comes with the package."""
        return cls.from_pretrained(SHIPPED)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model into a new folder, for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        self.model.write(Path(folder))

    @property
    def model(self) -> GoalModel:
        """The trained model; read when it is first asked for."""
        if self._model is None:
            self._model = GoalModel.read(SHIPPED if self.folder is None else Path(self.folder))
        return self._model

    @property
    def digest(self) -> str:
        """Of all that decides, hexadecimal."""
        return self.model.digest

    def readings(self, goal: str, places: Set[str]) -> list[Errand]:
        """What a goal may ask for in a room with these kinds of places, the likeliest first; at most `READINGS`.

        Empty if nothing of it is understood.
        """
        return [reading.errand for reading in self.ranked(goal, places)]

    def ranked(self, goal: str, places: Set[str]) -> tuple[Reading, ...]:
        """The same with their probabilities."""
        question = goal, frozenset(places)
        if self._last is None or self._last[:2] != question:
            self._last = *question, self._rank(*question)
        return self._last[2]

    def _rank(self, goal: str, places: frozenset[str]) -> tuple[Reading, ...]:
        names = self.model.names
        probabilities = self.model.probabilities(tokens(goal, places), places)
        order = np.argsort(-probabilities.ravel().round(_DIGITS), kind="stable")[:READINGS]
        found = []
        for at in order:
            kind, thing, target = np.unravel_index(at, probabilities.shape)
            errand = errand_of(KINDS[kind], names.things[thing], names.targets[target])
            found.append(Reading(errand, float(probabilities[kind, thing, target])))
        if not found or found[0].probability < _UNDERSTOOD:
            return ()
        return tuple(reading for reading in found if reading.probability > 0)

    def __getstate__(self) -> dict[str, Any]:
        """The model is read anew where the reader goes."""
        return self.__dict__ | {"_model": None, "_last": None}
