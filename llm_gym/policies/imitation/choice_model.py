"""The choice model of the WebShop paper: how well each action fits a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from llm_gym.errors import InvalidSetting
from llm_gym.policies.imitation.bi_attention import BiAttention
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_encoder import (
    configuration,
    described,
    encode_packed,
    fit_vocabulary,
    pretrained_encoder,
    untrained_encoder,
)
from llm_gym.policies.imitation.text import MARKERS

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class ChoiceModel(nn.Module):
    """One encoder for states and actions, bi-attention between them, and a score for each action.

    A picture is projected to one more token, put before the *encoded* tokens of its state, as in the original: it meets
    the actions in the bi-attention and the words of the page nowhere else. A page without a picture has zeros instead.

    Axes: B states, S tokens of a state, A actions of a state (ΣA of all states together), T tokens of an action,
    D width of the encoder, M = S or S + 1 tokens of the memory.

    Args:
        settings: of everything but the encoder.
        encoder: any of transformers' that reads token ids and gives `last_hidden_state`. The other weights are drawn
            from torch's global generator; `create` and `untrained` make a whole model.
    """

    def __init__(self, settings: ChoiceConfig, encoder: PreTrainedModel) -> None:
        super().__init__()
        if "position_ids" not in signature(encoder.forward).parameters:
            raise InvalidSetting(
                f"An encoder of type {encoder.config.model_type!r} takes no positions: use one like BERT."
            )
        longest = getattr(encoder.config, "max_position_embeddings", settings.state_tokens)
        for name in ("state_tokens", "action_tokens"):
            if getattr(settings, name) > longest:
                raise InvalidSetting(f"{name} is {getattr(settings, name)}, but the encoder reads {longest} at most.")
        encoder.pooler = None  # type: ignore[assignment]  # weights that no score depends on
        width = encoder.config.hidden_size
        self.settings = replace(settings, encoder=described(encoder.config))
        self.encoder = encoder
        self.image = nn.Linear(settings.image_width, width) if settings.image else None
        self.attention = BiAttention(width, settings.legacy)
        self.hidden = nn.Linear(4 * width, width)
        self.score = nn.Linear(width, 1)

    @classmethod
    def untrained(cls, settings: ChoiceConfig) -> ChoiceModel:
        """A model of the shapes that `settings` say, the encoder's included, to be filled with weights.

        Raises:
            InvalidSetting: the encoder is unknown, or cannot read texts of that length.
        """
        with torch.random.fork_rng(devices=[]):
            return cls(settings, untrained_encoder(configuration(settings.encoder)))

    @classmethod
    def create(
        cls,
        encoder: str | Path | Mapping[str, Any],
        settings: ChoiceConfig,
        tokenizer: Tokenizer,
        *,
        pretrained: bool = True,
        layers: int | None = None,
        kept: Sequence[int] | None = None,
        seed: int = 0,
    ) -> ChoiceModel:
        """A model to train.

        Args:
            encoder: a folder, a name on the model hub, or a configuration of transformers with its `model_type`.
            settings: of the rest; `settings.encoder` is filled in.
            tokenizer: with the markers (`choice_tokens.with_markers`).
            pretrained: take the encoder's weights; False draws them too, which is "without language pre-training".
            layers: keep the first so many layers of the encoder.
            kept: the pretrained vocabulary's id of each token of `tokenizer`, in its order, where tokens were left out
                of it; tokens beyond its end, and those the encoder does not know, are new.
            seed: of the weights that are drawn.

        Raises:
            InvalidSetting: the settings do not fit each other or the encoder.
            MissingData: there is no such encoder.
        """
        if missing := [marker for marker in MARKERS if tokenizer.token_to_id(marker) is None]:
            raise InvalidSetting(f"The tokenizer lacks {missing[0]!r}: add the markers with with_markers(tokenizer).")
        if pretrained and isinstance(encoder, Mapping):
            raise InvalidSetting("A configuration has no weights: give a folder or a name, or pretrained=False.")
        config = configuration(encoder)
        if layers is not None:
            config.num_hidden_layers = _checked(layers, config.num_hidden_layers)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if isinstance(encoder, Mapping) or not pretrained:
                source = untrained_encoder(config)
            else:
                source = pretrained_encoder(encoder, config)
            fit_vocabulary(source, tokenizer, kept if pretrained else None)
            return cls(settings, source)

    def forward(
        self,
        state_ids: Tensor,
        state_mask: Tensor,
        action_ids: Tensor,
        action_mask: Tensor,
        counts: Tensor,
        images: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Scores of a batch as `Collator` makes it; what is padded is read and masked.

        Args:
            state_ids: (B, S).
            state_mask: (B, S), 1 where there is a token.
            action_ids: (ΣA, T), the actions of the first state first.
            action_mask: (ΣA, T).
            counts: (B,), the number of actions of each state.
            images: (B, image_width); None stands for zeros.
            labels: (B,), the index of the action that was chosen.

        Returns:
            `logits` (B, Amax), -inf beyond a state's actions, and with labels `loss`, the mean negative log-likelihood
            over the states.
        """
        states = self.encode(state_ids, state_mask)  # (B, S, D)
        memory, memory_mask = self.with_picture(states, state_mask.bool(), images)  # (B, M, D), (B, M)
        sizes = counts.tolist()
        actions = torch.split(self.encode(action_ids, action_mask), sizes)  # B × (A, T, D)
        masks = torch.split(action_mask.bool(), sizes)  # B × (A, T)
        rated = [self.rate(*row) for row in zip(actions, masks, memory, memory_mask, strict=True)]  # B × (A,)
        logits = pad_sequence(rated, batch_first=True, padding_value=-torch.inf)  # (B, Amax)
        return {"logits": logits} if labels is None else {"loss": cross_entropy(logits, labels), "logits": logits}

    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(N, T) → (N, T, D), zeros at padding.

        A legacy model, whose scores depend on it, encodes the padding too.
        """
        if not self.settings.legacy:
            return encode_packed(self.encoder, ids, mask)
        encoded: Tensor = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return encoded

    def with_picture(self, states: Tensor, mask: Tensor, images: Tensor | None) -> tuple[Tensor, Tensor]:
        """(B, S, D) and (B, S) → (B, M, D) and (B, M): the picture as a token before the others."""
        if self.image is None:
            return states, mask
        if images is None:
            images = states.new_zeros(len(states), self.image.in_features)
        token = self.image(images).unsqueeze(1)  # (B, 1, D)
        return torch.cat([token, states], dim=1), torch.cat([mask[:, :1], mask], dim=1)

    def rate(self, actions: Tensor, action_mask: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """(A, T, D), (A, T), (M, D), (M,) → (A,): the scores of the actions of one state."""
        if not self.settings.legacy:
            longest = int(action_mask.sum(1).max())
            actions, action_mask = actions[:, :longest], action_mask[:, :longest]
        features = self.attention(actions, action_mask, memory, memory_mask)  # (A, T, 4·D)
        hidden = self.hidden(features).relu() * action_mask.unsqueeze(-1)  # (A, T, D)
        pooled = hidden.sum(1) / action_mask.sum(1, keepdim=True)  # (A, D), mean over the real tokens
        scores: Tensor = self.score(pooled).squeeze(-1)  # (A,)
        return scores


def _checked(layers: int, most: int) -> int:
    if not 1 <= layers <= most:
        raise InvalidSetting(f"layers must be from 1 to the encoder's {most}, got {layers}.")
    return layers
