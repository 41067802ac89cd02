"""What the training of a search model starts from: a model of others, or a small one of nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.imitation.search_checkpoint import SearchSettings, is_own
from llm_gym.policies.imitation.search_model import SearchModel
from llm_gym.training.copying_habit import set_copying_habit
from llm_gym.training.vocabulary import pruned

_EXTRA = "torch"


@dataclass(frozen=True)
class SmallBart:
    """A BART of a few million parameters at most, whose word vectors come from a pretrained encoder.

    Raises:
        InvalidSetting: there are less than three heads, or they cannot share the width evenly.
    """

    width: int = 128
    """Of all vectors."""
    layers: int = 2
    """Of encoder and decoder, each."""
    heads: int = 4
    vocabulary: int = 6000
    """Pieces of words."""
    goal_tokens: int = 128
    query_tokens: int = 48

    def __post_init__(self) -> None:
        if self.heads < 3 or self.width % (2 * self.heads):
            raise InvalidSetting(
                f"A small BART has 3 heads at least, and a width that is a multiple of twice their number, "
                f"not {self.heads} heads and the width {self.width}."
            )


def pretrained_base(source: str, settings: SearchSettings) -> SearchModel:
    """One of a search model's folder, or any sequence-to-sequence model by folder or name on the hub; an encoder is
    joined with itself as the decoder.

    Args:
        source: folder or name.
        settings: for a model that has none of its own.

    Raises:
        DataError: it cannot be loaded.
    """
    transformers = require("transformers", _EXTRA)
    if not _is_encoder(source, transformers):
        loaded = SearchModel.from_pretrained(source)
        return loaded if is_own(source) else SearchModel(loaded.model, loaded.tokenizer, settings)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    model = transformers.EncoderDecoderModel.from_encoder_decoder_pretrained(source, source)
    ends = {
        "decoder_start_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    for name, value in ends.items():
        setattr(model.config, name, value)
        setattr(model.generation_config, name, value)
    return SearchModel(model, tokenizer, settings)


def _is_encoder(source: str, transformers: Any) -> bool:
    if is_own(source):
        return False
    try:
        return not transformers.AutoConfig.from_pretrained(source, trust_remote_code=False).is_encoder_decoder
    except (OSError, ValueError):
        return False  # whoever loads it says what is wrong


def small_base(size: SmallBart, encoder: str | Path, texts: Iterable[str]) -> SearchModel:
    """A small BART with the most used pieces of a pretrained encoder's vocabulary, and their vectors made shorter.

    It begins with the habit of copying.

    Args:
        size: of the model.
        encoder: folder or name, of BERT's kind.
        texts: whose words the vocabulary should hold.
    """
    transformers = require("transformers", _EXTRA)
    whole = transformers.AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
    vectors = transformers.AutoModel.from_pretrained(encoder, use_safetensors=True).get_input_embeddings().weight
    smaller, kept = pruned(whole.backend_tokenizer, texts, size.vocabulary)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=smaller, **whole.special_tokens_map)
    model = transformers.BartForConditionalGeneration(_config(size, tokenizer))
    set_copying_habit(model, vectors.detach()[kept], size.heads)
    return SearchModel(model, tokenizer, SearchSettings(size.goal_tokens, size.query_tokens))


def _config(size: SmallBart, tokenizer: Any) -> Any:
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", size.layers), ("attention_heads", size.heads), ("ffn_dim", 2 * size.width))
    }
    return require("transformers", _EXTRA).BartConfig(
        vocab_size=size.vocabulary,
        d_model=size.width,
        max_position_embeddings=max(size.goal_tokens, size.query_tokens + 1),
        dropout=0.0,  # a model of this size learns too little rather than by heart
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=start,
        eos_token_id=end,
        decoder_start_token_id=end,  # as in the original
        forced_eos_token_id=end,
        **sides,
    )
