"""What the shopper does on each page."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import pytest

import llm_gym
from llm_gym.core import Info
from llm_gym.errors import UnknownName
from llm_gym.policies.demonstrator import DemonstratorPolicy
from llm_gym.rollout import play

GOAL = "i am looking for a red leather shoe in size 7, and price lower than 40.00 dollars"
GOOD = ("B0AA", "Red Leather Shoe", "$30.0")
VAGUE = ("B0BB", "Shoe", "$30.0")
DEAR = ("B0CC", "Red Leather Shoe", "$50.0")
SOCK = ("B0DD", "Wool Sock", "$5.0")
SIZES, WRONG_SIZES = {"size": ("6", "7")}, {"size": ("9", "10")}
SEEDS = range(200)
BACK, NEXT, PREVIOUS, BUY = "click[back to search]", "click[next >]", "click[< prev]", "click[buy now]"


def begun(pages: Any, seed: int) -> tuple[DemonstratorPolicy, Any]:
    """A shopper who has searched."""
    policy, page = DemonstratorPolicy(), pages(GOAL)
    policy.reset(seed)
    policy.act("", page.search())
    return policy, page


def shares(actions: Iterable[str | None]) -> dict[str | None, float]:
    counted = Counter(actions)
    return {action: count / sum(counted.values()) for action, count in counted.items()}


def after_opening(pages: Any, seed: int, result: tuple[str, str, str], options: dict[str, Any]) -> str | None:
    """The first action on an item that was opened among others."""
    policy, page = begun(pages, seed)
    results = page.results(result, GOOD if result != GOOD else VAGUE)
    policy.note("", results, f"click[{result[0].lower()}]")
    return policy.act("", page.item(options)).action


def test_it_searches_in_words_of_its_own(pages: Any) -> None:
    queries = {begun(pages, seed)[0].query(GOAL) for seed in range(50)}
    assert len(queries) > 10
    assert not any("looking" in query for query in queries)


def test_it_opens_what_looks_like_the_thing_and_is_affordable(pages: Any) -> None:
    opened: Counter[str | None] = Counter()
    for seed in SEEDS:
        policy, page = begun(pages, seed)
        opened[policy.act("", page.results(SOCK, DEAR, GOOD)).action] += 1
    assert opened["click[b0aa]"] > 0.85 * len(SEEDS)
    assert "click[b0dd]" not in opened
    assert 0 < opened["click[b0cc]"] < 0.1 * len(SEEDS)  # the price was overlooked


def test_it_looks_elsewhere_where_no_result_is_of_the_kind(pages: Any) -> None:
    actions = []
    for seed in SEEDS:
        policy, page = begun(pages, seed)
        actions.append(policy.act("", page.results(SOCK)).action)
    share = shares(actions)
    assert share[BACK] > share[NEXT] > 0.2
    assert share.get("click[b0dd]", 0) < 0.2  # those who search but once


def test_what_shows_everything_is_bought_with_its_option(pages: Any) -> None:
    share = shares(after_opening(pages, seed, GOOD, SIZES) for seed in SEEDS)
    assert share["click[7]"] > 0.8
    assert share.get(PREVIOUS, 0) < 0.07  # the few to whom nothing is ever good enough


def test_what_lacks_the_option_and_the_words_is_read_about_or_left(pages: Any) -> None:
    share = shares(after_opening(pages, seed, VAGUE, WRONG_SIZES) for seed in SEEDS)
    assert share[PREVIOUS] > 0.5
    assert share.get(BUY, 0) < 0.05


def test_what_costs_too_much_is_left(pages: Any) -> None:
    share = shares(after_opening(pages, seed, DEAR, SIZES) for seed in SEEDS)
    assert share[PREVIOUS] > 0.95


def test_a_sub_page_that_tells_what_was_missing_changes_its_mind(pages: Any) -> None:
    said: dict[str, list[str | None]] = {"red leather, as you like it": [], "made with love": []}
    for text, actions in said.items():
        for seed in SEEDS:
            policy, page = begun(pages, seed)
            policy.note("", page.results(VAGUE, GOOD), "click[b0bb]")
            item = page.item({"size": ("6", "8")})
            if policy.act("", item).action != "click[features]":
                continue
            policy.note("", page.sub_page() | {"page": f"Instruction:\n{GOAL}\n{text}"}, PREVIOUS)
            actions.append(policy.act("", item).action)
    bought, left = (shares(actions) for actions in said.values())
    assert bought.get(PREVIOUS, 0) < left[PREVIOUS] - 0.3


def test_the_instruction_above_a_page_is_not_taken_for_the_page(pages: Any) -> None:
    policy, page = begun(pages, 1)
    policy.note("", page.results(VAGUE), "click[b0bb]")
    policy.note("", page.item({}), "click[features]")
    policy.note("", page.sub_page() | {"page": f"Instruction:\n{GOAL}\nnothing"}, PREVIOUS)
    item = policy._memory.item
    assert item is not None
    assert item.read == {"features": "Instruction:\n \nnothing"}


def test_it_comes_back_from_a_sub_page(pages: Any) -> None:
    policy, page = begun(pages, 1)
    assert policy.act("", page.sub_page()).action == PREVIOUS


def test_an_item_that_somebody_else_opened_is_bought_with_its_options(pages: Any) -> None:
    page, policy = pages(GOAL), DemonstratorPolicy()
    first = shares(chosen(policy, page, seed) for seed in range(50))
    assert first["click[7]"] > 0.8
    policy.reset(0)
    assert policy.act("", page.item(SIZES, {"size": "7"})).action == BUY


def chosen(policy: DemonstratorPolicy, page: Any, seed: int) -> str | None:
    policy.reset(seed)
    return policy.act("", page.item(SIZES)).action


def test_on_results_it_gives_as_many_opinions_as_look_good(pages: Any) -> None:
    policy, page = begun(pages, 3)
    results = page.results(GOOD, VAGUE, SOCK)
    opinions = [opinion.action for opinion in policy.advise("", results, 5)]
    assert set(opinions) == {"click[b0aa]", "click[b0bb]"}
    assert opinions[0] == policy.act("", results).action


def test_on_an_empty_page_of_results_it_searches_again_or_turns_back(pages: Any) -> None:
    actions = []
    for seed in range(100):
        policy, page = begun(pages, seed)
        actions.append(policy.act("", page.results()).action)
    assert set(actions) <= {BACK, NEXT}


def test_the_level_is_part_of_its_settings_and_must_be_known() -> None:
    assert DemonstratorPolicy("average").settings() == {"level": "average"}
    with pytest.raises(UnknownName, match="level"):
        DemonstratorPolicy("best")  # type: ignore[arg-type]


# -- whole sessions ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop() -> gym.Env[str, str]:
    return gym.make("llm_gym/WebShop-v1", split="train")


class Asked(DemonstratorPolicy):
    """Is asked for advice before it acts, twice, and acts as it advised."""

    def act(self, observation: str, info: Info) -> Any:
        first, again = self.advise(observation, info), self.advise(observation, info, 3)
        decision = super().act(observation, info)
        assert [opinion.action for opinion in first] == [opinion.action for opinion in again][:1]
        assert [opinion.action for opinion in first] == [decision.action][: len(first)]
        assert info["screen"] == "search" or decision.action in (info["admissible_actions"] or ())  # type: ignore[typeddict-item]
        return decision


class Blindfolded(DemonstratorPolicy):
    """Is shown nothing but what stands on the page."""

    SHOWN = ("goal", "admissible_actions", "page", "screen", "results", "options", "chosen")

    def act(self, observation: str, info: Info) -> Any:
        return super().act(observation, {key: info[key] for key in self.SHOWN if key in info})  # type: ignore


class Told(DemonstratorPolicy):
    """Stands beside somebody who does what it would, and is only told of it."""

    def act(self, observation: str, info: Info) -> Any:
        decision = pickle.loads(pickle.dumps(self))._plain(observation, info)
        self.note(observation, info, decision.action)
        return decision

    def _plain(self, observation: str, info: Info) -> Any:
        return super().act(observation, info)


@pytest.mark.parametrize("other", [Asked, Blindfolded, Told])
def test_advice_leaves_no_trace_nothing_hidden_is_read_and_being_told_is_enough(
    shop: gym.Env[str, str], other: type[DemonstratorPolicy]
) -> None:
    for seed, task_id in enumerate(shop.unwrapped.panel[:10]):  # type: ignore[attr-defined]
        expected = play(shop, DemonstratorPolicy(), task_id, seed=seed)
        actual = play(shop, other(), task_id, seed=seed)
        assert [step.action for step in actual.steps] == [step.action for step in expected.steps]


def test_sessions_of_one_goal_differ_by_seed(shop: gym.Env[str, str]) -> None:
    task_id = shop.unwrapped.panel[0]  # type: ignore[attr-defined]
    sessions = [play(shop, DemonstratorPolicy(), task_id, seed=seed) for seed in range(20)]
    assert len({tuple(step.action for step in session.steps) for session in sessions}) > 10


def test_every_session_ends_with_a_purchase_and_nothing_refused(shop: gym.Env[str, str]) -> None:
    for seed, task_id in enumerate(shop.unwrapped.panel[:60]):  # type: ignore[attr-defined]
        episode = play(shop, DemonstratorPolicy(), task_id, seed=seed)
        assert (episode.ended_by, episode.invalid_actions) == ("task", 0)


def test_it_plays_the_original_shop_as_well(make_env: Any) -> None:
    env = make_env("llm_gym/WebShop-v0", split="test")
    for seed, task_id in enumerate(env.unwrapped.panel[:5]):
        assert play(env, DemonstratorPolicy(), task_id, seed=seed).ended_by == "task"


def test_the_package_offers_it() -> None:
    assert llm_gym.policies.DemonstratorPolicy is DemonstratorPolicy
