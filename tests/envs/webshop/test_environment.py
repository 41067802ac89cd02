"""The environment around the pages: its description, the oracle, threads."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llm_gym.envs.webshop.env import WebShop, WebShopV0
from llm_gym.envs.webshop.product import Product

WORLDS = pytest.mark.parametrize("world", [WebShopV0, WebShop])


@WORLDS
def test_description_is_json_and_names_what_fixes_the_results(world: type[WebShop], nasty_world: Path) -> None:
    env = world(nasty_world, goals="human", observation_mode="text", num_products=6)
    description = env.description()
    assert json.loads(json.dumps(description)) == description
    assert description["products"] == 6
    assert description["catalogue_digest"] != world(nasty_world, goals="human").description()["catalogue_digest"]
    assert (description["goals"], description["goals_in_catalogue"], description["tasks"]) == ("human", 3, 3)
    assert (description["split"], description["observation_mode"]) == ("all", "text")
    assert ("seed" in description) == (world is WebShopV0)


@WORLDS
def test_reset_with_one_seed_gives_one_task_and_page(world: type[WebShop], nasty_world: Path) -> None:
    one, two = (world(nasty_world, goals="synthetic") for _ in range(2))
    for seed in range(5):
        assert one.reset(seed=seed)[0] == two.reset(seed=seed)[0]
        assert [one.reset()[1]["task_id"] for _ in range(5)] == [two.reset()[1]["task_id"] for _ in range(5)]


def best_by_trying_everything(env: WebShop, query: str, top: int) -> float:
    """The best reward among the first results, every combination of options tried."""
    rewards = [0.0]
    for asin in env.shop.search(tuple(query.split(" ")))[:top]:
        product = env.shop.find(asin)
        assert product is not None
        rewards += [env.shop.reward(product, chosen).reward for chosen in combinations(product)]
    return max(rewards)


def combinations(product: Product) -> list[dict[str, str]]:
    groups = [[(name, value) for value in ("", *values)] for name, values in product.options.items()]
    return [{name: value for name, value in choice if value} for choice in itertools.product(*groups)]


@pytest.mark.data
def test_best_purchase_is_the_best_of_all_purchases(official_store: Path) -> None:
    env = WebShop(official_store, goals="human")
    for task in env.panel:
        _, info = env.reset(options={"task": task})
        query = info["admissible_actions"][0].removeprefix("search[").removesuffix("]")
        best = best_by_trying_everything(env, query, 5)
        for action in env.best_purchase(query, 5):
            _, reward, *_ = env.step(action)
        assert reward == pytest.approx(best)


def test_best_purchase_of_a_query_without_results_is_only_the_search(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human")
    env.reset()
    assert env.best_purchase("zzzz") == ["search[zzzz]"]


def played(store: Path) -> list[tuple[str, float]]:
    """The last page and the reward of the solution of every task."""
    env = WebShop(store, goals="synthetic")
    ends = []
    for task in env.panel:
        env.reset(options={"task": task})
        for action in env.solution():
            observation, reward, *_ = env.step(action)
        ends.append((observation, reward))
    return ends


def test_environments_in_threads_play_as_one_alone_does(nasty_world: Path) -> None:
    alone = played(nasty_world)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(played, [nasty_world] * 8)) == [alone] * 8


def test_panel_holds_exactly_its_tasks(nasty_world: Path) -> None:
    panel = WebShop(nasty_world, goals="human").panel
    assert len(panel) == len(set(panel)) == 4
    assert all(task in panel for task in panel)
    assert panel[1:3] == (panel[1], panel[2])
    assert panel[-1] == panel[3]
    assert "B0PLAIN001.h0" not in panel
    assert 5 not in panel
    assert panel.digest == WebShopV0(nasty_world, goals="human").panel.digest
    assert panel.digest != WebShop(nasty_world, goals="synthetic").panel.digest
