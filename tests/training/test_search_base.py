"""What a search model begins with, from an encoder that has learned nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from llm_gym.errors import InvalidSetting, MissingData
from llm_gym.policies.imitation.search_checkpoint import SearchSettings
from llm_gym.policies.imitation.search_model import SearchModel
from llm_gym.training.search_base import SmallBart, pretrained_base, small_base

pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra torch")
pytestmark = pytest.mark.torch

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("red", "shoe", "need", "size", "wool", "lamp")
SMALL = SmallBart(width=32, layers=2, vocabulary=60, goal_tokens=16, query_tokens=5)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of transformers with a model of BERT's kind, of width 40."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS]
    made = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder = tmp_path_factory.mktemp("encoder")
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=made, **special).save_pretrained(folder)
    sizes = {"hidden_size": 40, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=32, **sizes)).save_pretrained(folder)
    return folder


def small(encoder: Path) -> SearchModel:
    return small_base(SMALL, encoder, ["shoe shoe lamp wool"])


def test_a_small_model_keeps_the_words_of_its_task(encoder: Path) -> None:
    vocabulary = small(encoder).tokenizer.get_vocab()
    assert len(vocabulary) == 60  # 4 tokens and 52 letters leave room for 4 words: those of the task, then the first
    assert set(vocabulary) & set(WORDS) == {"shoe", "lamp", "wool", "red"}


def test_its_word_vectors_are_the_encoders_made_shorter(encoder: Path) -> None:
    from transformers import AutoModel

    whole = AutoModel.from_pretrained(encoder).get_input_embeddings().weight.detach().numpy()
    kept = [*range(56), *(56 + WORDS.index(word) for word in ("red", "shoe", "wool", "lamp"))]
    centred = whole[kept] - whole[kept].mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred)  # the same as by singular values, up to signs
    components = centred @ directions[:, np.argsort(-values)[:16]]
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    vectors = small(encoder).model.get_input_embeddings().weight.detach().numpy()
    assert np.abs(vectors[:, :16]) == pytest.approx(np.abs(components), abs=1e-4)
    assert not vectors[:, 16:].any()  # of four heads, one holds the word before and one the place


def test_it_begins_with_copying_the_word_after_the_last(encoder: Path) -> None:
    import torch

    torch.manual_seed(0)
    model = small(encoder)
    tokens = model.tokenizer.convert_tokens_to_ids(["wool", "a", "shoe", "b", "red", "c", "lamp", "d"])
    goal = torch.tensor([[2, *tokens, 3]])
    with torch.inference_mode():
        logits = model.model(input_ids=goal, decoder_input_ids=torch.tensor([[3, *tokens]])).logits[0]
    following = logits[1:-1].argmax(dim=-1).tolist()
    assert sum(found == token for found, token in zip(following, tokens[1:], strict=True)) >= 6  # of 7


def test_the_same_seed_begins_alike_and_the_first_query_ends(encoder: Path) -> None:
    import torch

    made = []
    for _ in range(2):
        torch.manual_seed(7)
        made.append(small(encoder).queries("i need a red shoe"))
    assert made[0] == made[1]


@pytest.mark.parametrize(("heads", "width"), [(5, 128), (2, 128), (4, 12)])
def test_heads_must_share_the_width(heads: int, width: int) -> None:
    with pytest.raises(InvalidSetting, match=f"not {heads} heads and the width {width}"):
        SmallBart(heads=heads, width=width)


def test_an_encoder_is_joined_with_itself(encoder: Path, tmp_path: Path) -> None:
    model = pretrained_base(str(encoder), SearchSettings(16, 5))
    assert model.model.config.model_type == "encoder-decoder"
    model.save(tmp_path / "model")
    assert SearchModel.from_pretrained(tmp_path / "model").queries("a red shoe") == model.queries("a red shoe")
    assert str(encoder) not in (tmp_path / "model" / "config.json").read_text()


def test_a_trained_model_goes_on_with_its_own_settings(encoder: Path, tmp_path: Path) -> None:
    model = small(encoder)
    model.save(tmp_path / "own")
    model.model.save_pretrained(tmp_path / "foreign")
    model.tokenizer.save_pretrained(tmp_path / "foreign")
    own = pretrained_base(str(tmp_path / "own"), SearchSettings(3, 3))
    foreign = pretrained_base(str(tmp_path / "foreign"), SearchSettings(16, 5))
    assert own.settings == foreign.settings == SearchSettings(16, 5)
    assert own.queries("a red shoe") == foreign.queries("a red shoe") == model.queries("a red shoe")


def test_a_base_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="is not a folder"):
        pretrained_base(str(tmp_path / "nothing"), SearchSettings())
