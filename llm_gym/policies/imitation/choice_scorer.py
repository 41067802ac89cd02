"""A trained choice model in use: the log-probability of each action on a page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from llm_gym.errors import DataMismatch, InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.imitation.checkpoint import (
    CONFIG,
    TOKENIZER,
    Checkpoint,
    Precision,
    fill,
    read_checkpoint,
    write_checkpoint,
)
from llm_gym.policies.imitation.choice_batch import ChoiceExample, Collator, pad_id, padded, picture
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_tokens import TextTokens, read_tokenizer
from llm_gym.policies.imitation.text import process

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from llm_gym.policies.imitation.choice_model import ChoiceModel

KIND = "webshop-choice"
_KEPT_STATES = 32
"""Encodings of so many states are kept: who is asked for advice is asked to act on the same page."""


class ChoiceScorer:
    """Scores the actions of a page, the same as `ChoiceModel.forward` does and faster.

    The state is encoded once, equal actions are encoded once, nothing is padded, and the encodings of the actions and
    states used last are kept. A model with `legacy=True` is run as it was trained, since its scores depend on padding.
    Can be used by several threads; one thread of torch (`torch.set_num_threads(1)`) is fastest where other work is done
    beside it.

    Args:
        model: is put into evaluation.
        tokenizer: its tokenizer.
        kept: the encodings of so many actions are kept, about 15 tokens · width · 4 bytes each.
    """

    def __init__(self, model: ChoiceModel, tokenizer: Tokenizer, kept: int = 2048) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self._states = TextTokens(tokenizer, self.config.state_tokens, kept=_KEPT_STATES, head=self.config.head_tokens)
        self._actions = TextTokens(tokenizer, self.config.action_tokens, kept)
        self._collate = Collator(tokenizer, self.config)
        self._pad = pad_id(self.config)
        self._kept_actions, self._kept_states = LastUsed(kept), LastUsed(_KEPT_STATES)

    @property
    def config(self) -> ChoiceConfig:
        return self.model.settings

    @classmethod
    def from_pretrained(cls, folder: str | Path, image: bool | None = None, kept: int = 2048) -> ChoiceScorer:
        """A trained model from a folder.

        Args:
            folder: what `save` wrote.
            image: whether it has to read pictures; None takes either.
            kept: see the class.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or its files do not belong together, or the model
                reads pictures where it should not or the other way round.
            MissingDependency: the extra `torch` is not installed.
        """
        torch, _ = require("torch", "torch"), require("transformers", "torch")
        from llm_gym.policies.imitation.choice_model import ChoiceModel

        folder = Path(folder)
        checkpoint = read_checkpoint(folder, KIND)
        config = ChoiceConfig.from_json(checkpoint.config, str(folder / CONFIG))
        if image is not None and image != config.image:
            has, should = ("pictures", "text only") if config.image else ("text only", "pictures")
            raise DataMismatch(f"{folder} holds a choice model that reads {has}; wanted was one that reads {should}.")
        stored = sum(values.size for values in checkpoint.weights.values())
        try:
            with torch.device("meta"):  # counted before memory is asked for
                wanted = sum(values.numel() for values in ChoiceModel.untrained(config).state_dict().values())
            if wanted != stored:
                raise DataMismatch(f"{folder}: its {CONFIG} is of a model of {wanted:,} weights; here are {stored:,}.")
            model = ChoiceModel.untrained(config)
        except InvalidSetting as error:
            raise DataMismatch(f"{folder / CONFIG}: {error}") from error
        fill(model, checkpoint, folder)
        return cls(model, read_tokenizer(checkpoint.tokenizer, str(folder / TOKENIZER)), kept)

    def save(self, folder: str | Path, precision: Precision = "float32") -> None:
        """Write the model; `from_pretrained` reads it back.

        Args:
            folder: a new one.
            precision: of the weights in the file; "int8" takes a quarter of the room and is undone when it is read.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        weights = {name: values.detach().cpu().numpy() for name, values in self.model.state_dict().items()}
        config = self.config.to_json()
        write_checkpoint(Path(folder), Checkpoint(KIND, config, weights, self.tokenizer.to_str()), precision)

    def scores(
        self, state: str, actions: Sequence[str], image: npt.NDArray[np.float32] | None = None
    ) -> npt.NDArray[np.float32]:
        """Log-probabilities of the actions, in their order; their exponentials sum to 1.

        Args:
            state: the page, with whatever history the model was trained with.
            actions: at least one; results by their titles (`item_names`).
            image: what describes the picture on the page, (image_width,); None where there is none.

        Raises:
            InvalidSetting: there is no action, or a picture that the model cannot read.
        """
        if not actions:
            raise InvalidSetting("There is no action to choose among.")
        if image is not None and not self.config.image:
            raise InvalidSetting("This choice model reads text only: leave the image out.")
        torch = require("torch", "torch")
        with torch.inference_mode():
            logits = (
                self._as_trained(state, actions, image) if self.config.legacy else self._fast(state, actions, image)
            )
            scores: npt.NDArray[np.float32] = logits.log_softmax(-1).cpu().numpy()
        return scores

    def _as_trained(self, state: str, actions: Sequence[str], image: npt.NDArray[np.float32] | None) -> Tensor:
        """(A,): everything padded to one batch."""
        batch = self._collate([ChoiceExample(state, tuple(actions), 0, image)])
        logits: Tensor = self.model(**batch)["logits"][0]
        return logits

    def _fast(self, state: str, actions: Sequence[str], image: npt.NDArray[np.float32] | None) -> Tensor:
        """(A,): nothing padded, nothing encoded twice."""
        torch = require("torch", "torch")
        memory, mask = self._memory(state, image)
        texts = [process(action) for action in actions]
        encoded = self._encoded(list(dict.fromkeys(texts)), self._actions, self._kept_actions)
        scores: dict[str, Tensor] = {}
        for group in _of_one_length(encoded):
            stacked = torch.stack([encoded[text] for text in group])  # (A, T, D)
            everything = torch.ones(stacked.shape[:2], dtype=torch.bool)
            scores |= zip(group, self.model.rate(stacked, everything, memory, mask), strict=True)
        in_order: Tensor = torch.stack([scores[text] for text in texts])
        return in_order

    def _memory(self, state: str, image: npt.NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
        """(M, D) and (M,)."""
        torch = require("torch", "torch")
        text = process(state)
        states = self._encoded([text], self._states, self._kept_states)[text].unsqueeze(0)  # (1, S, D)
        images = None
        if self.config.image:
            images = torch.tensor(picture(image, self.config.image_width)).unsqueeze(
                0
            )  # a copy: pictures are read-only
        everything = torch.ones(states.shape[:2], dtype=torch.bool)
        memory, mask = self.model.with_picture(states, everything, images)
        return memory[0], mask[0]

    def _encoded(self, texts: Sequence[str], tokens: TextTokens, kept: LastUsed) -> dict[str, Tensor]:
        """Text → (T, D), of those kept where it is among them."""
        torch = require("torch", "torch")
        found = kept.find(texts)
        missing = [text for text in texts if text not in found]
        fresh: dict[str, Tensor] = {}
        if missing:
            batch = padded([tokens.ids(text) for text in missing], self._pad)
            encoded = self.model.encode(*map(torch.from_numpy, batch))  # (A, T, D)
            lengths = batch.mask.sum(1).tolist()
            # Copies, so that one that is kept does not keep the whole batch.
            fresh = {text: encoded[row, : lengths[row]].clone() for row, text in enumerate(missing)}
            kept.keep(fresh)
        return {**found, **fresh}


def _of_one_length(encoded: Mapping[str, Tensor]) -> Iterator[list[str]]:
    """The texts in groups of as many tokens."""
    groups: dict[int, list[str]] = {}
    for text, tokens in encoded.items():
        groups.setdefault(len(tokens), []).append(text)
    yield from groups.values()


class LastUsed:
    """Text → encoding, of those used last. The lock keeps order and content together; encoding is done outside it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, Tensor] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, texts: Sequence[str]) -> dict[str, Tensor]:
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
        return found

    def keep(self, encodings: dict[str, Tensor]) -> None:
        with self._lock:
            self._kept.update(encodings)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
