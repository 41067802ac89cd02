"""A text agent of a few words, untrained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from llm_gym.policies.butler.generation import Writer

WORDS = (
    "restart go to take from move you arrive at on the see is closed open put look nothing happens task in a of "
    "mug vase shelf desk drawer cabinet room are middle up pick 1 2 3 , . : / - ="
)


def tiny_tokenizer() -> str:
    """A WordPiece tokenizer of 50 words, as JSON."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = {word: place for place, word in enumerate([*special, *dict.fromkeys(WORDS.split())])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(special)
    return str(tokenizer.to_str())


@pytest.fixture
def writer() -> Writer:
    """Of random weights."""
    pytest.importorskip("torch", reason="needs the extra torch")
    import torch

    from llm_gym.policies.butler.config import ButlerConfig
    from llm_gym.policies.butler.generation import Writer
    from llm_gym.policies.butler.model import ButlerModel
    from llm_gym.policies.butler.tokens import ButlerTokens

    tokens = ButlerTokens(tiny_tokenizer())
    torch.manual_seed(5)
    config = ButlerConfig(
        width=16, embedding_width=24, convolutions=2, kernel=3, longest=40, segment=30, target_tokens=6
    )
    return Writer(ButlerModel(config, torch.randn(len(tokens), 24)), tokens)
