"""What a page says, read from its text, is what the world says."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.envs.base import panel_of
from llm_gym.policies.matching.page import body, item_texts, page_number, read_page
from llm_gym.policies.shopper import Result, ShopPage

ITEM = """You have clicked red.
Instruction:
i need a shoe
[button] Back to Search [button_]
[button] < Prev [button_]
color
  [clicked button] red [clicked button_]
  [button] blue [button_]
size
  [button] 9 [button_]
A Shoe
Price: $9.5
Rating: N.A.
[button] Description [button_]
[button] Features [button_]
[button] Reviews [button_]
[button] Buy Now [button_]
"""
RESULTS = """Instruction:
i need a shoe
[button] Back to Search [button_]
Page 2 (Total results: 50)
[button] < Prev [button_]
[button] Next > [button_]

[clicked button] B01 [clicked button_]
A Shoe
$9.5

[button] B02 [button_]
A boot
in two lines
$10.0 to $20.0
"""


def test_an_item_page_holds_options_choices_title_and_price() -> None:
    page = read_page(ITEM, ["click[buy now]"], "i need a shoe")
    assert (page.screen, page.admissible) == ("item", ("click[buy now]",))
    assert page.options == {"color": ["red", "blue"], "size": ["9"]}
    assert page.chosen == {"color": "red"}
    texts = item_texts(ITEM)
    assert texts is not None
    assert (texts.title, texts.price) == ("A Shoe", "$9.5")


def test_a_results_page_holds_ids_titles_and_prices() -> None:
    page = read_page(RESULTS, [], "i need a shoe")
    assert page.screen == "results"
    assert page.results == (Result("B01", "A Shoe", "$9.5"), Result("B02", "A boot\nin two lines", "$10.0 to $20.0"))
    assert page_number(RESULTS) == 2
    assert item_texts(RESULTS) is None


def test_a_sub_page_is_named_by_the_click_that_opened_it() -> None:
    text = "Instruction:\nx\n[button] Back to Search [button_]\n[button] < Prev [button_]\n light\n soft\n"
    assert read_page(text, ["click[< prev]"], "x", "click[features]").screen == "features"
    assert body(text) == " light\n soft\n"


@pytest.mark.parametrize("text", ["", "\n", "[button]", "Page 1 (Total results: 0)", "word " * 50_000, "\n\n" * 50_000])
def test_any_text_is_read_without_complaint(text: str) -> None:
    page = read_page(text, ["click[x]"] * 400, "x")
    assert len(page.admissible) == 400
    assert item_texts(text) is None or isinstance(body(text), str)


def read_by_the_world(info: Any) -> ShopPage:
    page = ShopPage.read(info)
    assert page is not None
    return page


def test_whole_episodes_read_from_text_are_what_the_world_says() -> None:
    env, rng = gym.make("llm_gym/WebShop-v1", split="train"), random.Random(5)
    seen = set()
    for task_id in panel_of(env)[:40]:
        text, info = env.reset(options={"task": task_id})
        clicked, ended = "", False
        for _ in range(25):
            told = read_by_the_world(info)
            read = read_page(text, told.admissible, told.goal, clicked)
            seen.add(told.screen)
            assert (read.screen, read.results, dict(read.chosen)) == (told.screen, told.results, dict(told.chosen))
            assert read.options == {name: list(values) for name, values in told.options.items()}
            if ended:
                break
            if told.screen == "item":
                world: Any = env.unwrapped
                texts, product = item_texts(text), world._session.screen.product
                assert texts is not None
                assert (texts.title, texts.price) == (product.title, product.price_tag)
            links = [told.click_result(at) for at in range(len(told.results))]
            onward = [action for action in told.admissible if action != "click[back to search]"] or told.admissible
            clicked = rng.choice(links if links and rng.random() < 0.7 else onward)
            text, _, ended, _, info = env.step(clicked)
    assert seen == {"search", "results", "item", "description", "features", "reviews", "done"}
