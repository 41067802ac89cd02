"""Encoders of transformers, as the choice model uses them: from a folder, from a name, or from a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from llm_gym.errors import InvalidSetting, MissingData

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_ENCODERS: Any = AutoModel
"""Its methods have no types."""
_OF_A_FILE = ("_name_or_path", "architectures", "dtype", "transformers_version")
"""Entries of an encoder's configuration that say where it came from, not what it is."""
_ROW = 64
"""Tokens of a row of packed texts, unless one is longer: long rows waste attention on what is masked."""
_ROWS_AT_ONCE = 128
"""Encoded in one call: 400 long actions need not fit into memory at once."""
_AFTER_PADDING = ("camembert", "roberta", "xlm-roberta", "xlm-roberta-xl")
"""Encoders that count positions from the padding's id + 1."""


class Packing(NamedTuple):
    """Texts one after the other in rows, none of them cut. Axes: R rows, L places of a row."""

    sources: npt.NDArray[np.int64]
    """(R, L): which text stands there, from 0; -1 where there is none."""
    positions: npt.NDArray[np.int64]
    """(R, L): which of its tokens, from 0."""


def packed(lengths: Sequence[int]) -> Packing:
    """A place for each token of texts of these lengths; the longest first, each in the first row that has room.


    [[1, 1, 2, 2], [0, -1, -1, -1]]
    """
    room = max(*lengths, _ROW)
    ends: list[int] = []
    starts: dict[int, tuple[int, int]] = {}
    for text in sorted(range(len(lengths)), key=lambda text: -lengths[text]):
        row = next(
            (row for row, end in enumerate(ends) if end + lengths[text] <= room),
            len(ends),
        )
        if row == len(ends):
            ends.append(0)
        starts[text] = row, ends[row]
        ends[row] += lengths[text]
    sources, positions = (
        np.full((len(ends), max(ends)), -1),
        np.zeros((len(ends), max(ends)), np.int64),
    )
    for text, (row, start) in starts.items():
        end = start + lengths[text]
        sources[row, start:end] = text
        positions[row, start:end] = np.arange(lengths[text])
    return Packing(sources, positions)


def encode_packed(encoder: PreTrainedModel, ids: Tensor, mask: Tensor) -> Tensor:
    """What the encoder makes of each text by itself: (N, T) and (N, T) → (N, T, D), zeros at padding.

    Nothing that is padded is encoded: texts share rows, and attention goes to tokens of the same text only.
    """
    plan = packed(mask.sum(1).tolist())
    sources = torch.from_numpy(plan.sources).to(ids.device)  # (R, L)
    positions = torch.from_numpy(plan.positions).to(ids.device)  # (R, L)
    there = sources >= 0
    places = sources.clamp(min=0) * ids.shape[1] + positions  # (R, L), of the flat (N·T,)
    words = encoder.get_input_embeddings()(ids)  # (N, T, E), E = D but for few encoders
    words = words.flatten(0, 1)[places]  # (R, L, E)
    first = encoder.config.pad_token_id + 1 if encoder.config.model_type in _AFTER_PADDING else 0
    encoded = torch.cat(
        [
            _encoded(encoder, *part)
            for part in zip(
                *(whole.split(_ROWS_AT_ONCE) for whole in (words, positions + first, sources)),
                strict=True,
            )
        ]
    )  # (R, L, D)
    flat = encoded.new_zeros(ids.numel(), encoded.shape[-1]).index_put((places[there],), encoded[there])
    return flat.view(*ids.shape, -1)


def _encoded(encoder: PreTrainedModel, words: Tensor, positions: Tensor, sources: Tensor) -> Tensor:
    """(R, L, E), (R, L), (R, L) → (R, L, D)."""
    foreign = sources[:, None, :, None] != sources[:, None, None, :]  # (R, 1, L, L)
    bias = torch.zeros(foreign.shape, dtype=words.dtype, device=words.device)
    bias = bias.masked_fill(foreign, torch.finfo(words.dtype).min)
    encoded: Tensor = encoder(inputs_embeds=words, position_ids=positions, attention_mask=bias).last_hidden_state
    return encoded


def configuration(encoder: str | Path | Mapping[str, Any]) -> PretrainedConfig:
    """Of a folder, a name on the model hub, or the configuration itself.

    Raises:
        InvalidSetting: a configuration is wrong.
        MissingData: there is no such encoder.
    """
    return _read(encoder) if isinstance(encoder, Mapping) else _found(encoder)


def pretrained_encoder(encoder: str | Path, config: PretrainedConfig) -> PreTrainedModel:
    """With its weights, as far as `config` has room for them."""
    model: PreTrainedModel = _ENCODERS.from_pretrained(str(encoder), config=config)
    return model


def _found(encoder: str | Path) -> PretrainedConfig:
    try:
        config: PretrainedConfig = AutoConfig.from_pretrained(str(encoder))
    except (OSError, ValueError) as error:
        raise MissingData(f"{encoder} is no encoder, neither a folder nor a name on the hub: {error}") from error
    return config


def _read(values: Mapping[str, Any]) -> PretrainedConfig:
    if foreign := [name for name in values if name.startswith("_") or "implementation" in name]:
        raise InvalidSetting(f"An encoder's configuration that names its code ({foreign[0]}) is not used.")
    try:
        config: PretrainedConfig = AutoConfig.for_model(**{"model_type": "", **values})
    except Exception as error:  # each configuration checks itself with exceptions of its own
        raise InvalidSetting(f"The encoder's configuration is none of transformers': {error}") from error
    return config


def untrained_encoder(config: PretrainedConfig) -> PreTrainedModel:
    """An encoder without training.

    Raises:
        InvalidSetting: its numbers do not fit each other.
    """
    try:
        model: PreTrainedModel = _ENCODERS.from_config(config)
    except Exception as error:  # as above
        raise InvalidSetting(f"No encoder can be made with this configuration: {error}") from error
    return model


def fit_vocabulary(encoder: PreTrainedModel, tokenizer: Tokenizer, kept: Sequence[int] | None) -> None:
    """Give the encoder one embedding a token of the tokenizer: its own where it has one, else a new one."""
    table = cast("nn.Embedding", encoder.get_input_embeddings())
    old = table.weight.detach()  # (V, D)
    size, padding = (
        tokenizer.get_vocab_size(with_added_tokens=True),
        tokenizer.token_to_id("[PAD]") or 0,
    )
    sources = torch.tensor(range(len(old)) if kept is None else kept)[:size]
    known = (sources < len(old)).nonzero().squeeze(1)
    new = nn.Embedding(size, table.embedding_dim, padding_idx=padding)
    with torch.no_grad():
        new.weight.normal_(std=encoder.config.initializer_range)
        new.weight[known] = old[sources[known]]
    encoder.set_input_embeddings(new)
    encoder.config.vocab_size = size
    encoder.config.pad_token_id = padding


def described(config: PretrainedConfig) -> dict[str, Any]:
    """The configuration without what says only where it came from."""
    values = {**config.to_diff_dict(), "model_type": config.model_type}
    return {name: value for name, value in values.items() if name not in _OF_A_FILE}
