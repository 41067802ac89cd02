"""The scripted model plays well enough to be helped and to be led astray."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.core import Opinion
from llm_gym.errors import InvalidSetting
from llm_gym.llm import Message, Request
from llm_gym.policies import LexicalPolicy, OraclePolicy, Policy, RandomPolicy, ReActPolicy
from llm_gym.policies.agents.commands import Unparsed
from llm_gym.policies.agents.scripted_model import ScriptedModel, _suggested
from llm_gym.policies.suggestions import suggestion_text
from llm_gym.rollout import play
from llm_gym.wrappers import OpinionWrapper

Make = Callable[..., gym.Env[str, str]]
Kind = Any
RESULTS = """Instruction:
i want a red shoe, and price lower than 30.00 dollars
[button] Back to Search [button_]
Page 1 (Total results: 50)
[button] Next > [button_]

[button] B0DEAR [button_]
A Red Shoe
$99.0

[button] B0FIRST [button_]
A Red Shoe
$10.0 to $30.0
"""
ITEM = """Instruction:
i want a red shoe in size [wide], and price lower than 30.00 dollars
[button] Back to Search [button_]
[button] < Prev [button_]
size
  [button] narrow [button_]
  [button] [wide] [button_]
A Red Shoe
Price: $20.0
[button] Buy Now [button_]
"""


def action_on(page: str, suggestion: str = "", **settings: Any) -> str | None:
    """What the model does on a page of the shop."""
    agent = ReActPolicy(ScriptedModel(**settings))
    observation = "\n\n".join(filter(None, (page, suggestion)))
    action: str | None = agent.act(observation, {"screen": "results", "goal": ""}).action  # type: ignore[typeddict-unknown-key]
    return action


def shop(make_env: Make, expert: Policy | None = None) -> gym.Env[str, str]:
    env = make_env("llm_gym/WebShop-v1", max_episode_steps=20)
    return env if expert is None else OpinionWrapper(env, expert)


def house(make_env: Make, expert: Policy | None = None) -> gym.Env[str, str]:
    env = make_env("llm_gym/ALFWorld-v1", max_episode_steps=35)
    return env if expert is None else OpinionWrapper(env, expert)


def test_its_own_success_in_the_shop_leaves_room_above_and_below(make_env: Make, kind: Kind) -> None:
    agent = type(kind.agent())(ScriptedModel())
    success = agent.evaluate(shop(make_env), 100).success
    assert 0.15 <= success <= 0.60


def test_its_own_success_in_the_house_leaves_room_above_and_below(make_env: Make, kind: Kind) -> None:
    agent = type(kind.agent())(ScriptedModel())
    success = agent.evaluate(house(make_env), 134).success
    assert 0.15 <= success <= 0.60


def test_good_opinions_help_it_and_random_ones_hurt_in_the_shop(make_env: Make) -> None:
    agent = ReActPolicy(ScriptedModel())
    alone = agent.evaluate(shop(make_env), 150)
    helped = agent.evaluate(shop(make_env, OraclePolicy()), 150)
    hurt = agent.evaluate(shop(make_env, RandomPolicy()), 150)
    read = ReActPolicy(ScriptedModel(follow=1)).evaluate(shop(make_env, LexicalPolicy()), 150)
    assert helped.success.low > alone.success.high
    assert read.success.low > alone.success.high
    assert hurt.success.high < alone.success.low


def test_good_opinions_help_it_and_random_ones_hurt_in_the_house(make_env: Make) -> None:
    agent = ReActPolicy(ScriptedModel())
    alone = agent.evaluate(house(make_env), 134)
    helped = agent.evaluate(house(make_env, OraclePolicy()), 134)
    hurt = agent.evaluate(house(make_env, RandomPolicy()), 134)
    assert helped.success.low > alone.success.high
    assert hurt.success.high < alone.success.low


def test_who_always_follows_the_oracle_succeeds(make_env: Make, kind: Kind) -> None:
    agent = type(kind.agent())(ScriptedModel(follow=1))
    assert agent.evaluate(shop(make_env, OraclePolicy()), 10).success == 1
    assert agent.evaluate(house(make_env, OraclePolicy()), 10).success == 1


@pytest.mark.parametrize("breaks", [0.0, 0.3, 1.0])
def test_it_breaks_the_format_as_often_as_it_is_told_to(make_env: Make, kind: Kind, breaks: float) -> None:
    agent = type(kind.agent())(ScriptedModel(breaks=breaks), reasks=0)
    exchanges = []
    env = house(make_env)
    for task_id in env.unwrapped.panel[:12]:  # type: ignore[attr-defined]
        play(env, agent, task_id)
        exchanges += agent.exchanges
    broken = sum(isinstance(one.result, Unparsed) for one in exchanges) / len(exchanges)
    assert broken == pytest.approx(breaks, abs=4 * (breaks * (1 - breaks) / len(exchanges)) ** 0.5)


def test_it_opens_the_first_result_that_is_not_too_dear() -> None:
    assert action_on(RESULTS) == "click[B0FIRST]"


def test_it_chooses_what_the_instruction_names_or_buys_too_soon() -> None:
    assert {action_on(f"{ITEM}{number}") for number in range(30)} == {"click[[wide]]", "click[Buy Now]"}


def test_it_follows_a_suggestion_or_not() -> None:
    suggestion = suggestion_text([Opinion("click[b0dear]"), Opinion("click[back to search]")])
    assert action_on(RESULTS, suggestion, follow=1) == "click[b0dear]"
    assert action_on(RESULTS, suggestion, follow=0) == "click[B0FIRST]"


def test_it_does_not_follow_a_suggestion_that_is_not_possible() -> None:
    assert action_on(RESULTS, suggestion_text([Opinion("click[buy now]")]), follow=1) == "click[B0FIRST]"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1))
def test_a_suggestion_is_read_as_it_was_meant(target: str) -> None:
    assert _suggested(suggestion_text([Opinion(f"click[{target}]")])) == f"click[{target}]"


def test_an_answer_depends_on_settings_and_request_alone() -> None:
    def answer(model: ScriptedModel, seed: int) -> str:
        return model.complete(Request((Message("system", "Play."), Message("user", ITEM)), seed=seed)).text

    model, copy = ScriptedModel(), pickle.loads(pickle.dumps(ScriptedModel()))
    assert [answer(model, seed) for seed in range(20)] == [answer(copy, seed) for seed in range(20)]
    assert len({answer(model, seed) for seed in range(20)}) > 1
    assert len({answer(ScriptedModel(seed=seed), 0) for seed in range(20)}) > 1


@pytest.mark.parametrize("wrong", [{"follow": 1.1}, {"breaks": -0.1}])
def test_probabilities_lie_between_0_and_1(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting, match="between 0 and 1"):
        ScriptedModel(**wrong)


def test_episodes_at_once_are_the_same_as_one_after_the_other(make_env: Make, kind: Kind) -> None:
    agent = type(kind.agent())(ScriptedModel(breaks=0.2))
    env = shop(make_env, LexicalPolicy())
    assert agent.evaluate(env, 6, concurrency=3).rows == agent.evaluate(env, 6).rows
