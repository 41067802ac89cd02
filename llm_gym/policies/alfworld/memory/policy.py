"""The memory student: what a network has learned to do, given a belief built from the text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from llm_gym.core import Decision, Info, Opinion
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.memory.model import SHIPPED, MemoryModel
from llm_gym.policies.alfworld.memory.player import Player
from llm_gym.policies.base import Policy

_DIGITS = 5
"""To which probabilities are compared: commands that look alike shall tie on every machine."""


class MemoryPolicy(Policy):
    """Score every admissible command by a small network, and take the best.

    The network (arXiv:1011.0686 in the use of arXiv:2010.03768, `train/alfworld_dagger.py --student memory`) reads the
    words of a command and flags that compare it with the errand and with what was seen so far: that belief is nearly
    the expert's, and is kept by the same rules. What is learned is what to do with it: where things probably are, and
    what comes after what. To choose among commands that are known to be admissible is easier than to write them word
    by word, as BUTLER does.

    It needs NumPy only, reads both wordings, and goes on from whatever state others have led to, as long as it is
    shown every observation. The task and its two nouns are taken out of the goal: by the templates of the releases,
    and of goals in people's own words by a `GoalReader`, whose next reading is tried where one was in vain.

    Args:
        folder: of a trained model; None: the one that comes with the package, which is read at the first decision.
        goals: folder of a trained goal reader; None: the one that comes with the package.
    """

    name = "memory"

    def __init__(self, folder: str | Path | None = None, goals: str | Path | None = None) -> None:
        self.folder = folder
        self.goals = goals
        self._model: MemoryModel | None = None
        self._reader = GoalReader(goals)
        self._player: Player | None = None

    @classmethod
    def from_pretrained(cls, folder: str | Path, goals: str | Path | None = None) -> Self:
        """The policy with a trained model, which is read and checked at once.

        Raises:
            MissingData: there is no model.
            BadRecord: a file of it is truncated or malformed.
            DataMismatch: it is a model of another kind or version.
        """
        policy = cls(folder, goals)
        policy.model  # noqa: B018 - reads it
        return policy

    @classmethod
    def pretrained(cls) -> Self:
        """The policy with the model that comes with the package."""
        return cls.from_pretrained(SHIPPED)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model into a new folder, for `from_pretrained`; the goal reader has a folder of its own.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        self.model.write(Path(folder))

    @property
    def model(self) -> MemoryModel:
        """The trained model; read when it is first asked for."""
        if self._model is None:
            self._model = MemoryModel.read(SHIPPED if self.folder is None else Path(self.folder))
        return self._model

    def settings(self) -> dict[str, Any]:
        return {"weights": self.model.digest, "goals": self._reader.digest}

    def __getstate__(self) -> dict[str, Any]:
        """The model is read anew where the policy goes."""
        return self.__dict__ | {"_model": None}

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._player = None

    def act(self, observation: str, info: Info) -> Decision:
        opinions, why_none = self._considered(observation, info)
        return Decision(opinions[0].action if opinions else None, why_none)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """Up to `k` commands, the most probable first, each with its probability."""
        opinions, _ = self._considered(observation, info)
        return opinions[:k]

    def note(self, observation: str, info: Info, action: str) -> None:
        """What was seen is remembered, also where somebody else decides."""
        self._considered(observation, info)

    def _considered(self, observation: str, info: Info) -> tuple[list[Opinion], str]:
        """All commands, best first, and why there are none."""
        if self._player is None:
            self._player = Player(self.model.vocabulary, self._reader, remembers=self.model.remembers)
        seen = self._player.see(observation, info)
        if isinstance(seen, str):
            return [], seen
        commands: Sequence[str] = info.get("admissible_actions") or []
        probabilities = self.model.probabilities(seen)
        order = np.argsort(-probabilities.round(_DIGITS), kind="stable")
        return [Opinion(commands[at], float(probabilities[at]), self.name) for at in order], ""
