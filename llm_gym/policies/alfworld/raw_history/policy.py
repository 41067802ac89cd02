"""The history student: a recurrent network that reads what was done and seen, and chooses among the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from llm_gym.core import Decision, Info, Opinion
from llm_gym.policies.alfworld.raw_history.events import History
from llm_gym.policies.alfworld.raw_history.model import SHIPPED, HistoryModel, Joined
from llm_gym.policies.base import Policy
from llm_gym.policies.stored_arrays import Floats

_DIGITS = 5
"""To which probabilities are compared: commands that look alike shall tie on every machine."""


class HistoryPolicy(Policy):
    """Read the history as it is, and take the command that a recurrent network scores best.

    The network (`train/alfworld_dagger.py --student history`) gets what was done and what was seen in words and
    numbers, in order, and nothing that was concluded from it: what it needs to remember, it has learned to remember.
    Beside that it is told how often each command was taken in this episode, unless it was trained without. To choose
    among commands that are known to be admissible is easier than to write them word by word, as BUTLER does.

    It needs NumPy only, reads both wordings, and goes on from whatever state others have led to, as long as it is
    shown every observation and told what was done.

    Args:
        folder: of a trained network; None: the one that comes with the package, which is read at the first decision.
    """

    name = "history"

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = folder
        self._model: HistoryModel | None = None
        self._history: History | None = None
        self._memory: Floats | None = None
        """After the last state in which something was done."""

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """The policy with a trained network, which is read and checked at once.

        Raises:
            MissingData: there is none.
            BadRecord: a file of it is truncated or malformed.
            DataMismatch: it is a model of another kind or version.
        """
        policy = cls(folder)
        policy.model  # noqa: B018 - reads it
        return policy

    @classmethod
    def pretrained(cls) -> Self:
        """The policy with the network that comes with the package."""
        return cls.from_pretrained(SHIPPED)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the network into a new folder, for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        self.model.write(Path(folder))

    @property
    def model(self) -> HistoryModel:
        """The trained network; read when it is first asked for."""
        if self._model is None:
            self._model = HistoryModel.read(SHIPPED if self.folder is None else Path(self.folder))
        return self._model

    def settings(self) -> dict[str, Any]:
        return {"weights": self.model.digest, "counts": self.model.counts}

    def __getstate__(self) -> dict[str, Any]:
        """The network is read anew where the policy goes."""
        return self.__dict__ | {"_model": None}

    # -- one episode -------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._history = self._memory = None

    def act(self, observation: str, info: Info) -> Decision:
        after, ranked = self._considered(observation, info)
        if not ranked:
            return Decision(None, "There is no command to choose from.")
        self._go_on(after, ranked[0].action)
        return Decision(ranked[0].action)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """Up to `k` commands, the most probable first, each with its probability."""
        _, ranked = self._considered(observation, info)
        return ranked[:k]

    def note(self, observation: str, info: Info, action: str) -> None:
        after, _ = self._considered(observation, info)
        self._go_on(after, action)

    def _considered(self, observation: str, info: Info) -> tuple[Floats, list[Opinion]]:
        """What would be remembered if this state were left now, and all commands, best first."""
        if self._history is None or self._memory is None:
            self._history, self._memory = History(self.model.vocabulary), self.model.beginning()
        moments = Joined.of([self._history.see(observation, info)])
        after, scores = self.model.hear(moments, self._memory)
        commands = info.get("admissible_actions") or []
        if not commands:
            return after, []
        raised = np.exp(scores - scores.max())
        probabilities = raised / raised.sum()
        order = np.argsort(-probabilities.round(_DIGITS), kind="stable")
        return after, [Opinion(commands[at], float(probabilities[at]), self.name) for at in order]

    def _go_on(self, memory: Floats, action: str) -> None:
        assert self._history is not None, "the state was considered"
        self._memory = memory
        self._history.did(action)
