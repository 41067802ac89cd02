"""Every page of a small world, word for word as BEHAVIOUR.md (A6) lays it out, and the goal texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llm_gym.envs.webshop.env import WebShop, WebShopV0

WORLDS = pytest.mark.parametrize("world", [WebShopV0, WebShop])
BUY = ("search[canvas shoe]", "click[b000000001]", "click[small]", "click[blue]")


@pytest.fixture
def store(make_world: Any, make_row: Any, make_options: Any) -> Path:
    """Twelve products: the first with options, a range of prices and two bullets."""
    first = make_row(
        "B000000001",
        "Canvas Shoe",
        pricing="$10.00 - $20.50",
        customization_options=make_options(size=["Small", "Large"], Color=["Red", "Blue"]),
    )
    rows = [first, *(make_row(f"B0000001{number:02}", f"Leather shoe {number}") for number in range(11))]
    mined = {
        "B000000001": {
            "attributes": ["machine wash", "light"],
            "instruction": "Find me machine wash shoes",
            "instruction_attributes": ["machine wash"],
        }
    }
    human = {
        "B000000001": [
            {
                "instruction": "..a shoe. it is light...",
                "instruction_attributes": ["light"],
                "instruction_options": ["blue"],
            }
        ]
    }
    return make_world(rows, mined, human)  # type: ignore[no-any-return]


def page_after(world: type[WebShop], store: Path, mode: str, *actions: str, **settings: Any) -> tuple[str, str]:
    """The instruction and the observation after some actions."""
    env = world(store, goals="human", observation_mode=mode, **settings)
    observation, info = env.reset()
    for action in actions:
        observation, *_, info = env.step(action)
        assert "invalid_action" not in info
    return info["goal"], observation


def test_human_goal_loses_its_outer_dots_and_ends_in_the_limit(store: Path) -> None:
    env = WebShop(store, goals="human")
    text = env.reset()[1]["goal"]
    assert text == f"a shoe. it is light, and price lower than {env.goal.price_limit:.2f} dollars"


def test_synthetic_goals_run_through_the_options_in_alphabetical_order_of_names(store: Path) -> None:
    env = WebShop(store, goals="synthetic")
    table = env.catalogue.goals("synthetic")
    texts = [env.reset(options={"task": table.task_id(goal)})[1]["goal"].split(", and price")[0] for goal in range(4)]
    assert texts == [
        "Find me machine wash shoes with color: red, and size: small",
        "Find me machine wash shoes with color: red, and size: large",
        "Find me machine wash shoes with color: blue, and size: small",
        "Find me machine wash shoes with color: blue, and size: large",
    ]


@WORLDS
def test_search_page(world: type[WebShop], store: Path) -> None:
    goal, text = page_after(world, store, "text")
    assert text == f"WebShop [SEP] Instruction: [SEP] {goal} [SEP] Search"
    goal, rich = page_after(world, store, "text_rich")
    assert rich == f"WebShop\nInstruction: \n{goal}\n[button] Search [button_]\n"


@WORLDS
def test_results_pages(world: type[WebShop], store: Path) -> None:
    goal, text = page_after(world, store, "text", "search[canvas]")
    assert text == (
        f"Instruction: [SEP] {goal} [SEP] Back to Search [SEP] Page 1 (Total results: 1) [SEP] Next > [SEP] B000000001"
        " [SEP] Canvas Shoe [SEP] $10.0 to $20.5"
    )
    goal, rich = page_after(world, store, "text_rich", "search[canvas]")
    assert rich == (
        f"Instruction:\n{goal}\n[button] Back to Search [button_]\n"
        "Page 1 (Total results: 1)\n[button] Next > [button_]\n"
        "\n[button] B000000001 [button_]\nCanvas Shoe\n$10.0 to $20.5\n"
    )
    goal, rich = page_after(world, store, "text_rich", "search[<q> shoes]", "click[next >]")
    assert rich == (
        f"Instruction:\n{goal}\n[button] Back to Search [button_]\n"
        "Page 2 (Total results: 12)\n[button] < Prev [button_]\n[button] Next > [button_]\n"
        "\n[button] B000000109 [button_]\nLeather shoe 9\n$15.0\n"
        "\n[button] B000000110 [button_]\nLeather shoe 10\n$15.0\n"
    )


@WORLDS
def test_item_page_with_the_later_option_announced_first(world: type[WebShop], store: Path) -> None:
    head = "Back to Search [SEP] < Prev [SEP] size [SEP] small [SEP] large [SEP] color [SEP] red [SEP] blue"
    tail = "Price: $10.0 to $20.5 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now"
    goal, text = page_after(world, store, "text", *BUY)
    assert text == f"Instruction: [SEP] {goal} [SEP] {head} [SEP] Canvas Shoe [SEP] {tail}"
    goal, rich = page_after(world, store, "text_rich", *BUY)
    assert rich == (
        "You have clicked blue.\nYou have clicked small.\n"
        f"Instruction:\n{goal}\n[button] Back to Search [button_]\n[button] < Prev [button_]\n"
        "size\n  [clicked button] small [clicked button_]\n  [button] large [button_]\n"
        "color\n  [button] red [button_]\n  [clicked button] blue [clicked button_]\n"
        "Canvas Shoe\nPrice: $10.0 to $20.5\nRating: N.A.\n"
        "[button] Description [button_]\n[button] Features [button_]\n"
        "[button] Reviews [button_]\n[button] Buy Now [button_]\n"
    )


@WORLDS
@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("description", ["A description of Canvas Shoe."]),
        ("features", [" First bullet ", " Second bullet"]),
        ("reviews", []),
        ("attributes", [" machine wash", " light", "fashion", "shoes", "Clothing › Shoes › Plain"]),
    ],
)
def test_sub_pages(world: type[WebShop], page: str, lines: list[str], store: Path) -> None:
    actions = (*BUY[:2], f"click[{page}]")
    goal, rich = page_after(world, store, "text_rich", *actions, show_attrs=True)
    head = f"Instruction:\n{goal}\n[button] Back to Search [button_]\n[button] < Prev [button_]\n"
    assert rich == head + "".join(f"{line}\n" for line in lines)
    goal, text = page_after(world, store, "text", *actions, show_attrs=True)
    shown = ["Instruction:", goal, "Back to Search", "< Prev", *(line.strip() for line in lines)]
    assert text == " [SEP] ".join(shown)


@WORLDS
def test_attributes_are_offered_only_when_asked_for(world: type[WebShop], store: Path) -> None:
    env = world(store, goals="human")
    env.reset()
    for action in (*BUY[:2], "click[attributes]"):
        *_, info = env.step(action)
    assert "invalid_action" in info
    assert "click[attributes]" not in info["admissible_actions"]


@WORLDS
def test_last_page_lists_the_options_by_name(world: type[WebShop], store: Path) -> None:
    _, text = page_after(world, store, "text", *BUY, "click[buy now]")
    assert text.split(" [SEP] ") == [
        *("Thank you for shopping with us!", "Your code:", "None", "(Paste it in your MTurk interface.)"),
        *("Purchased", "asin", "B000000001", "options", '{"color": "blue", "size": "small"}', "attrs", "None"),
        *("category", "None", "query", "None", "product category", "None", "Target", "asin", "options", "attrs"),
        *("price upper", "instuction text", "category", "product category", "query", "Goal", "None"),
        *("Reward", "Your score (min 0.0, max 1.0)", "1.0", "Reward Details", "None"),
    ]


@WORLDS
def test_addresses(world: type[WebShop], store: Path) -> None:
    base = "http://127.0.0.1:3000"
    task = "B000000001.h0"
    options = '{"size": "small", "color": "blue"}'
    for actions, url in [
        ((), f"{base}/{task}"),
        (BUY[:1], f"{base}/search_results/{task}/canvas+shoe/1"),
        (BUY[:2], f"{base}/item_page/{task}/B000000001/canvas+shoe/1/{{}}"),
        (BUY, f"{base}/item_page/{task}/B000000001/canvas+shoe/1/{options}"),
        (
            (*BUY, "click[features]"),
            f"{base}/item_sub_page/{task}/B000000001/canvas+shoe/1/Features/{options.replace(chr(34), chr(39))}",
        ),
        ((*BUY, "click[buy now]"), f"{base}/done/{task}/B000000001/{options.replace(chr(34), chr(39))}"),
    ]:
        assert page_after(world, store, "url", *actions)[1] == url


@WORLDS
def test_first_results_page_has_no_way_back(world: type[WebShop], store: Path) -> None:
    env = world(store, goals="human")
    env.reset()
    page, *_ = env.step("search[shoe]")
    observation, *_, info = env.step("click[< prev]")
    assert observation == page
    assert "invalid_action" in info


@WORLDS
def test_search_finds_at_most_fifty_and_the_solution_turns_pages(
    world: type[WebShop], make_world: Any, make_row: Any
) -> None:
    """Sixty products of one title: the thirty-third is on the fourth page; the last is found by its query alone."""
    rows = [make_row(f"B0{number:08}", "equal shoe") for number in range(60)]
    wanted = {"instruction": "x", "instruction_attributes": ["equal"], "instruction_options": []}
    env = world(make_world(rows, {}, {rows[number]["asin"]: [wanted] for number in (32, 59)}), goals="human")
    env.reset(options={"task": "B000000032.h0"})
    assert env.solution() == ["search[equal shoe]", *["click[next >]"] * 3, "click[b000000032]", "click[buy now]"]
    env.reset(options={"task": "B000000059.h0"})
    assert env.solution() == ["search[<q> shoes]", *["click[next >]"] * 5, "click[b000000059]", "click[buy now]"]
    for action in env.solution():
        observation, reward, *_ = env.step(action)
    assert reward == 1.0
    env.reset()
    observation, *_ = env.step("search[equal shoe]")
    assert "Page 1 (Total results: 50)" in observation
