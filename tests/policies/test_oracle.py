"""The oracle: it plays the best there is, and finds its way again when somebody else acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from llm_gym.core import Decision, Info, Opinion
from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies import FirstHitPolicy, LexicalPolicy, OraclePolicy, Policy, RandomPolicy, RulePolicy
from llm_gym.rollout import play

Make = Callable[..., gym.Env[str, str]]
SHOP = "llm_gym/WebShop-v1"


class Saying(Policy):
    """Says one thing always."""

    name = "saying"

    def __init__(self, action: str | None) -> None:
        self.action = action

    def act(self, observation: str, info: Info) -> Decision:
        return Decision(self.action)


def actions_of(env: gym.Env[str, str], policy: Policy, task_id: str) -> list[str | None]:
    return [step.action for step in play(env, policy, task_id).steps]


def heeded_half_of_the_time(env: gym.Env[str, str], oracle: OraclePolicy, task_id: str, seed: int) -> Any:
    """The outcome of an agent that follows the oracle's advice or does anything but buy, by the toss of a coin."""
    random = np.random.default_rng(seed)
    oracle.watch(env.unwrapped)
    oracle.reset(seed=0)
    observation, info = env.reset(options={"task": task_id})
    while True:
        advice = oracle.advise(observation, info)[0].action
        others = [action for action in info["admissible_actions"] if action not in ("click[buy now]", "open")]
        heeds = not others or random.random() < 0.5
        action = advice if heeds else others[int(random.integers(len(others)))]
        observation, reward, terminated, truncated, info = env.step(action)
        assert "invalid_action" not in info
        if terminated or truncated:
            return reward


# -- worlds that are no shop ---------------------------------------------------------------------------------------


def test_in_the_corridor_it_succeeds_in_every_task() -> None:
    env = gym.make("llm_gym/Corridor-v0")
    assert all(play(env, OraclePolicy(), task_id).success for task_id in panel_of(env)[:30])


def test_in_the_corridor_it_finds_the_way_from_wherever_somebody_went() -> None:
    env = gym.make("llm_gym/Corridor-v0", max_episode_steps=500)
    assert all(heeded_half_of_the_time(env, OraclePolicy(), "corridor-3", seed) == 1.0 for seed in range(10))


@pytest.mark.parametrize("queries", ["instruction", RulePolicy()], ids=["instruction", "policy"])
def test_a_world_without_search_results_is_refused(queries: Any) -> None:
    with pytest.raises(InvalidSetting, match=r'Corridor has no search results .*"solution"'):
        OraclePolicy(queries).watch(gym.make("llm_gym/Corridor-v0").unwrapped)


def test_without_a_world_it_says_that_it_needs_one() -> None:
    with pytest.raises(InvalidSetting, match="call watch"):
        OraclePolicy().act("", {})


# -- the shop ------------------------------------------------------------------------------------------------------


def test_it_plays_the_solution(make_env: Make) -> None:
    env = make_env(SHOP)
    for task_id in panel_of(env)[:10]:
        env.reset(options={"task": task_id})
        solution = env.unwrapped.solution()  # type: ignore[attr-defined]
        assert actions_of(env, OraclePolicy(), task_id) == solution


@pytest.mark.parametrize("top", [1, 10, 50])
def test_it_plays_the_best_purchase_of_the_instruction_as_the_rule_searches_it(make_env: Make, top: int) -> None:
    env = make_env(SHOP)
    for task_id in panel_of(env)[:10]:
        _, info = env.reset(options={"task": task_id})
        best = env.unwrapped.best_purchase(info["goal"], top)  # type: ignore[attr-defined]
        assert actions_of(env, OraclePolicy("instruction", top), task_id) == best


def test_it_plays_the_best_purchase_of_another_policys_query(make_env: Make) -> None:
    env = make_env(SHOP)
    for task_id in panel_of(env)[:10]:
        _, info = env.reset(options={"task": task_id})
        query = info["admissible_actions"][0].removeprefix("search[").removesuffix("]")
        best = env.unwrapped.best_purchase(query, 50)  # type: ignore[attr-defined]
        assert actions_of(env, OraclePolicy(LexicalPolicy()), task_id) == best


def test_a_wider_choice_is_never_worse(make_env: Make) -> None:
    env = make_env(SHOP)
    for task_id in panel_of(env)[:20]:
        rewards = [play(env, OraclePolicy("instruction", top), task_id).total_reward for top in (1, 5, 50)]
        assert rewards == sorted(rewards)
        assert play(env, RulePolicy(), task_id).total_reward <= rewards[0]


@pytest.mark.parametrize("queries", ["solution", "instruction", FirstHitPolicy()], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_it_reaches_the_same_reward_when_it_is_heeded_half_of_the_time(make_env: Make, queries: Any, seed: int) -> None:
    env = make_env(SHOP, max_episode_steps=2000)
    task_id = panel_of(env)[seed]
    alone = play(env, OraclePolicy(queries), task_id).total_reward
    assert heeded_half_of_the_time(env, OraclePolicy(queries), task_id, seed) == alone


@pytest.mark.parametrize("mode", ["text", "text_rich", "html", "url"])
def test_it_knows_its_item_in_every_observation_mode(make_env: Make, mode: str) -> None:
    env = make_env(SHOP, observation_mode=mode)
    assert all(play(env, OraclePolicy(), task_id).ended_by == "task" for task_id in panel_of(env)[:10])


def test_it_turns_pages_to_an_item_beyond_the_first(make_env: Make) -> None:
    env = make_env(SHOP)
    turning = [actions_of(env, OraclePolicy("instruction"), task_id) for task_id in panel_of(env)[:60]]
    turning = [actions for actions in turning if "click[next >]" in actions]
    assert turning
    assert all(actions[-1] == "click[buy now]" and "click[back to search]" not in actions for actions in turning)


def test_from_an_item_that_it_does_not_want_it_goes_back_to_search(pages: Any, make_env: Make) -> None:
    oracle = OraclePolicy()
    oracle.watch(make_env(SHOP).unwrapped)
    assert oracle.advise("", pages("a hat").item({})) == [Opinion("click[back to search]", 1.0, "oracle")]


def test_from_results_of_an_unknown_search_it_goes_back_to_search(pages: Any, make_env: Make) -> None:
    oracle = OraclePolicy()
    oracle.watch(make_env(SHOP).unwrapped)
    info = pages("a hat").results(("B0AA", "Hat", "$5.0"), page="Page 1 (Total results: 1)")
    assert oracle.advise("", info)[0].action == "click[back to search]"


@pytest.mark.parametrize("action", [None, "click[buy now]", "look around"])
def test_it_stops_when_the_asked_policy_does_not_search(make_env: Make, action: str | None) -> None:
    env = make_env(SHOP)
    assert play(env, OraclePolicy(Saying(action)), panel_of(env)[0]).ended_by == "agent"


def test_it_searches_and_stops_when_the_query_finds_nothing(make_env: Make) -> None:
    env = make_env(SHOP)
    episode = play(env, OraclePolicy(Saying("search[qqqqq zzzzz]")), panel_of(env)[0])
    assert [step.action for step in episode.steps] == ["search[qqqqq zzzzz]", None]


# -- settings ------------------------------------------------------------------------------------------------------


def test_plans_of_different_oracles_differ() -> None:
    oracles = [
        OraclePolicy(),
        OraclePolicy("instruction"),
        OraclePolicy("instruction", top=10),
        OraclePolicy(RulePolicy()),
        OraclePolicy(LexicalPolicy()),
        OraclePolicy(LexicalPolicy(read=3)),
        OraclePolicy(RandomPolicy()),
    ]
    settings = [str(oracle.settings()) for oracle in oracles]
    assert len(set(settings)) == len(oracles)


def test_top_does_not_count_where_it_has_no_effect() -> None:
    assert OraclePolicy(top=5).settings() == OraclePolicy(top=50).settings() == {"queries": "solution"}


@pytest.mark.parametrize(("arguments", "message"), [({"queries": "best"}, "not 'best'"), ({"top": 0}, "got 0")])
def test_settings_that_cannot_work_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        OraclePolicy(**arguments)
