"""The text agent as a policy."""

from __future__ import annotations

import hashlib
import shutil
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from llm_gym.core import Decision, Info, Opinion
from llm_gym.data import new_folder
from llm_gym.errors import MissingData
from llm_gym.extras import require
from llm_gym.policies.base import Policy
from llm_gym.policies.butler.observation import RESTART, ObservationPool
from llm_gym.policies.butler.unstick import Trouble
from llm_gym.policies.imitation.checkpoint import CONFIG, TOKENIZER, WEIGHTS

if TYPE_CHECKING:
    import numpy.typing as npt

    from llm_gym.policies.butler.generation import Writer
    from llm_gym.policies.butler.model import Memory

SHIPPED = Path(__file__).parent.parent / "weights" / "alfworld_butler"
Floats: TypeAlias = "npt.NDArray[np.float32]"
_EXTRA = "torch"
_ALWAYS_ADMISSIBLE = {"look", "inventory"}
_WIDTH, _FINISHED = 10, 5
"""Of the paper's beam search."""


class ButlerPolicy(Policy):
    """BUTLER's text agent: it writes its commands word by word, whether they are possible or not.

    What it reads is what it saw first, the last three observations that differ, each with the action before it, and the
    task; what lies further back only its recurrent state holds. It never looks at the admissible commands, except to
    know whether this is a game of ALFWorld that goes on: elsewhere it stops.

    Args:
        folder: of a trained model, as `train/alfworld_dagger.py --student butler` writes it; None: the one that comes
            with the package. It is read at the first decision.
        beam: where a command was answered `Nothing happens.` and would be written again, try those of a beam search
            (the paper's results; without it its "greedy" ablation).
    """

    name = "butler"

    def __init__(self, folder: str | Path | None = None, beam: bool = False) -> None:
        self.folder = folder
        self.beam = beam
        self.reset()

    @classmethod
    def pretrained(cls) -> Self:
        """The policy with the model that comes with the package."""
        return cls.from_pretrained(SHIPPED)

    @classmethod
    def from_pretrained(cls, folder: str | Path, beam: bool = False) -> Self:
        """The policy with a trained model, which is read and checked at once.

        Raises:
            MissingData, BadRecord, DataMismatch: there is none, or a broken one, or one of another kind.
            MissingDependency: the extra `torch` is not installed.
        """
        policy = cls(folder, beam)
        policy._writer()
        return policy

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the model into a new folder, for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        self._writer()
        with new_folder(Path(folder)) as workshop:
            for name in (CONFIG, TOKENIZER, WEIGHTS):
                shutil.copyfile(self._source / name, workshop / name)

    def settings(self) -> dict[str, Any]:
        return {"weights": _digest(self._source), "beam": self.beam}

    def __getstate__(self) -> dict[str, Any]:
        """What it thought of this state is thought again where the policy goes, from what it read and remembers."""
        return self.__dict__ | {"_memory": None}

    # -- the policy --------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._last: str | None = RESTART
        """The action since the last look; None: nothing has happened since."""
        self._previous: str | None = None
        """The action before the present observation."""
        self._pool: ObservationPool | None = None
        self._before: Floats | None = None
        """The recurrent state before the present observation, (1, D); None: the episode begins."""
        self._after: Floats | None = None
        self._memory: Memory | None = None
        self._trouble = Trouble()

    def act(self, observation: str, info: Info) -> Decision:
        memory = self._look(observation, info)
        if memory is None:
            return Decision(None, "This is no game of ALFWorld, or it is over.")
        action = self._writer().greedy(memory)[0]
        if self.beam:
            action, self._trouble = self._trouble.choice(action, self._previous, lambda: self._alternatives(memory))
        self._last = action
        return Decision(action)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """The likeliest commands of a beam search that are possible here, each with its probability."""
        memory = self._look(observation, info)
        if memory is None:
            return []
        admissible = info.get("admissible_actions") or []
        found = self._writer().beams(memory, _WIDTH, max(k, _FINISHED))
        certain = [(command, min(1.0, float(np.exp(written.log_probability)))) for command, written in found]
        return [Opinion(command, share, self.name) for command, share in certain if command in admissible][:k]

    def note(self, observation: str, info: Info, action: str) -> None:
        self._look(observation, info)
        self._last = action

    def _look(self, observation: str, info: Info) -> Memory | None:
        """What the decoder reads here; None where this is no game that goes on."""
        if not _ALWAYS_ADMISSIBLE.issubset(info.get("admissible_actions") or []):
            return None
        writer = self._writer()
        if self._last is not None:
            text = info.get("page", observation)
            pool = self._pool or ObservationPool(writer.model.config.observations)
            self._pool = pool.after(text, self._last)
            self._previous = None if self._last == RESTART else self._last
            self._trouble = self._trouble.after(text, self._previous)
            self._before, self._last, self._memory = self._after, None, None
        if self._memory is None:
            assert self._pool is not None, "something was seen"
            reading = writer.reading(self._pool, info.get("goal", ""))
            self._memory, self._after = writer.consider(reading, self._before)
        return self._memory

    def _alternatives(self, memory: Memory) -> list[str]:
        return [command for command, _ in self._writer().beams(memory, _WIDTH, _FINISHED)]

    @property
    def _source(self) -> Path:
        return SHIPPED if self.folder is None else Path(self.folder)

    def _writer(self) -> Writer:
        require("torch", _EXTRA)
        return _read(self._source)


def _digest(folder: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of what a folder holds."""
    missing = [name for name in (CONFIG, TOKENIZER, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise MissingData(f"{folder} is no trained model: it has no {missing[0]}. Give a folder that training made.")
    sha = hashlib.sha256()
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        sha.update((folder / name).read_bytes())
    return sha.hexdigest()[:16]


@lru_cache(maxsize=4)
def _read(folder: Path) -> Writer:
    from llm_gym.policies.butler.generation import Writer

    return Writer.from_pretrained(folder)
