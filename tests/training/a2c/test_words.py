"""The vocabulary of a network that has no pretrained one."""

from __future__ import annotations

import random

import gymnasium as gym
import pytest

from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies.imitation.text import MARKERS
from llm_gym.policies.reinforcement.candidates import instruction_only

pytest.importorskip("torch", reason="needs the extra torch")

from llm_gym.training.a2c.episodes import Course
from llm_gym.training.a2c.words import texts_of, word_tokenizer

pytestmark = pytest.mark.torch

TEXTS = ["the red shoe", "the red hat", "the 'Blue' shoe [button] x [button_]"]
NEEDED = 4 + 2 * (26 + 10 + 32) + 4
"""Special tokens, letters, digits and punctuation at the beginning of a word and within one, markers."""


def test_frequent_words_are_whole_and_others_are_spelt() -> None:
    tokenizer = word_tokenizer(TEXTS, NEEDED + 3)
    assert tokenizer.get_vocab_size() == NEEDED + 3
    assert tokenizer.encode("the Red shoe").tokens == ["[CLS]", "the", "red", "shoe"]
    assert tokenizer.encode("hat").tokens == ["[CLS]", "h", "##a", "##t"]


def test_markers_are_tokens_of_their_own() -> None:
    tokens = word_tokenizer(TEXTS, None).encode(f"{MARKERS[0]} blue {MARKERS[1]} a [SEP] b").tokens
    assert tokens == ["[CLS]", MARKERS[0], "blue", MARKERS[1], "a", "[SEP]", "b"]


def test_the_order_of_the_texts_does_not_matter() -> None:
    words = [f"word{number}" for number in range(100)]
    shuffled = random.Random(0).sample(words, len(words))
    assert word_tokenizer(words, 200).to_str() == word_tokenizer(shuffled, 200).to_str()


def test_a_size_without_room_for_the_characters_is_refused() -> None:
    word_tokenizer(TEXTS, NEEDED)
    with pytest.raises(InvalidSetting, match=f"of {NEEDED - 1} has no room for the {NEEDED} pieces"):
        word_tokenizer(TEXTS, NEEDED - 1)


def test_texts_are_what_is_read_on_the_way() -> None:
    env = gym.make("llm_gym/Corridor-v0")
    course = Course(lambda: gym.make("llm_gym/Corridor-v0"), panel_of(env)[:3])
    texts = list(texts_of(course, instruction_only, 7))
    pages = [place for place, text in enumerate(texts) if "You are in room" in text]
    assert len(pages) == 7
    for page, following in zip(pages, [*(place - 1 for place in pages[1:]), len(texts)], strict=True):
        assert texts[page].startswith(f"{texts[page - 1]}\n")
        assert set(texts[page + 1 : following]) <= {"left", "right", "open"}
    assert texts == list(texts_of(course, instruction_only, 7))
