"""Small networks that have learned nothing, and a page each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from llm_gym.policies.reinforcement.bert import BertActorCritic

TEXTS = "i want a red blue shoe shirt size small large buy now item back to search room go open left right 0 1 2 3 4 ."


@pytest.fixture(scope="session")
def make_bert() -> Callable[..., BertActorCritic]:
    """Makes an actor-critic with a BERT of two layers, 12 wide; weights far from zero, so that scores differ."""

    def make(seed: int = 0, **settings: Any) -> BertActorCritic:
        from llm_gym.policies.imitation.choice_config import ChoiceConfig
        from llm_gym.policies.imitation.choice_model import ChoiceModel
        from llm_gym.policies.reinforcement.bert import BertActorCritic
        from llm_gym.training.a2c.words import word_tokenizer

        encoder = {
            "model_type": "bert",
            "hidden_size": 12,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "max_position_embeddings": 64,
            "initializer_range": 0.5,
        }
        config = ChoiceConfig(**{"state_tokens": 64, "action_tokens": 32, "image_width": 4, **settings})
        tokenizer = word_tokenizer([TEXTS], None)
        model = ChoiceModel.create(encoder, config, tokenizer, pretrained=False, seed=seed)
        return BertActorCritic(model, tokenizer, seed).eval()

    return make
