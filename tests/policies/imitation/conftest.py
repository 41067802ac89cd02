"""Small choice models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from llm_gym.policies.imitation.choice_model import ChoiceModel

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] click [ ] red blue shoe shirt size small large buy now item - x back to search"
WIDTH, POSITIONS = 12, 512


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """Knows two dozen words and the markers; frames a text as BERT does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    from llm_gym.policies.imitation.choice_tokens import with_markers

    vocabulary = {word: number for number, word in enumerate(WORDS.split())}
    plain = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    plain.normalizer = normalizers.BertNormalizer()
    plain.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    plain.add_special_tokens(WORDS.split()[:5])
    plain.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return with_markers(plain)


@pytest.fixture(scope="session")
def encoder_config() -> dict[str, Any]:
    """One layer; weights far from zero, so that scores differ."""
    return {
        "model_type": "bert",
        "vocab_size": len(WORDS.split()),
        "hidden_size": WIDTH,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.5,
    }


@pytest.fixture(scope="session")
def make_model(tokenizer: Tokenizer, encoder_config: dict[str, Any]) -> Callable[..., ChoiceModel]:
    """A model with drawn weights, ready to score."""

    def make(seed: int = 0, **settings: Any) -> ChoiceModel:
        from llm_gym.policies.imitation.choice_config import ChoiceConfig
        from llm_gym.policies.imitation.choice_model import ChoiceModel

        config = ChoiceConfig(**settings)
        return ChoiceModel.create(encoder_config, config, tokenizer, pretrained=False, seed=seed).eval()

    return make
