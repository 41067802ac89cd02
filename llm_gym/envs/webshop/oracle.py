"""What a shopper could buy at best: the exact solution of a goal, and the choice oracle (paper, section 5.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from llm_gym.envs.webshop.actions import can_be_clicked
from llm_gym.envs.webshop.goals import Goal, option_value
from llm_gym.envs.webshop.pages import BUY, ITEM_BUTTONS, NEXT, RESULTS_PER_PAGE
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.reward import matched_options, purchase_reward
from llm_gym.envs.webshop.shop import GoalShop

_MOST_COMBINATIONS = 20_000
"""Beyond so many combinations of options the best one is put together option by option."""


def exact_purchase(shop: GoalShop) -> list[str]:
    """Actions that buy the target with its options, from the search page.

    The title finds it; where it does not, the list of all products of its query does.
    """
    goal = shop.goal
    assert goal is not None, "a solution is one of a goal"
    product = shop.find(goal.asin)
    assert product is not None, "a goal's product is in the catalogue"
    options = best_options(product, goal, partial(_choosable, shop))
    title = " ".join(product.title.lower().replace("[", " ").replace("]", " ").split())
    for query in (title, f"<q> {product.query}"):
        hits = shop.search(tuple(query.split(" "))) if query else ()
        if product.asin in hits:
            return _purchase(query, hits.index(product.asin), product, options)
    raise LookupError(f"no query finds {product.asin}")


def is_reachable(shop: GoalShop, goal: Goal) -> bool:
    """Whether the target of a goal, with the options that are best for it, earns a reward of 1."""
    product = shop.find(goal.asin)
    assert product is not None, "a goal's product is in the catalogue"
    options = best_options(product, goal, partial(_choosable, shop))
    return purchase_reward(product, goal, shop.price(product), options).reward == 1.0


def best_purchase(shop: GoalShop, query: str, top: int) -> list[str]:
    """Actions that buy the best product among the first `top` results with the best options.

    The earlier of equals wins. Without a result: only the search.
    """
    goal = shop.goal
    assert goal is not None, "a purchase is best for a goal"
    hits = shop.search(tuple(query.lower().split(" ")))[:top]
    best: tuple[float, int, Product, dict[str, str]] | None = None
    for rank, asin in enumerate(hits):
        product = shop.find(asin)
        if product is None:
            continue
        options = best_options(product, goal, partial(_choosable, shop))
        reward = shop.reward(product, options).reward
        if best is None or reward > best[0]:
            best = (reward, rank, product, options)
        if reward == 1.0:
            break
    return _purchase(query, *best[1:]) if best else [f"search[{query}]"]


def best_options(
    product: Product, goal: Goal, can_choose: Callable[[str], bool] = lambda value: True
) -> dict[str, str]:
    """The choice of options with the highest reward.

    Of equals the one with most of the very values that the goal names, then the one with fewest options, then the
    earliest.

    Args:
        product: what is bought.
        goal: whose options count.
        can_choose: whether the shop lets one choose a value.
    """
    if not goal.options or not product.options:
        return {}
    named = {option_value(option) for option in goal.options}
    useful: dict[str, list[str]] = {}
    for name, values in product.options.items():
        accepted = (value for value in dict.fromkeys(values) if matched_options([value], goal.options))
        useful[name] = sorted(filter(can_choose, accepted), key=lambda value: value not in named)
    if math.prod(len(values) + 1 for values in useful.values()) > _MOST_COMBINATIONS:
        return {name: values[0] for name, values in useful.items() if values}
    choices: list[dict[str, str]] = [{}]
    for name, accepted_values in useful.items():
        wider = ("", *accepted_values)
        choices = [{**choice, **({name: value} if value else {})} for choice in choices for value in wider]

    def worth(choice: dict[str, str]) -> tuple[int, int, int]:
        return matched_options(choice.values(), goal.options), len(named & set(choice.values())), -len(choice)

    return max(choices, key=worth)


def _choosable(shop: GoalShop, value: str) -> bool:
    """Whether a click chooses this value: no button has its name, and the parser understands it."""
    return value not in ITEM_BUTTONS and can_be_clicked(value, shop.rules.parse)


def _purchase(query: str, rank: int, product: Product, options: dict[str, str]) -> list[str]:
    pages = rank // RESULTS_PER_PAGE
    return [
        f"search[{query}]",
        *[f"click[{NEXT}]"] * pages,
        f"click[{product.asin.lower()}]",
        *(f"click[{value}]" for value in options.values()),
        f"click[{BUY}]",
    ]
