"""Pairs of goals and queries, and the batches made of them."""

from __future__ import annotations

import pytest

from llm_gym.demonstrations import Demonstration, DemonstrationStep
from llm_gym.training.division import by_product
from llm_gym.training.search_pairs import Pair, PairCollator, demonstrated_pairs, queries_by_goal, with_other_words


def shown(goal: str, *actions: str, task: str = "B000000000.h0") -> Demonstration:
    return Demonstration(task, goal, tuple(DemonstrationStep("page", (action,), 0) for action in actions))


def test_the_searches_that_a_demonstration_begins_with_are_its_pairs() -> None:
    goal = 'I need a "Red" shoe, and price lower than 40.00 dollars'
    searched_again = shown(goal, "search[Red 'Shoe']", "click[b0]", "click[back to search]", "search[shoe]")
    official = shown(goal, "search[shoe]", "search[red]")
    asked = [Pair("i need a red shoe", query) for query in ("red shoe", "shoe", "red")]
    assert demonstrated_pairs([searched_again, official]) == asked


def test_a_search_for_nothing_is_no_pair() -> None:
    assert demonstrated_pairs([shown("a shoe", "search[ ]", "search[shoe]"), shown("a shoe", "click[b0]")]) == [
        Pair("a shoe", "shoe")
    ]


def test_the_queries_of_a_goal_stand_together() -> None:
    pairs = [Pair("a shoe", "shoe"), Pair("a hat", "hat"), Pair("a shoe", "shoes")]
    assert queries_by_goal(pairs) == {"a shoe": ["shoe", "shoes"], "a hat": ["hat"]}


def test_copies_replace_words_in_goal_and_query_alike() -> None:
    pair = Pair("i need a red red shoe", "shoe red cheap")
    first, *copies = with_other_words([pair], ["wood", "lamp", "oval"], 20, seed=0)
    assert first == pair
    assert len(copies) == 20
    for copy in copies:
        i, need, a, red, same, shoe = copy.goal.split()
        assert (i, need, a, same) == ("i", "need", "a", red)
        assert copy.query == f"{shoe} {red} cheap"
    assert len(set(copies)) > 5
    assert copies == with_other_words([pair], ["wood", "lamp", "oval"], 20, seed=0)[1:]


def test_all_of_a_product_is_on_one_side() -> None:
    made = [shown("a shoe", "search[shoe]", task=f"B{at % 300:09}.h{at // 300}") for at in range(600)]
    training, held_out = by_product(made)
    products = [{one.task_id[:10] for one in side} for side in (training, held_out)]
    assert not products[0] & products[1]
    assert 15 <= len(products[1]) <= 45  # a tenth of 300
    assert len(training) + len(held_out) == 600


@pytest.mark.torch
def test_a_batch_is_padded_and_its_padding_is_not_predicted() -> None:
    pytest.importorskip("torch", reason="needs the extra torch")
    pytest.importorskip("transformers", reason="needs the extra torch")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from llm_gym.policies.imitation.search_checkpoint import SearchSettings

    words = Tokenizer(models.WordLevel({"[PAD]": 0, "a": 1, "red": 2, "shoe": 3}, unk_token="[PAD]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    collate = PairCollator(PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]"), SearchSettings(3, 2))
    batch = collate([Pair("a red shoe shoe", "red shoe"), Pair("shoe", "shoe")])
    assert batch["input_ids"].tolist() == [[1, 2, 3], [3, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch["labels"].tolist() == [[2, 3], [3, -100]]
