"""Choices as batches: what is cut, what is padded, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.policies.imitation.choice_batch import ChoiceExample, Collator, padded, picture, reduced
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_tokens import TextTokens, read_tokenizer


@given(count=st.integers(21, 60), data=st.data())
def test_of_many_actions_the_first_six_ten_others_and_the_chosen_one_stay_in_order(count: int, data: Any) -> None:
    actions, gold = [str(number) for number in range(count)], data.draw(st.integers(0, count - 1))
    kept, place = reduced(actions, gold, np.random.default_rng(data.draw(st.integers(0, 99))))
    numbers = [int(action) for action in kept]
    assert numbers == sorted(set(numbers))
    assert numbers[:6] == [0, 1, 2, 3, 4, 5]
    assert numbers[place] == gold
    assert len(set(numbers[6:]) - {gold}) in (9, 10)
    assert len(numbers) == (16 if gold < 6 else 6 + len(set(numbers[6:]) | {gold}))


def test_twenty_actions_are_left_alone() -> None:
    actions = [str(number) for number in range(20)]
    assert reduced(actions, 19, np.random.default_rng(0)) == (tuple(actions), 19)


def test_the_same_generator_cuts_the_same() -> None:
    actions = [str(number) for number in range(50)]
    first, second, other = (reduced(actions, 30, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == second != other


@pytest.mark.parametrize("label", [-1, 2])
def test_a_label_that_is_no_actions_is_refused(label: int) -> None:
    with pytest.raises(InvalidSetting, match=f"number {label}, but there are 2"):
        ChoiceExample("state", ("a", "b"), label)


def test_texts_are_filled_up_at_their_ends() -> None:
    batch = padded([(5, 6, 7), (8,)], pad=9)
    assert batch.ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert batch.mask.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_a_picture_of_another_width_is_refused() -> None:
    assert picture(None, 3).tolist() == [0, 0, 0]
    assert picture(np.array([1.0, 2.0]), 2).dtype == np.float32
    with pytest.raises(InvalidSetting, match=r"reads 3 numbers a picture, this one has shape \(2,\)"):
        picture(np.zeros(2, np.float32), 3)


@pytest.mark.torch
class TestTokens:
    """What needs the library of tokenizers."""

    @pytest.fixture(autouse=True)
    def needs_torch(self) -> None:
        pytest.importorskip("torch", reason="needs the extra torch")
        pytest.importorskip("tokenizers", reason="needs the extra torch")

    def test_a_text_is_framed_lower_case_and_its_markers_are_tokens(self, request: pytest.FixtureRequest) -> None:
        tokenizer = request.getfixturevalue("tokenizer")
        ids = TextTokens(tokenizer, 512, kept=9).ids('[button] "RED" shoe [button_] [SEP] x')
        words = [tokenizer.id_to_token(number) for number in ids]
        assert words == ["[CLS]", "[button]", "red", "shoe", "[button_]", "[SEP]", "x", "[SEP]"]

    def test_the_beginning_of_a_long_text_is_cut_off(self, request: pytest.FixtureRequest) -> None:
        tokenizer = request.getfixturevalue("tokenizer")
        ids = TextTokens(tokenizer, 5, kept=9).ids("red blue shoe shirt size")
        assert [tokenizer.id_to_token(number) for number in ids] == ["[CLS]", "shoe", "shirt", "size", "[SEP]"]
        assert tokenizer.truncation is None

    def test_the_head_of_a_long_text_can_stay(self, request: pytest.FixtureRequest) -> None:
        tokenizer = request.getfixturevalue("tokenizer")
        ids = TextTokens(tokenizer, 5, kept=9, head=2).ids("red blue shoe shirt size")
        assert [tokenizer.id_to_token(number) for number in ids] == ["[CLS]", "red", "shirt", "size", "[SEP]"]

    def test_a_state_of_50_000_tokens_keeps_its_last(self, request: pytest.FixtureRequest) -> None:
        tokenizer = request.getfixturevalue("tokenizer")
        ids = TextTokens(tokenizer, 512, kept=9).ids("red " * 49_999 + "shoe")
        assert len(ids) == 512
        assert tokenizer.id_to_token(ids[-2]) == "shoe"

    def test_what_is_no_tokenizer_is_told(self) -> None:
        with pytest.raises(BadRecord, match="the file is no tokenizer"):
            read_tokenizer('{"version": "1.0"', "the file")

    def test_a_batch_holds_the_actions_of_all_states_one_after_the_other(self, request: pytest.FixtureRequest) -> None:
        tokenizer = request.getfixturevalue("tokenizer")
        collate = Collator(tokenizer, ChoiceConfig(encoder={"pad_token_id": 0}, image_width=2))
        image = np.array([1, 2], np.float32)
        examples = [ChoiceExample("red shoe", ("buy",), 0, image), ChoiceExample("red", ("x", "buy now"), 1)]
        batch = {name: values.tolist() for name, values in collate(examples).items()}
        red, shoe, buy, now, x = (tokenizer.token_to_id(word) for word in ["red", "shoe", "buy", "now", "x"])
        assert batch == {
            "state_ids": [[2, red, shoe, 3], [2, red, 3, 0]],
            "state_mask": [[1, 1, 1, 1], [1, 1, 1, 0]],
            "action_ids": [[2, buy, 3, 0], [2, x, 3, 0], [2, buy, now, 3]],
            "action_mask": [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]],
            "counts": [1, 2],
            "labels": [0, 1],
            "images": [[1, 2], [0, 0]],
        }
        assert [collate.state_length(example.state) for example in examples] == [4, 3]
        assert "images" not in Collator(tokenizer, ChoiceConfig(image=False))(examples)
