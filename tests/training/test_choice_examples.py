"""Clicks of demonstrations as the choice model reads them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import llm_gym  # noqa: F401 - registers the worlds
from llm_gym.demonstrations import Demonstration, DemonstrationStep
from llm_gym.envs.webshop.image_features import FeatureStore, write_features
from llm_gym.policies.imitation.choice_batch import ChoiceExample
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.training.choice_examples import accuracies, choice_examples, kind_of

GOAL = "i need a red shoe"
HEAD = f"WebShop\nInstruction:\n{GOAL}\n"
SEARCH = f"{HEAD}[button] Search [button_]\n"
RESULTS = (
    f"{HEAD}[button] Back to Search [button_]\nPage 1 (Total results: 2)\n[button] Next > [button_]\n"
    "\n[button] B000000001 [button_]\nRed Shoe\n$10.0\n\n[button] B000000002 [button_]\nBlue Shoe\n$20.0\n"
)
ITEM = f"{HEAD}[button] Back to Search [button_]\n[button] < Prev [button_]\nRed Shoe\nPrice: $10.0\n"
BACK, NEXT, BUY = "click[back to search]", "click[next >]", "click[buy now]"

DEMONSTRATION = Demonstration(
    "B000000001.h0",
    GOAL,
    (
        DemonstrationStep(SEARCH, ("search[shoe]",), 0),
        DemonstrationStep(RESULTS, (BACK, NEXT, "click[b000000001]", "click[b000000002]"), 2),
        DemonstrationStep(ITEM, (BACK, "click[< prev]", "click[features]", BUY), 3, "B000000001"),
    ),
)


def examples(**settings: Any) -> list[ChoiceExample]:
    return list(choice_examples([DEMONSTRATION], ChoiceConfig(**settings), None, 0))


def test_searches_are_left_out_and_results_have_their_titles() -> None:
    results, item = examples()
    assert results.state == RESULTS
    assert results.actions == (BACK, NEXT, "click[item - red shoe]", "click[item - blue shoe]")
    assert results.label == 2
    assert item.state == ITEM
    assert item.actions[item.label] == BUY


def test_history_is_what_the_wrapper_puts_before_a_page_with_results_by_their_titles() -> None:
    results, item = examples(observations=1, actions=5)
    assert results.state == f"{SEARCH} [SEP] search[shoe] [SEP] {RESULTS}"
    assert item.state == f"search[shoe] [SEP] {RESULTS} [SEP] click[item - red shoe] [SEP] {ITEM}"


def test_of_many_actions_sixteen_are_left_and_the_chosen_one() -> None:
    actions = (*(f"click[size {number}]" for number in range(60)), BUY)
    step = DemonstrationStep(ITEM, actions, 60)
    (example,) = choice_examples([Demonstration("B1.h0", GOAL, (step,))], ChoiceConfig(), None, 5)
    assert len(example.actions) in (16, 17)
    assert example.actions[:6] == actions[:6]
    assert example.actions[example.label] == BUY


@pytest.fixture
def features(tmp_path: Path) -> FeatureStore:
    meta = {"source": "test", "catalogue": {"name": "two", "digest": "0"}}
    write_features(tmp_path / "features", ["B000000001"], np.arange(512.0).reshape(1, 512), meta)
    return FeatureStore.open(tmp_path / "features")


def test_a_picture_is_found_by_the_id_of_its_step(features: FeatureStore) -> None:
    results, item = choice_examples([DEMONSTRATION], ChoiceConfig(), features, 0)
    assert results.image is None
    assert item.image is not None
    assert item.image[:3].tolist() == [0, 1, 2]
    assert all(
        example.image is None for example in choice_examples([DEMONSTRATION], ChoiceConfig(image=False), features, 0)
    )


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("click[item - red shoe]", "item"),
        (BACK, "back"),
        (NEXT, "next"),
        ("click[< prev]", "previous"),
        ("click[Buy Now]", "buy"),
        ("click[features]", "sub page"),
        ("click[attributes]", "sub page"),
        ("click[x-large]", "option"),
    ],
)
def test_a_click_is_of_a_kind(action: str, kind: str) -> None:
    assert kind_of(action) == kind


def test_accuracy_counts_the_best_of_the_actions_there_are() -> None:
    two = ChoiceExample("page", (BUY, BACK), 0)
    three = ChoiceExample("page", (BUY, BACK, "click[red]"), 2)
    logits = np.array([[0.0, -1.0, -np.inf], [2.0, 1.0, 0.0]], np.float32)
    assert list(accuracies([two, three], logits)) == [{"accuracy": 1.0, "buy": 1.0}, {"accuracy": 0.0, "option": 0.0}]
    # -inf stands for no action, and so does anything else beyond a state's own
    assert next(iter(accuracies([two], np.array([[0.0, -1.0, 9.0]], np.float32)))) == {"accuracy": 1.0, "buy": 1.0}


def test_pages_of_the_world_are_read_as_the_policy_reads_them() -> None:
    """What a demonstration gives equals what `ILPolicy` makes of the same page and its info."""
    from llm_gym.envs.webshop.item_names import item_names

    with closing(gym.make("llm_gym/WebShop-v1", split="dev")) as env:
        first, info = env.reset(seed=0)
        page, info = env.step("search[shirt]")[0::4]
        actions = tuple(info["admissible_actions"])
    chosen = next(at for at, action in enumerate(actions) if action.startswith("click[b0"))
    steps = (DemonstrationStep(first, ("search[shirt]",), 0), DemonstrationStep(page, actions, chosen))
    (example,) = choice_examples([Demonstration("B1.h0", info["goal"], steps)], ChoiceConfig(), None, 0)
    names = item_names([(result.asin, result.title) for result in info["results"]])
    titled = {plain: f"click[{name}]" for name, plain in names.items()}
    assert len(titled) == 10
    assert list(example.actions) == [titled.get(action, action) for action in actions]
