"""The reward: fuzzy texts, colours, kinds of products, options, price, and their sum (BEHAVIOUR.md, A7)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.webshop.env import WebShop, WebShopV0
from llm_gym.envs.webshop.goals import NO_LIMIT, Goal, fixed_limit
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.reward import (
    COLORS,
    categories_match,
    matched_attributes,
    matched_options,
    purchase_reward,
    reduce_color,
    similar,
    title_score,
    token_set_ratio,
    type_reward,
)

PRODUCT = Product(
    asin="B000000001",
    title="Red Shoe Boot",
    description="Long-lasting AND comfortable.",
    bullets=("Machine washable ", "Made of leather"),
    pricing=(15.0,),
    options={"size": ("medium", "large"), "color": ("red", "blue")},
    option_images={},
    attributes=("easy clean", "rubber sole"),
    main_image="",
    category="fashion",
    query="shoes",
    product_category="Clothing › Shoes › Boots",
    title_nouns=("red", "shoe", "boot"),
)
GOAL = Goal(
    task_id="B000000001.h0",
    asin="B000000001",
    instruction="",
    query_text="",
    attributes=("rubber sole",),
    options=("medium",),
    price_limit=20.0,
    category="fashion",
    query="shoes",
    product_category="Clothing › Shoes › Boots",
    title_nouns=("red", "shoe", "boot"),
)


# -- fuzzy texts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("machine wash", "machine washable", 86),
        ("wash", "machine washable", 40),
        ("easy clean", "easy to clean", 100),
        ("long lasting", "long-lasting", 100),
        ("noise cancelling", "noise canceling", 97),
        ("pack of 2", "pack of 12", 95),
        ("x-large", "xx-large", 93),
        ("3x-large", "x-large", 93),
        ("32w x 30l", "32w x 32l", 89),
        ("high quality", "highest quality", 89),
        ("men size 9", "size 9 women", 91),
        ("king", "kingdom", 73),
        ("8", "8 wide", 100),
        ("7.5", "7 5", 100),
        ("12 ounce (pack of 2)", "12 ounce", 100),
        ("", "anything", 0),
        ("anything", "", 0),
        ("", "", 0),
        ("!?-", "!?-", 0),
        ("naïve", "nave", 100),
    ],
)
def test_token_set_ratio_is_that_of_thefuzz(one: str, other: str, ratio: int) -> None:
    assert token_set_ratio(one, other) == ratio
    assert similar(one, other) == (ratio > 85)


def test_similar_needs_more_than_85() -> None:
    """Twenty letters of which three are added at the end: 2·17/(17+23) = 0.85."""
    assert token_set_ratio("a" * 17, "a" * 17 + "b" * 6) == 85
    assert not similar("a" * 17, "a" * 17 + "b" * 6)


# -- colours -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reduced"),
    [
        ("red | blue", "blue"),
        ("dark blue", "blue"),
        ("navy blue", "blue"),
        ("standard", "tan"),
        ("washable", "ash"),
        ("shredded", "red"),
        ("wine red", "red"),
        ("white", "white"),
        ("x-large", "x-large"),
        ("Red", "Red"),
        ("", ""),
    ],
)
def test_a_colour_is_the_first_known_word_inside_a_value(value: str, reduced: str) -> None:
    assert reduce_color(value) == reduced


def test_colours_stand_in_the_originals_order() -> None:
    """Alphabetical, so that which substring comes first is known."""
    assert len(COLORS) == 102
    assert list(COLORS) == sorted(COLORS)
    assert (COLORS[0], COLORS[-1]) == ("alabaster", "yellow")


def test_reduced_colours_decide_whether_options_match() -> None:
    assert matched_options(["standard"], ["tan"]) == 1
    assert matched_options(["dark blue"], ["navy blue"]) == 1
    assert matched_options(["red | blue"], ["red"]) == 0
    assert matched_options(["wine red"], ["red"]) == 1


# -- kind of product -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bought", "wanted", "score"),
    [
        (("red", "shoe", "boot"), ("red", "shoe", "shoe", "boot"), 0.75),
        (("shoe", "shoe"), ("shoe",), 1.0),
        (("hat",), ("shoe",), 0.0),
        ((), ("shoe",), 0.0),
        (("shoe",), (), 0.2),
        ((), (), 0.2),
    ],
)
def test_title_score_counts_duplicates_of_the_goal_only(
    bought: tuple[str, ...], wanted: tuple[str, ...], score: float
) -> None:
    assert title_score(bought, wanted) == score


@pytest.mark.parametrize(
    ("titles", "matches", "factor"),
    [
        (0.0, True, 0.0),
        (0.0, False, 0.0),
        (0.05, True, 0.1),
        (0.05, False, 0.1),
        (0.1, True, 1.0),
        (0.1, False, 0.5),
        (0.15, False, 0.5),
        (0.2, False, 0.5),
        (0.2, True, 1.0),
        (0.21, False, 1.0),
        (1.0, False, 1.0),
    ],
)
def test_type_factor_follows_the_originals_chain(titles: float, matches: bool, factor: float) -> None:
    assert type_reward(titles, matches) == factor


def test_category_paths_match_with_two_common_parts_in_any_order() -> None:
    assert categories_match("A › B › C", "C›D›A")
    assert not categories_match("A › B", "A › C")
    assert not categories_match("", "")
    assert not categories_match("A › A", "A › A")


def test_no_common_noun_gives_nothing_even_for_the_same_query_and_category() -> None:
    reward = purchase_reward(replace(PRODUCT, title_nouns=("hat",)), GOAL, 15.0, {"size": "medium"})
    assert (reward.query_match, reward.category_match) == (True, True)
    assert (reward.type, reward.reward) == (0.0, 0.0)


def test_repeated_nouns_of_the_very_product_do_not_lower_its_reward() -> None:
    nouns = ("shoe",) * 9 + ("boot",)
    reward = purchase_reward(
        replace(PRODUCT, title_nouns=nouns), replace(GOAL, title_nouns=nouns), 15.0, {"size": "medium"}
    )
    assert (reward.title_score, reward.type, reward.reward) == (0.2, 1.0, 1.0)


# -- attributes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attribute", "found"),
    [
        ("easy to clean", True),  # like an attribute of the product
        ("machine washable", True),  # in the bullets
        ("washable made", False),  # a blank stands at the end of the first bullet and another between the two
        ("washable  made", True),  # … which is how the original joins them
        ("comfortable", True),  # in the description
        ("red shoe", True),  # in the title
        ("Red Shoe", False),  # the texts are lower-cased, the attribute is not
        ("waterproof", False),
    ],
)
def test_attribute_counts_when_it_is_like_an_own_one_or_verbatim_in_a_text(attribute: str, found: bool) -> None:
    assert matched_attributes(PRODUCT, [attribute]) == found


# -- options -------------------------------------------------------------------------------------------------------


def test_names_of_options_do_not_matter_for_human_goals() -> None:
    reward = purchase_reward(PRODUCT, replace(GOAL, options=("red",)), 15.0, {"size": "red"})
    assert reward.options == 1.0


def test_synthetic_option_matches_its_value_and_also_its_name() -> None:
    """The original compares the text `('size', 'medium')` of the whole pair."""
    goal = replace(GOAL, options=(("size", "medium"),))
    assert purchase_reward(PRODUCT, goal, 15.0, {"size": "medium"}).options == 1.0
    assert purchase_reward(PRODUCT, goal, 15.0, {"style": "size"}).options == 1.0
    assert purchase_reward(PRODUCT, goal, 15.0, {"size": "large"}).options == 0.0


def test_colour_of_a_synthetic_option_is_reduced_only_when_it_is_the_very_word() -> None:
    assert matched_options(["wine red"], [("color", "red")]) == 1  # both become `red`
    assert matched_options(["dark blue"], [("color", "navy blue")]) == 1  # `blue` is among the words of the pair's text
    assert matched_options(["wine red"], [("color", "shredded")]) == 0  # `red` against `('color', 'shredded')`
    assert matched_options(["wine red"], ["shredded"]) == 1  # a person's option would be reduced to `red`


def test_one_chosen_value_may_serve_several_options() -> None:
    assert matched_options(["medium red"], ["red", "wine red"]) == 2
    assert matched_options([], ["red"]) == 0


# -- price and sum -------------------------------------------------------------------------------------------------


def test_price_counts_up_to_the_limit_itself() -> None:
    chosen = {"size": "medium"}
    assert purchase_reward(PRODUCT, GOAL, 20.0, chosen).reward == 1.0
    reward = purchase_reward(PRODUCT, GOAL, 20.01, chosen)
    assert (reward.price, reward.reward) == (False, 2 / 3)


def test_weights_are_the_shares_of_attributes_options_and_price() -> None:
    goal = replace(GOAL, attributes=("rubber sole", "waterproof", "easy clean"), options=("medium", "red"))
    reward = purchase_reward(PRODUCT, goal, 15.0, {"size": "medium"})
    assert (reward.attributes_weight, reward.options_weight, reward.price_weight) == (3 / 6, 2 / 6, 1 / 6)
    assert (reward.attributes, reward.options, reward.price) == (2 / 3, 1 / 2, True)
    assert reward.reward == 4 / 6


def test_goal_without_options_has_no_share_of_options() -> None:
    reward = purchase_reward(PRODUCT, replace(GOAL, options=()), 15.0, {})
    assert (reward.options, reward.options_weight, reward.reward) == (None, 0.0, 1.0)


def test_factor_is_applied_after_the_division_as_in_the_original() -> None:
    """10 of 12 parts at factor 0.1: the other order of rounding gives another last digit."""
    goal = replace(
        GOAL,
        attributes=("rubber sole",) * 9 + ("waterproof",) * 2,
        options=(),
        title_nouns=("red", *(f"noun{number}" for number in range(19))),
    )
    reward = purchase_reward(PRODUCT, goal, 15.0, {})
    assert reward.type == 0.1
    assert reward.reward == (10 / 12) * 0.1 != 0.1 * 10 / 12


def test_strict_reward_wants_the_very_value() -> None:
    goal = replace(GOAL, options=("x-large",))
    lenient = purchase_reward(PRODUCT, goal, 15.0, {"size": "xx-large"})
    assert (lenient.reward, lenient.strict_reward) == (1.0, 2 / 3)
    exact = purchase_reward(PRODUCT, goal, 15.0, {"size": "x-large"})
    assert (exact.reward, exact.strict_reward) == (1.0, 1.0)


words = st.sampled_from(["red", "shoe", "blue", "medium", "x-large", "machine wash", "tan", "", "é", "size"])
texts = st.lists(words, max_size=4).map(tuple)
category_paths = st.lists(words, max_size=4).map(" › ".join)


products = st.builds(
    replace,
    st.just(PRODUCT),
    title=words,
    bullets=texts,
    attributes=texts,
    query=words,
    product_category=category_paths,
    title_nouns=texts,
)
goals = st.builds(
    replace,
    st.just(GOAL),
    attributes=texts,
    options=st.lists(words | st.tuples(words, words), max_size=4).map(tuple),
    query=words,
    product_category=category_paths,
    title_nouns=texts,
    price_limit=st.floats(10, 1000),
)


@given(product=products, goal=goals, price=st.floats(0, 2000), chosen=st.dictionaries(words, words, max_size=4))
def test_reward_and_its_parts_lie_between_0_and_1(
    product: Product, goal: Goal, price: float, chosen: dict[str, str]
) -> None:
    reward = purchase_reward(product, goal, price, chosen)
    assert 0 <= reward.reward <= 1
    assert 0 <= reward.strict_reward <= 1
    assert reward.type in (0, 0.1, 0.5, 1)
    assert 0 <= reward.attributes <= 1
    assert reward.options is None or 0 <= reward.options <= 1
    assert reward.attributes_weight + reward.options_weight + reward.price_weight == pytest.approx(1)
    share = reward.attributes * reward.attributes_weight + reward.price * reward.price_weight
    share += (reward.options or 0) * reward.options_weight
    assert reward.reward == pytest.approx(share * reward.type)


# -- whole purchases -----------------------------------------------------------------------------------------------


def reward_of_solution(env: WebShop, task: str) -> float:
    env.reset(options={"task": task})
    for action in env.solution():
        _, reward, _, _, info = env.step(action)
        assert "invalid_action" not in info, (task, action)
    return reward


UNREACHABLE = 458
"""Synthetic goals of the 1,000 products whose very target cannot earn the full reward: a chosen value is reduced to the
colour word inside it, which is then not like the goal's own text. `rectangular` becomes `tan`, `black2070` `black`."""


def no_value_passes(env: WebShop, task: str) -> bool:
    """Whether some option of the goal accepts no value of its own product."""
    env.reset(options={"task": task})
    product = env.shop.find(env.goal.asin)
    assert product is not None
    values = [value for group in product.options.values() for value in group]
    return any(matched_options(values, [option]) == 0 for option in env.goal.options)


@pytest.mark.data
@pytest.mark.parametrize("world", [WebShopV0, WebShop])
@pytest.mark.parametrize(("kind", "count", "unreachable"), [("human", 13, 0), ("synthetic", 6910, UNREACHABLE)])
def test_solution_earns_everything_for_every_official_goal_that_its_target_can_satisfy(
    world: type[WebShop], kind: str, count: int, unreachable: int, official_store: Path
) -> None:
    env = world(official_store, goals=kind)  # type: ignore[arg-type]
    assert len(env.panel) == count
    failed = [task for task in env.panel if reward_of_solution(env, task) != 1.0]
    assert len(failed) == unreachable
    assert failed == [task for task in env.panel if no_value_passes(env, task)]


def test_a_value_that_holds_a_colour_word_may_not_pass_for_itself() -> None:
    assert matched_options(["rectangular"], [("item shape", "rectangular")]) == 0
    assert matched_options(["black2070"], [("color", "black2070")]) == 0
    assert matched_options(["rectangular"], ["rectangular"]) == 1


HARD_VALUES = {
    "search": "the button is meant",
    "description": "the button is meant",
    "back to search": "the button is meant",
    "buy now": "the button is meant",
    "two\nlines": "the pair is compared as Python writes it, with a backslash and an n",
}
"""Values that can never earn their share of a synthetic goal, and why."""


def is_out_of_reach(world: type[WebShop], options: dict[str, str]) -> bool:
    """In the original also a value with a bracket, and different values of `fit` and `size`, which share theirs."""
    in_both = world is WebShopV0 and len({options.get("fit"), options.get("size")}) == 2 and "fit" in options
    return (
        in_both
        or any(value in HARD_VALUES for value in options.values())
        or (world is WebShopV0 and "wide [2e]" in options.values())
    )


@pytest.mark.parametrize("world", [WebShopV0, WebShop])
def test_solution_buys_hard_products_too(world: type[WebShop], nasty_world: Path) -> None:
    """Brackets, blanks at the end, values of two groups, a title that no search finds."""
    env = world(nasty_world, goals="synthetic")
    for task in env.panel:
        reward = reward_of_solution(env, task)
        assert (reward < 1.0) == is_out_of_reach(world, dict(env.goal.options)), (task, env.goal.options)


@pytest.mark.data
def test_corrected_price_limit_depends_on_the_id_alone(official_store: Path) -> None:
    whole = WebShop(official_store, goals="synthetic")
    part = WebShop(official_store, goals="synthetic", num_products=50)
    for task in part.panel:
        goal = whole.reset(options={"task": task})[1]["goal"]
        assert part.reset(options={"task": task}, seed=5)[1]["goal"] == goal
        product = whole.shop.find(task.split(".")[0])
        assert product is not None
        assert whole.goal.price_limit == fixed_limit(product, task)
        limit = f", and price lower than {whole.goal.price_limit:.2f} dollars"
        assert goal.endswith(limit) == (whole.goal.price_limit != NO_LIMIT)
