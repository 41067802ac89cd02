"""The imitation model with a value: the actor-critic of the WebShop paper (section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from llm_gym.errors import DataMismatch, InvalidSetting
from llm_gym.policies.imitation.checkpoint import (
    CONFIG,
    TOKENIZER,
    Checkpoint,
    Precision,
    fill,
    read_checkpoint,
    write_checkpoint,
)
from llm_gym.policies.imitation.choice_batch import pad_id, padded, picture
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_model import ChoiceModel
from llm_gym.policies.imitation.choice_scorer import LastUsed
from llm_gym.policies.imitation.choice_tokens import TextTokens, read_tokenizer
from llm_gym.policies.reinforcement.network import BERT, Judgement, Situation

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_HIDDEN = 128
"""Width of the value's one hidden layer."""
_KEPT_TEXTS = 20_000
"""So many texts are tokenised once."""
_KEPT_STATES, _KEPT_ACTIONS = 64, 4096
"""Encodings that are kept: a state has up to 0.6 MB, an action about 25 kB."""
_LARGE = 10.0
"""What the value's last layer is multiplied by: where rewards are, returns are of that order."""


class BertActorCritic(nn.Module):
    """A choice model, whose scores are the policy, and a value read off the state's first token, [CLS].

    The original encodes the state a second time for the value; without dropout that is the same encoding, and it is
    used twice here. As there, the picture takes no part in the value, and neither does the goal but as it stands on the
    page.

    Axes: B situations, S tokens of a page, A actions, D width.

    Args:
        choice: reads pages without what came before them.
        tokenizer: the choice model's.
        seed: of the value's weights.

    Raises:
        InvalidSetting: the choice model reads earlier pages or actions, or depends on padding.
    """

    kind = BERT

    def __init__(self, choice: ChoiceModel, tokenizer: Tokenizer, seed: int = 0) -> None:
        super().__init__()
        config = choice.settings
        if config.observations or config.actions or config.legacy:
            raise InvalidSetting(
                "An actor-critic begins with a choice model that reads one page at a time and was trained without "
                f"legacy=True, not with observations={config.observations}, actions={config.actions}, "
                f"legacy={config.legacy}."
            )
        width = choice.score.in_features
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.value = nn.Sequential(nn.Linear(width, _HIDDEN), nn.LeakyReLU(), nn.Linear(_HIDDEN, 1))
        self.choice = choice
        self.tokenizer = tokenizer
        self._state_tokens = TextTokens(tokenizer, config.state_tokens, _KEPT_TEXTS, config.head_tokens)
        self._action_tokens = TextTokens(tokenizer, config.action_tokens, _KEPT_TEXTS)
        self._states, self._actions = LastUsed(_KEPT_STATES), LastUsed(_KEPT_ACTIONS)
        """Encodings, used while the encoder is not trained."""

    @property
    def config(self) -> ChoiceConfig:
        return self.choice.settings

    @classmethod
    def from_pretrained(cls, folder: Path) -> BertActorCritic:
        """What `save` wrote.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or its files do not belong together.
        """
        checkpoint = read_checkpoint(folder, BERT)
        config = ChoiceConfig.from_json(checkpoint.config, str(folder / CONFIG))
        tokenizer = read_tokenizer(checkpoint.tokenizer, str(folder / TOKENIZER))
        stored = sum(values.size for values in checkpoint.weights.values())
        try:
            with torch.device("meta"):  # counted before memory is asked for
                wanted = sum(values.numel() for values in cls._untrained(config, tokenizer).state_dict().values())
            if wanted != stored:
                raise DataMismatch(f"{folder}: its {CONFIG} is of a model of {wanted:,} weights; here are {stored:,}.")
            network = cls._untrained(config, tokenizer)
        except InvalidSetting as error:
            raise DataMismatch(f"{folder / CONFIG}: {error}") from error
        fill(network, checkpoint, folder)
        return network.eval()

    @classmethod
    def _untrained(cls, config: ChoiceConfig, tokenizer: Tokenizer) -> BertActorCritic:
        return cls(ChoiceModel.untrained(config), tokenizer)

    def save(self, folder: Path, precision: Precision = "float32") -> None:
        """Write the network into a new folder.

        Args:
            folder: a new one.
            precision: of the weights in the file; "int8" takes a quarter of the room and is undone when it is read.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        weights = {name: values.detach().cpu().numpy() for name, values in self.state_dict().items()}
        checkpoint = Checkpoint(BERT, self.config.to_json(), weights, self.tokenizer.to_str())
        write_checkpoint(folder, checkpoint, precision)

    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        self._states, self._actions = LastUsed(_KEPT_STATES), LastUsed(_KEPT_ACTIONS)
        return super().load_state_dict(*args, **kwargs)

    def freeze(self, layers: int) -> None:
        """Keep the word vectors and the first so many layers of the encoder as they are; -1: train everything.

        With all layers the encoder is frozen whole, and what it makes of a text is computed once.

        Raises:
            InvalidSetting: the encoder has fewer layers.
        """
        encoder = self.choice.encoder
        lists = [list(part) for part in encoder.modules() if isinstance(part, nn.ModuleList)]
        stack = max(lists, key=len, default=[])
        if not -1 <= layers <= len(stack):
            raise InvalidSetting(f"frozen must be from -1 to the encoder's {len(stack)} layers, got {layers}.")
        encoder.requires_grad_(layers < len(stack))
        if layers >= 0:
            for module in (encoder.get_input_embeddings(), *stack[:layers]):
                module.requires_grad_(False)

    def judge(self, situations: Sequence[Situation]) -> Judgement:
        """Every page and every action is encoded once, however many situations have it."""
        pages = _places(one.page for one in situations)
        texts = _places(action for one in situations for action in one.actions)
        states, state_mask = self._encoded(list(pages), self._state_tokens, self._states)  # (pages, S, D), (pages, S)
        actions, action_mask = self._encoded(
            list(texts), self._action_tokens, self._actions
        )  # (texts, T, D), (texts, T)
        here = torch.tensor([pages[one.page] for one in situations])  # (B,)
        memory, memory_mask = self.choice.with_picture(states[here], state_mask[here], self._pictures(situations))
        rated = []  # B × (A,)
        for place, one in enumerate(situations):
            own = torch.tensor([texts[action] for action in one.actions])  # (A,)
            scores = self.choice.rate(actions[own], action_mask[own], memory[place], memory_mask[place])
            rated.append(scores.log_softmax(-1))
        values = _LARGE * self.value(states[here, 0]).squeeze(-1)  # (B,)
        return Judgement(pad_sequence(rated, batch_first=True, padding_value=-torch.inf), values)

    def _encoded(self, texts: Sequence[str], tokens: TextTokens, kept: LastUsed) -> tuple[Tensor, Tensor]:
        """(N, T, D) and (N, T), True where there is a token."""
        ids = [tokens.ids(text) for text in texts]
        padded_ids, mask = map(torch.from_numpy, padded(ids, pad_id(self.config)))
        if self._learns:
            return self.choice.encode(padded_ids, mask), mask.bool()
        found = kept.find(texts)
        fresh = {text: self._alone(ids[place]) for place, text in enumerate(texts) if text not in found}
        kept.keep(fresh)
        found |= fresh
        return pad_sequence([found[text] for text in texts], batch_first=True), mask.bool()

    def _alone(self, ids: tuple[int, ...]) -> Tensor:
        """(T, D). One text at a time: its encoding is then the same to the last bit, whatever was encoded before."""
        with torch.no_grad():
            return self.choice.encode(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.int64))[0]

    @property
    def _learns(self) -> bool:
        """Whether the encoder is trained, so that no encoding can be kept."""
        return any(weight.requires_grad for weight in self.choice.encoder.parameters())

    def _pictures(self, situations: Sequence[Situation]) -> Tensor | None:
        """(B, image_width), zeros where a page shows none; None where the model reads none."""
        if not self.config.image:
            return None
        return torch.from_numpy(np.stack([picture(one.image, self.config.image_width) for one in situations]))


def _places(texts: Iterable[str]) -> dict[str, int]:
    """Text → its place among the different ones."""
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}
