"""A text agent at work: it reads many states at once and writes a command for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from llm_gym.errors import DataMismatch
from llm_gym.policies.butler.beam import Tokens, Written, beams
from llm_gym.policies.butler.config import ButlerConfig
from llm_gym.policies.butler.model import ButlerModel, Memory, Texts, logarithms
from llm_gym.policies.butler.observation import ObservationPool
from llm_gym.policies.butler.tokens import ButlerTokens
from llm_gym.policies.imitation.checkpoint import CONFIG, Checkpoint, Precision, fill, read_checkpoint, write_checkpoint

KIND = "alfworld-butler"
TABLE = "table"
_TOGETHER = 32
"""Texts of a batch: what is computed of them fits into a processor's cache."""


class Reading(NamedTuple):
    """A state, as ids."""

    seen: Tokens
    """The observation pool."""
    task: Tokens


class Writer:
    """A trained text agent.

    Args:
        model: what it computes with.
        tokens: what its numbers mean.
    """

    def __init__(self, model: ButlerModel, tokens: ButlerTokens) -> None:
        self.model = model
        self.tokens = tokens

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Writer:
        """A model of a folder that `save` made.

        Raises:
            MissingData, BadRecord, DataMismatch: there is none, or a broken one, or one of another kind.
            MissingDependency: the extra `torch` is not installed.
        """
        folder = Path(folder)
        checkpoint = read_checkpoint(folder, KIND)
        config = ButlerConfig.from_json(checkpoint.config, str(folder / CONFIG))
        tokens = ButlerTokens(checkpoint.tokenizer)
        table = checkpoint.weights.get(TABLE)
        if table is None or table.shape != (len(tokens), config.embedding_width):
            raise DataMismatch(
                f"{folder}: word embeddings for {len(tokens)} tokens of {config.embedding_width} numbers are wanted, "
                f"there are {None if table is None else table.shape}."
            )
        model = ButlerModel(config, torch.zeros(*table.shape))
        fill(model, checkpoint, folder)
        return cls(model.eval(), tokens)

    def save(self, folder: str | Path, precision: Precision = "float32") -> None:
        """Write a folder for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in it already.
        """
        weights = {name: values.detach().numpy() for name, values in self.model.state_dict().items()}
        checkpoint = Checkpoint(KIND, self.model.config.to_json(), weights, self.tokens.to_json())
        write_checkpoint(Path(folder), checkpoint, precision)

    # -- reading -----------------------------------------------------------------------------------------------

    def reading(self, pool: ObservationPool, task: str) -> Reading:
        """A state as ids; a pool's parts by themselves, for they come again in the next one."""
        seen = self.tokens.ids(pool.first)
        for entry in pool.recent:
            seen = (*seen, self.tokens.end, *self.tokens.ids(entry))
        return Reading(seen, self.tokens.ids(task))

    def padded(self, rows: Sequence[Tokens | npt.NDArray[np.uint16]]) -> Texts:
        """Ids of texts as one batch."""
        longest = max(1, *map(len, rows))
        ids = np.full((len(rows), longest), self.tokens.padding)
        mask = np.zeros((len(rows), longest), np.float32)
        for row, text in enumerate(rows):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        return Texts(torch.from_numpy(ids), torch.from_numpy(mask))

    def look(self, readings: Sequence[Reading], hidden: Tensor) -> tuple[Memory, Tensor]:
        """What the decoder reads in each state, and the recurrent states after it; hidden is (B, D)."""
        model = self.model
        seen, task = self.padded([reading.seen for reading in readings]), self.padded([each.task for each in readings])
        aggregated = model.aggregate(seen, model.encode(seen), task, model.encode(task))
        hidden = model.remember(aggregated, seen.mask, hidden)
        return model.memory(seen, aggregated, hidden), hidden

    def consider(
        self, reading: Reading, hidden: npt.NDArray[np.float32] | None
    ) -> tuple[Memory, npt.NDArray[np.float32]]:
        """`look` at one state by itself, without gradient; hidden is (1, D), or None at the beginning."""
        before = torch.zeros(1, self.model.config.width) if hidden is None else torch.from_numpy(hidden)
        with torch.inference_mode():
            memory, after = self.look([reading], before)
        return memory, after.numpy()

    # -- writing -----------------------------------------------------------------------------------------------

    def commands(self, readings: Sequence[Reading], hidden: Tensor) -> tuple[list[str], Tensor]:
        """The greedy command of each state, and the recurrent states after it; (B, D) → (B, D)."""
        commands = [""] * len(readings)
        after = torch.empty_like(hidden)
        with torch.inference_mode():
            for rows in alike([len(reading.seen) for reading in readings]):
                memory, after[rows] = self.look([readings[row] for row in rows], hidden[rows])
                for row, command in zip(rows, self.greedy(memory), strict=True):
                    commands[row] = command
        return commands, after.clone()

    def greedy(self, memory: Memory) -> list[str]:
        """For each state the command whose every token is the likeliest after those before it."""
        with torch.inference_mode():
            written = torch.full((len(memory.seen.ids), 1), self.tokens.begin)
            ended = torch.zeros(len(written), dtype=torch.bool)
            while written.shape[1] <= self.model.config.target_tokens and not ended.all():
                following = self.model.shares(memory, written, last=True)[:, 0].argmax(-1)
                written = torch.cat([written, following[:, None]], dim=1)
                ended |= following == self.tokens.end
        return [self.tokens.text(row) for row in written[:, 1:].tolist()]

    def beams(self, memory: Memory, width: int, finished: int) -> list[tuple[str, Written]]:
        """The commands that a beam search finds for one state, each once, the best first."""

        def extend(tokens: Tokens) -> npt.NDArray[np.float64]:
            written = torch.tensor([[self.tokens.begin, *tokens]])
            following: npt.NDArray[np.float64] = (
                logarithms(self.model.shares(memory, written, last=True))[0, 0].double().numpy()
            )
            return following

        longest = self.model.config.target_tokens
        with torch.inference_mode():
            found = beams(extend, self.tokens.end, longest=longest, width=width, finished=finished)
        first: dict[str, Written] = {}
        for written in found:
            first.setdefault(self.tokens.text(written.tokens), written)
        return list(first.items())


def alike(lengths: Sequence[int], most: int = _TOGETHER) -> Iterator[list[int]]:
    """All positions in groups of similar length, so that little is padded."""
    order: list[int] = np.argsort(lengths, kind="stable").tolist()
    for start in range(0, len(order), most):
        yield order[start : start + most]
