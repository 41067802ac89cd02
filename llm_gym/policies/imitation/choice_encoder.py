"""Encoders of transformers, as the choice model uses them: from a folder, from a name, or from a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from llm_gym.errors import InvalidSetting, MissingData

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_ENCODERS: Any = AutoModel
"""Its methods have no types."""
_OF_A_FILE = ("_name_or_path", "architectures", "dtype", "transformers_version")
"""Entries of an encoder's configuration that say where it came from, not what it is."""
_LIKE = 0.8
"""Texts are encoded together with others that are at most so much longer."""
_TOKENS_AT_ONCE = 8192
"""Encoded in one call: 400 long actions need not fit into memory at once."""


class Group(NamedTuple):
    """Texts that are encoded in one call."""

    length: int
    """Tokens of the longest."""
    rows: list[int]


def groups_of_like_length(lengths: Sequence[int]) -> list[Group]:
    """Rows by their length, the longest first, in groups whose shortest is little shorter than the longest.

    >>> groups_of_like_length([4, 10, 9, 10])
    [Group(length=10, rows=[1, 3, 2]), Group(length=4, rows=[0])]
    """
    groups: list[Group] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        last = groups[-1] if groups else None
        if last and lengths[row] >= _LIKE * last.length and last.length * len(last.rows) < _TOKENS_AT_ONCE:
            last.rows.append(row)
        else:
            groups.append(Group(lengths[row], [row]))
    return groups


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
    size, padding = tokenizer.get_vocab_size(with_added_tokens=True), tokenizer.token_to_id("[PAD]") or 0
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
