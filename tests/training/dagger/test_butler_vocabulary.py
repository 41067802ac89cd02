"""The text agent's words: those of the games, whole, with the embeddings of another model."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers", reason="needs the extra torch")

import torch

from llm_gym.envs.alfworld.games import open_games
from llm_gym.errors import InvalidSetting, MissingData
from llm_gym.llm.minilm import packaged_weights
from llm_gym.training.dagger.butler_vocabulary import texts_of, vocabulary

pytestmark = [pytest.mark.torch, pytest.mark.minilm]

TEXTS = ["take soapbottle 1 from countertop 2", "You arrive at the countertop 2."] * 20 + ["A zebrafish once."]
SIZE = 200


@pytest.fixture(scope="module", autouse=True)
def _weights() -> None:
    try:
        packaged_weights()
    except MissingData as error:
        pytest.skip(str(error))


def test_a_word_of_the_games_is_one_token_with_the_mean_of_its_pieces() -> None:
    from transformers import AutoModel, AutoTokenizer

    tokens, table = vocabulary(TEXTS, SIZE)
    source = str(packaged_weights())
    whole, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source, use_safetensors=True)
    given = model.get_input_embeddings().weight.detach()
    assert len(tokens) == len(table) == SIZE
    assert len(tokens.ids("soapbottle 1")) == 2
    pieces = whole.convert_tokens_to_ids(["counter", "##top"])
    assert torch.allclose(table[tokens.ids("countertop")[0]], given[pieces].mean(0))
    assert torch.equal(table[tokens.ids("take")[0]], given[whole.convert_tokens_to_ids("take")])
    assert torch.equal(table[tokens.end], given[whole.sep_token_id])


def test_every_text_of_known_characters_comes_back() -> None:
    tokens, _ = vocabulary(TEXTS, SIZE)
    for text in ("take soapbottle 1 from countertop 2", "zebrafish", "quixotic"):
        assert tokens.text(tokens.ids(text)) == text


def test_a_vocabulary_without_room_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        vocabulary(TEXTS, 20)


def test_an_encoder_that_is_not_there_is_refused() -> None:
    with pytest.raises(MissingData):
        vocabulary(TEXTS, SIZE, "/no/such/encoder")


def test_the_texts_of_games_hold_what_is_seen_and_what_is_typed() -> None:
    texts = set(texts_of(open_games(), "valid_unseen"))
    assert "restart" in texts
    assert any(text.startswith("-= Welcome to TextWorld, ALFRED! =-") for text in texts)
    assert any(text.startswith("You arrive at ") for text in texts)
    assert any(text.startswith("take ") for text in texts)
