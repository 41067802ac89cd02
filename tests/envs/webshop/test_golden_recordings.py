"""Recordings of the original server, replayed: what agents, a random policy and people saw and got.

What is normalised before a comparison, and nothing else:

* golden_steps.jsonl was recorded by agents whose harness cut the last line break of an observation and appended
  `:Valid Actions:` and the list to some; after a purchase it stored a note with the reward instead of the page.
* original_random_run.txt is a console log that wraps lines at 92 characters, so all white space counts as one blank.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from llm_gym.envs.webshop.env import WebShopV0
from llm_gym.envs.webshop.goals import Goal
from llm_gym.envs.webshop.observations import BASE_URL
from llm_gym.envs.webshop.pages import ResultsPage
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.reward import matched_options, purchase_reward, reduce_color, type_reward

pytestmark = pytest.mark.data

Step = dict[str, Any]


@pytest.fixture(scope="module")
def golden(webshop_folder: Path) -> list[Step]:
    return [
        json.loads(line) for line in (webshop_folder / "golden_steps.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def shop(official_store: Path) -> WebShopV0:
    return WebShopV0(official_store, goals="human")


REWARD_NOTES = {2: 10.0, 19: 6.666666666666666, 22: 7.5, 27: 6.666666666666666, 32: 0.0, 42: 6.666666666666666, 45: 2.5}
"""Steps whose record is a note `{'reward': …}` and not a page: the purchases."""
UNKNOWN_GOALS = {14, 16, 18}
"""Episodes whose goals are not among the 13 of the 1,000 products, so that attributes and options are not known."""
APPENDED_ACTIONS = {6, 37, 39}
"""Steps after whose page the list of valid actions is appended."""
WITHOUT_EFFECT = {10, 11, 33, 34}
"""Clicks on what the page does not show: two on a description page, two after the purchase."""


def replayed(shop: WebShopV0, golden: list[Step]) -> Iterator[tuple[int, Step, str, float, dict[str, Any]]]:
    """Number, record, and our observation, reward and info of each step."""
    for number, step in enumerate(golden):
        if number == 0 or step["goal_idx"] != golden[number - 1]["goal_idx"]:
            start(shop, step)
        observation, reward, _, _, info = shop.step(f"{step['command']}[{step['arg']}]")
        yield number, step, observation, reward, info


def without_price(instruction: str) -> str:
    return instruction.split(", and price lower than")[0]


def start(shop: WebShopV0, step: Step) -> None:
    """Begin the recorded goal: one of the 13 at the recorded limit, or one without anything in common."""
    text, limit = step["goal"], float(re.search(r"lower than ([\d.]+) dollars", step["goal"])[1])  # type: ignore[index]
    for task in shop.panel:
        shop.reset(options={"task": task})
        if without_price(text) == without_price(shop.goal.instruction):
            shop.shop.begin(replace(shop.goal, instruction=text, price_limit=limit))
            return
    assert step["goal_idx"] in UNKNOWN_GOALS
    nothing = {"category": "", "query": "", "product_category": "", "query_text": ""}
    shop.shop.begin(Goal("unknown", "", text, ("?",), (), price_limit=limit, title_nouns=("nowhere",), **nothing))


def recorded_page(step: Step) -> str:
    page: str = step["observation"].split("\n\n:Valid Actions:\n")[0]
    return page.removesuffix("\n")


def test_every_recorded_page_is_reproduced_character_for_character(shop: WebShopV0, golden: list[Step]) -> None:
    equal, different = 0, []
    for number, step, observation, _, _ in replayed(shop, golden):
        if number in REWARD_NOTES:
            assert step["observation"].startswith("{'reward':")
        elif observation.removesuffix("\n") == recorded_page(step):
            equal += 1
        else:
            different.append(number)
    assert different == []
    assert equal == 39
    assert equal + len(REWARD_NOTES) == len(golden) == 46


def test_only_three_recorded_pages_have_something_appended(golden: list[Step]) -> None:
    assert {
        number for number, step in enumerate(golden) if ":Valid Actions:" in step["observation"]
    } == APPENDED_ACTIONS


def test_recorded_rewards_are_reproduced_for_every_known_goal(shop: WebShopV0, golden: list[Step]) -> None:
    ours = {
        number: 10 * reward
        for number, step, _, reward, _ in replayed(shop, golden)
        if number in REWARD_NOTES and step["goal_idx"] not in UNKNOWN_GOALS
    }
    assert ours == {number: REWARD_NOTES[number] for number in (2, 19, 22, 27)}
    assert {number: step["reward"] for number, step in enumerate(golden) if number in REWARD_NOTES} == REWARD_NOTES


def test_recorded_clicks_without_effect_have_none_here(shop: WebShopV0, golden: list[Step]) -> None:
    impossible = {number for number, _, _, _, info in replayed(shop, golden) if "invalid_action" in info}
    assert impossible == WITHOUT_EFFECT


def test_recorded_valid_actions_are_the_admissible_ones(shop: WebShopV0, golden: list[Step]) -> None:
    compared = 0
    for _, step, _, _, info in replayed(shop, golden):
        if step["valid_actions"] is None:
            continue
        if info["screen"] == "search":
            assert step["valid_actions"] == ["search[<QUERY>]"]
        else:
            assert info["admissible_actions"] == step["valid_actions"]
        compared += 1
    assert compared == 33


def test_recorded_results_are_the_results_on_the_page(shop: WebShopV0, golden: list[Step]) -> None:
    pages = [(info["results"], step) for _, step, _, _, info in replayed(shop, golden) if info["screen"] == "results"]
    assert len(pages) == 18
    for results, step in pages:
        assert [result.asin for result in results] == step["asins"]


# -- the random run ------------------------------------------------------------------------------------------------


def squeezed(text: str) -> str:
    return " ".join(text.split())


def random_run(log: str) -> list[tuple[str, dict[str, Any], str, float]]:
    """Observation, available actions, action and reward of each recorded step."""
    pattern = re.compile(
        r"=+Observation=+\n(.*?)\n=+Available Actions=+\nAvailable actions:\n(.*?)\n"
        r"Taking action \"(.*?)\" -> Reward = (\S+)",
        re.DOTALL,
    )
    return [
        (page, ast.literal_eval(actions), action, float(reward))
        for page, actions, action, reward in pattern.findall(log)
    ]


def test_random_run_of_the_original_is_reproduced_to_its_reward(official_store: Path, webshop_folder: Path) -> None:
    steps = random_run((webshop_folder / "original_random_run.txt").read_text(encoding="utf-8"))
    assert len(steps) == 10
    env = WebShopV0(official_store, goals="synthetic", observation_mode="text")
    instruction = squeezed(steps[0][0]).split(" [SEP] ")[2]
    task = next(
        task
        for task in env.panel
        if without_price(env.reset(options={"task": task})[1]["goal"]) == without_price(instruction)
    )
    observation, info = env.reset(options={"task": task})
    env.shop.begin(replace(env.goal, instruction=instruction, price_limit=50.0))
    for number, (page, actions, action, reward) in enumerate(steps):
        if number:
            assert squeezed(observation) == squeezed(page)
        assert actions["has_search_bar"] == (info["screen"] == "search")
        if info["screen"] != "search":
            assert info["admissible_actions"] == [f"click[{name}]" for name in actions["clickables"]]
        observation, got, _, _, info = env.step(action)
        assert got == reward
    assert info["screen"] == "done"
    assert got == 1 / 9


# -- people --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sessions(webshop_folder: Path) -> dict[str, list[Step]]:
    files = sorted((webshop_folder / "human_sessions").glob("*.jsonl"))
    return {file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files}


NEXT_PAGES = {
    "index": {"search_results", "index"},
    "search_results": {"search_results", "item_page", "index"},
    "item_page": {"item_page", "item_sub_page", "search_results", "index", "done"},
    "item_sub_page": {"item_page", "index"},
    "done": set(),
}
"""Where each page of our machine leads (BEHAVIOUR.md, A4); reloading a page is the browser's doing."""


def test_people_walked_only_along_edges_that_the_pages_have(sessions: dict[str, list[Step]]) -> None:
    assert len(sessions) == 25
    for steps in sessions.values():
        kinds = [step["page"] for step in steps]
        assert (kinds[0], kinds[-1]) == ("index", "done")
        for before, after in itertools.pairwise(kinds):
            assert after in NEXT_PAGES[before]


def test_addresses_name_the_page_the_session_and_the_product(sessions: dict[str, list[Step]]) -> None:
    for name, steps in sessions.items():
        for step in steps:
            address = unquote(step["url"])
            kind = "" if step["page"] == "index" else f"{step['page']}/"
            assert address.startswith(f"{BASE_URL}/{kind}{name}")
            if step["page"] == "done":
                options = ast.literal_eval(address.split("/", 6)[6])
                assert options == step["content"]["options"]
                assert address.split("/")[5] == step["content"]["asin"]


def test_results_pages_of_people_hold_at_most_ten_products(sessions: dict[str, list[Step]]) -> None:
    pages = [step["content"] for steps in sessions.values() for step in steps if step["page"] == "search_results"]
    assert max(len(page["search_result_asins"]) for page in pages) == 10
    shown = ResultsPage(tuple(pages[0]["keywords"]), 1, tuple(map(str, range(23))))
    assert [len(replace(shown, number=number).shown) for number in (0, 1, 2, 3, 4)] == [0, 10, 10, 3, 0]


def test_goal_texts_of_people_end_in_the_price_limit_as_ours_do(sessions: dict[str, list[Step]]) -> None:
    for steps in sessions.values():
        goal = steps[0]["goal"]
        assert goal["instruction_text"].endswith(f", and price lower than {goal['price_upper']:.2f} dollars")
        assert goal["price_upper"] % 10 == 0


def goal_of(recorded: dict[str, Any], nouns: tuple[str, ...] = ("unknown",)) -> Goal:
    return Goal(
        task_id="person",
        asin=recorded["asin"],
        instruction=recorded["instruction_text"],
        query_text="",
        attributes=tuple(recorded["attributes"]),
        options=tuple(recorded["goal_options"]),
        price_limit=recorded["price_upper"],
        category=recorded["category"],
        query=recorded["query"],
        product_category=recorded["product_category"],
        title_nouns=nouns,
    )


def test_share_of_options_is_the_recorded_one(sessions: dict[str, list[Step]]) -> None:
    compared = 0
    for steps in sessions.values():
        bought, goal, parts = steps[-1]["content"], steps[-1]["goal"], steps[-1]["reward_info"]
        if goal["goal_options"]:
            share = matched_options(bought["options"].values(), goal["goal_options"]) / len(goal["goal_options"])
            assert share == parts["r_option"]
            compared += 1
        else:
            assert "r_option" not in parts
    assert compared == 18


def test_type_factor_follows_from_the_recorded_title_score_and_matches(sessions: dict[str, list[Step]]) -> None:
    for steps in sessions.values():
        parts = steps[-1]["reward_info"]
        assert type_reward(parts["title_score"], parts["query_match"] or parts["category_match"]) == parts["r_type"]


def test_recorded_reward_is_the_formula_of_its_recorded_parts(sessions: dict[str, list[Step]]) -> None:
    """Our purchase of a product that matches exactly the recorded parts has the recorded reward."""
    for steps in sessions.values():
        bought, goal, parts = steps[-1]["content"], steps[-1]["goal"], steps[-1]["reward_info"]
        matched = round(parts["r_att"] * len(goal["attributes"]))
        nouns, wanted = nouns_with_score(parts["title_score"])
        product = product_like(bought["asin"], goal, goal["attributes"][:matched], parts, nouns)
        ours = purchase_reward(product, goal_of(goal, wanted), bought["price"], bought["options"])
        assert ours.reward == pytest.approx(steps[-1]["reward"], abs=1e-12)
        assert ours.price == parts["r_price"]
        assert ours.type == parts["r_type"]


def nouns_with_score(score: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Nouns of a bought and a wanted title with this score, a fraction with a small denominator."""
    for size in range(1, 60):
        common = round(score * size)
        if common / size == score:
            wanted = tuple(f"noun{number}" for number in range(size))
            return wanted[:common], wanted
    raise AssertionError(f"{score} is no fraction of nouns")


def product_like(
    asin: str, goal: dict[str, Any], attributes: list[str], parts: dict[str, Any], nouns: tuple[str, ...]
) -> Product:
    return Product(
        asin=asin,
        title="",
        description="",
        bullets=(),
        pricing=(),
        options={},
        option_images={},
        attributes=tuple(attributes),
        main_image="",
        category="",
        query=goal["query"] if parts["query_match"] else "another",
        product_category=goal["product_category"] if parts["category_match"] else "another",
        title_nouns=nouns,
    )


def test_colours_that_people_chose_are_reduced_to_their_first_known_word() -> None:
    """`z2-pink` passed for `pink`, and `light-blue` for `gray | light blue`: both hold `blue` before `light`."""
    assert reduce_color("z2-pink") == "pink"
    assert reduce_color("light-blue") == reduce_color("gray | light blue") == "blue"


# -- the original's own pages --------------------------------------------------------------------------------------

PAGES = ("results", "item_page", "item_page_desc", "item_page_feat")


@pytest.fixture
def original_pages(webshop_folder: Path, read_html: Any) -> dict[str, Any]:
    folder = webshop_folder / "original_pages"
    return {name: read_html((folder / f"{name}.html").read_text(encoding="utf-8")) for name in PAGES}


def rows_of(pages: dict[str, Any], make_row: Any, make_options: Any) -> list[Step]:
    """The products that the four pages show, and forty that they count: none of them is among the 1,000."""
    results = [str(piece) for piece in pages["results"].pieces[5:]]
    item = [str(piece) for piece in pages["item_page"].pieces]
    sizes = item[item.index("size") + 1 : item.index("size") + 6]
    rows = []
    for asin, title, price in zip(results[::3], results[1::3], results[2::3], strict=True):
        texts = {}
        if asin == "B09P87V3LZ":
            texts["customization_options"] = make_options(color=["black", "purple", "red"], size=sizes)
            texts["full_description"] = str(pages["item_page_desc"].pieces[4])
            texts["small_description"] = [str(piece).removeprefix(" ") for piece in pages["item_page_feat"].pieces[4:]]
        rows.append(make_row(asin, title, pricing=price, **texts))
    return rows + [make_row(f"B0REST{number:04}", "another shoe") for number in range(40)]


def test_pages_of_the_original_site_are_reproduced_from_their_products(
    original_pages: dict[str, Any], make_world: Any, make_row: Any, make_options: Any
) -> None:
    """Texts, marks and clickable names of its results, item, description and features pages."""
    rows = rows_of(original_pages, make_row, make_options)
    assert len(rows) == 50
    human = {rows[0]["asin"]: [{"instruction": "x", "instruction_attributes": ["y"], "instruction_options": []}]}
    env = WebShopV0(make_world(rows, {}, human), goals="human", observation_mode="text_rich")
    env.reset()
    env.shop.begin(replace(env.goal, instruction=str(original_pages["results"].pieces[1])))
    actions = ("search[<q> shoes]", "click[b09p87v3lz]", "click[description]", "click[< prev]", "click[features]")
    shown = [env.step(action) for action in actions]
    for name, (observation, *_, info) in zip(PAGES, [shown[0], shown[1], shown[2], shown[4]], strict=True):
        assert observation == original_pages[name].rich_text(set(), url="")
        assert info["admissible_actions"] == [f"click[{one}]" for one in original_pages[name].clickables()]
