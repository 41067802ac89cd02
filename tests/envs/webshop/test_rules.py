"""Every difference between the original (v0) and the corrected shop (v1), one field of `Rules` at a time."""

from __future__ import annotations

import dataclasses
import random
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from llm_gym.envs.webshop.actions import Click, Malformed
from llm_gym.envs.webshop.env import WebShop, WebShopV0
from llm_gym.envs.webshop.goals import original_limits, original_prices
from llm_gym.envs.webshop.rules import CORRECTED, ORIGINAL, Rules


class Shopper:
    """An environment on the search page of a goal, and the last thing it said."""

    def __init__(self, world: type[WebShop], store: Path, **settings: Any) -> None:
        self.env = world(store, goals="human", **settings)
        self.observation, self.info = self.env.reset(options={"task": self.env.panel[0]})
        self.reward, self.ended = 0.0, False

    def do(self, *actions: str) -> Shopper:
        for action in actions:
            self.observation, self.reward, self.ended, _, self.info = self.env.step(action)
        return self

    @property
    def refused(self) -> bool:
        return "invalid_action" in self.info


@pytest.fixture
def original(nasty_world: Path) -> Shopper:
    return Shopper(WebShopV0, nasty_world)


@pytest.fixture
def corrected(nasty_world: Path) -> Shopper:
    return Shopper(WebShop, nasty_world)


ALL = "search[<q> shoes]"
TESTED = {
    "parse": "test_option_with_brackets",
    "search_anywhere": "test_search_away_from_the_search_bar",
    "revives": "test_search_after_the_purchase",
    "route_by_url": "test_query_that_names_a_page",
    "exact_names": "test_blank_at_the_end_of_a_name",
    "last_group_wins": "test_value_of_two_groups",
    "clicked_by_url": "test_quoted_word_of_the_query",
    "one_word_category": "test_category_of_several_words",
    "random_prices": "test_price_limits_change_with_the_seed",
    "draw_off_by_one": "test_original_draw",
}


def test_every_rule_has_its_test_and_differs_between_the_versions() -> None:
    fields = {field.name for field in dataclasses.fields(Rules)}
    assert fields == set(TESTED)
    for name, prefix in TESTED.items():
        assert getattr(ORIGINAL, name) != getattr(CORRECTED, name)
        assert any(test.startswith(prefix) for test in globals())


# -- parse ---------------------------------------------------------------------------------------------------------


def test_option_with_brackets_can_be_clicked_only_in_v1(original: Shopper, corrected: Shopper) -> None:
    actions = (ALL, "click[b0brackets]", "click[wide [2e]]")
    assert original.do(*actions).refused
    assert not corrected.do(*actions).refused
    assert corrected.info["chosen"] == {"size": "wide [2e]"}


def test_text_after_the_bracket_is_ignored_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    assert not original.do("search[shoe] please").refused
    assert corrected.do("search[shoe] please").refused


def test_blanks_and_capitals_in_the_name_of_an_action_are_forgiven_only_in_v1(
    original: Shopper, corrected: Shopper
) -> None:
    for action in (" search[shoe]", "search [shoe]", "Search[shoe]"):
        assert original.do(action).refused
        assert not corrected.do(action).refused
        corrected.do("click[back to search]")


# -- search_anywhere, revives --------------------------------------------------------------------------------------


def test_search_away_from_the_search_bar_works_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    for opening in ("click[b0shared01]", "click[description]"):
        assert original.do(ALL, opening, "search[shoe]").info["screen"] == "results"
        original.do("click[back to search]")
    corrected.do(ALL, "search[shoe]")
    assert corrected.info["invalid_action"] == "There is no search bar on this page: click[back to search] first."
    assert corrected.info["screen"] == "results"


def test_search_after_the_purchase_goes_on_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    purchase = (ALL, "click[b0shared01]", "click[buy now]")
    original.do(*purchase)
    assert original.ended
    original.do("search[shoe]")
    assert (original.info["screen"], original.ended, original.reward) == ("results", False, 0.0)
    corrected.do(*purchase, "search[shoe]")
    assert corrected.ended
    assert corrected.info["invalid_action"] == "The episode is over: call reset() to begin another."


def test_click_after_the_purchase_changes_nothing_and_ends_nothing_in_v0(original: Shopper) -> None:
    page = original.do(ALL, "click[b0shared01]", "click[buy now]").observation
    assert original.ended
    original.do("click[back to search]")
    assert (original.observation, original.ended, original.reward, original.refused) == (page, False, 0.0, True)
    original.do("click[buy now]")
    assert (original.observation, original.ended, original.reward, original.refused) == (page, False, 0.0, True)


@pytest.mark.parametrize("action", ["", " ", "nonsense", 7, None])
def test_what_is_no_action_ends_nothing_after_the_purchase_in_v0_and_is_over_in_v1(
    action: Any, original: Shopper, corrected: Shopper
) -> None:
    for shopper in (original, corrected):
        shopper.do(ALL, "click[b0shared01]", "click[buy now]", action)
        assert shopper.refused
    assert not original.ended
    assert corrected.ended
    assert corrected.info["invalid_action"] == "The episode is over: call reset() to begin another."


# -- route_by_url --------------------------------------------------------------------------------------------------


def test_query_that_names_a_page_leads_back_astray_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    """The original takes the item page for a results page, so that Prev turns to the page before the first."""
    actions = ("search[search_results shared]", "click[b0shared01]", "click[< prev]")
    assert "Page 0 (Total results:" in original.do(*actions).observation
    assert original.info["results"] == ()
    assert "Page 1 (Total results:" in corrected.do(*actions).observation


def test_query_that_names_a_page_leads_from_a_sub_page_to_the_results_only_in_v0(
    original: Shopper, corrected: Shopper
) -> None:
    actions = ("search[item_page shared]", "click[b0shared01]", "click[description]", "click[< prev]")
    assert original.do(*actions).info["screen"] == "results"
    assert corrected.do(*actions).info["screen"] == "item"
    actions = ("search[search_results shared]", "click[b0shared01]", "click[features]", "click[< prev]")
    assert "Page 0" in original.do(*actions).observation


# -- exact_names ---------------------------------------------------------------------------------------------------


def test_blank_at_the_end_of_a_name_is_needed_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    """`Red/` of the product file becomes `red | ` with a blank at its end."""
    for shopper in (original, corrected):
        assert "click[red | ]" in shopper.do(ALL, "click[b0brackets]").info["admissible_actions"]
    assert original.do("click[red |]").refused
    assert not original.do("click[red | ]").refused
    for action in ("click[red |]", "click[ red | ]"):
        assert not corrected.do(action).refused
        assert corrected.info["chosen"] == {"color": "red | "}


# -- last_group_wins -----------------------------------------------------------------------------------------------


def test_value_of_two_groups_sets_the_last_in_v0_and_each_in_turn_in_v1(original: Shopper, corrected: Shopper) -> None:
    actions = (ALL, "click[b0shared01]", "click[small]", "click[small]")
    assert original.do(*actions).info["chosen"] == {"fit": "small"}
    assert corrected.do(*actions).info["chosen"] == {"size": "small", "fit": "small"}


def test_in_v1_a_click_a_group_chooses_any_combination_and_another_click_changes_it(corrected: Shopper) -> None:
    corrected.do(ALL, "click[b0shared01]", "click[large]", "click[small]")
    assert corrected.info["chosen"] == {"size": "large", "fit": "small"}
    assert corrected.do("click[small]").info["chosen"] == {"size": "small", "fit": "small"}
    assert corrected.do("click[small]").info["chosen"] == {"size": "small", "fit": "small"}


# -- clicked_by_url ------------------------------------------------------------------------------------------------


def test_quoted_word_of_the_query_counts_as_clicked_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    actions = ('search["small" shared]', "click[b0shared01]")
    assert original.do(*actions).observation.startswith("You have clicked small.\nYou have clicked small.\n")
    assert original.info["chosen"] == {}
    assert "clicked" not in corrected.do(*actions).observation


def test_value_of_another_group_is_marked_too_only_in_v0(original: Shopper, corrected: Shopper) -> None:
    actions = (ALL, "click[b0shared01]", "click[large]")
    assert original.do(*actions).observation.count("[clicked button] large") == 2
    assert corrected.do(*actions).observation.count("[clicked button] large") == 1


@pytest.mark.parametrize(("asin", "value"), [("b0unicode1", "größe 41"), ("b0brackets", 'the "red" one')])
def test_value_beyond_ascii_or_with_quotes_is_marked_only_in_v1(
    asin: str, value: str, original: Shopper, corrected: Shopper
) -> None:
    actions = (ALL, f"click[{asin}]", f"click[{value}]")
    for shopper in (original, corrected):
        assert value in shopper.do(*actions).info["chosen"].values()
    assert "You have clicked" not in original.observation
    assert corrected.observation.startswith(f"You have clicked {value}.\n")


# -- one_word_category ---------------------------------------------------------------------------------------------


def test_category_of_several_words_is_found_only_in_v1(make_world: Any, make_row: Any) -> None:
    rows = [
        make_row("B0GARDEN01", "spade", category="garden"),
        make_row("B0GARDEN02", "garden chair", category="garden chairs"),
    ]
    human = {"B0GARDEN01": [{"instruction": "x", "instruction_attributes": ["y"], "instruction_options": []}]}
    store = make_world(rows, {}, human)
    found = {
        world: [one.asin for one in Shopper(world, store).do("search[<c> garden chairs]").info["results"]]
        for world in (WebShopV0, WebShop)
    }
    assert found == {WebShopV0: ["B0GARDEN01"], WebShop: ["B0GARDEN02"]}


# -- random_prices -------------------------------------------------------------------------------------------------


def test_price_limits_change_with_the_seed_only_in_v0(nasty_world: Path) -> None:
    def instructions(env: WebShop) -> list[str]:
        return [env.reset(options={"task": task})[1]["goal"] for task in env.panel]

    by_seed = {tuple(instructions(WebShopV0(nasty_world, goals="synthetic", seed=seed))) for seed in range(5)}
    assert len(by_seed) == 5
    same = [instructions(WebShopV0(nasty_world, goals="synthetic", seed=3)) for _ in range(2)]
    assert same[0] == same[1]
    env = WebShop(nasty_world, goals="synthetic")
    first = instructions(env)
    env.reset(seed=123)
    assert instructions(env) == first


def test_price_limits_are_those_that_the_original_draws_after_its_prices(nasty_world: Path) -> None:
    """Worked out with Python's global generator, as the original uses it: all prices, then all limits."""
    env = WebShopV0(nasty_world, goals="human", seed=42)
    products = [env.catalogue.store.product(position) for position in range(env.catalogue.size)]
    random.seed(42)
    prices = {}
    for product in products:
        low_high = list(product.pricing) or [100.0]
        prices[product.asin] = low_high[0] if len(low_high) == 1 else random.uniform(*low_high)
    limits = []
    for product in products:
        for _ in product.human:
            above = [10.0 * step for step in range(1, 100) if 10.0 * step > prices[product.asin]][:4]
            limits.append(sorted(random.sample(above, 2))[1])
    table = env.catalogue.goals("human")
    drawn = {table.task_id(goal): limit for goal, limit in enumerate(limits)}
    for task in env.panel:
        env.reset(options={"task": task})
        assert env.goal.price_limit == drawn[task]


def test_limits_of_synthetic_goals_are_drawn_once_a_product() -> None:
    prices = original_prices([[15.0], [], [10.0, 20.0]], random.Random(1))
    assert prices[:2] == [15.0, 100.0]
    assert 10.0 <= prices[2] <= 20.0
    limits = original_limits(prices, [0, 0, 0, 1, 2, 2], "synthetic", random.Random(1))
    assert limits[0] == limits[1] == limits[2]
    assert limits[4] == limits[5]
    human = original_limits(prices, [0] * 200, "human", random.Random(1))
    assert set(human) == {30.0, 40.0, 50.0}


def test_limit_is_the_larger_of_two_of_the_next_four_tens() -> None:
    """Of the six pairs of 20, 30, 40, 50 one has 30 as its larger number, two have 40, three have 50."""
    rng = random.Random(0)
    drawn = Counter(original_limits([10.0], [0] * 60_000, "human", rng))
    assert {limit: round(6 * count / 60_000, 1) for limit, count in drawn.items()} == {30.0: 1.0, 40.0: 2.0, 50.0: 3.0}


@pytest.mark.parametrize(("price", "limits"), [(969.0, {980.0, 990.0}), (975.0, {990.0}), (980.0, {1e6}), (5e3, {1e6})])
def test_limit_near_the_end_of_the_grid(price: float, limits: set[float]) -> None:
    assert set(original_limits([price], [0] * 100, "human", random.Random(0))) == limits


# -- draw_off_by_one -----------------------------------------------------------------------------------------------


def shares(env: WebShop, draws: int = 8000) -> list[float]:
    """How often each task of the panel is drawn."""
    env.reset(seed=0)
    drawn = Counter(env.reset()[1]["task_id"] for _ in range(draws))
    return [drawn[task] / draws for task in env.panel]


def test_original_draw_never_takes_the_first_goal_and_the_last_twice(nasty_world: Path) -> None:
    assert len(WebShop(nasty_world, goals="human").panel) == 4
    assert shares(WebShopV0(nasty_world, goals="human")) == pytest.approx([0, 0.25, 0.25, 0.5], abs=0.03)
    assert shares(WebShop(nasty_world, goals="human")) == pytest.approx([0.25] * 4, abs=0.03)


def test_synthetic_goals_are_drawn_by_their_weights_in_v1(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="synthetic")
    weights = env.catalogue.store.synthetic_weights()[env.catalogue.goals("synthetic").order]
    assert shares(env) == pytest.approx((weights / weights.sum()).tolist(), abs=0.02)


# -- what both have in common --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [ORIGINAL, CORRECTED])
def test_both_parsers_read_plain_actions_alike(rules: Rules) -> None:
    assert rules.parse("click[Buy Now]") == Click("buy now")
    assert isinstance(rules.parse("buy[now]"), Malformed)
    assert isinstance(rules.parse("search[]"), Malformed)


@pytest.mark.parametrize("world", [WebShopV0, WebShop])
def test_going_back_to_the_results_forgets_the_options(world: type[WebShop], nasty_world: Path) -> None:
    shopper = Shopper(world, nasty_world).do(ALL, "click[b0shared01]", "click[large]", "click[description]")
    assert shopper.do("click[< prev]").info["chosen"] != {}
    assert shopper.do("click[< prev]", "click[b0shared01]").info["chosen"] == {}


@pytest.mark.parametrize("world", [WebShopV0, WebShop])
def test_pages_past_the_end_are_empty_and_lead_back(world: type[WebShop], nasty_world: Path) -> None:
    shopper = Shopper(world, nasty_world).do(ALL)
    assert len(shopper.env.catalogue.documents()) == 25
    counts = [len(shopper.info["results"])]
    for _ in range(4):
        counts.append(len(shopper.do("click[next >]").info["results"]))
    assert counts == [10, 10, 5, 0, 0]
    assert len(shopper.do("click[< prev]", "click[< prev]").info["results"]) == 5


@pytest.mark.parametrize("world", [WebShopV0, WebShop])
def test_visited_products_are_marked_until_the_search_page(world: type[WebShop], nasty_world: Path) -> None:
    shopper = Shopper(world, nasty_world).do(ALL, "click[b0shared01]", "click[< prev]")
    assert "\n[clicked button] B0SHARED01 [clicked button_]\n" in shopper.observation
    shopper.do("click[back to search]", ALL)
    assert "clicked" not in shopper.observation


@pytest.mark.filterwarnings(r"ignore:.*The environment llm_gym/WebShop-v0 is out of date:DeprecationWarning")
@pytest.mark.parametrize("version", ["v0", "v1"])
def test_gymnasium_finds_nothing_to_complain_about(version: str, nasty_world: Path) -> None:
    env = gym.make(f"llm_gym/WebShop-{version}", catalogue=nasty_world, goals="human", render_mode="ansi")
    assert isinstance(env.unwrapped, WebShopV0) == (version == "v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_close_check=True)
