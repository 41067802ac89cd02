"""Environments, policies and wrappers by name."""

from __future__ import annotations

import warnings

import gymnasium as gym
import pytest

from llm_gym.cli.making import environment_id, environment_names, make_environment, make_policy
from llm_gym.errors import InvalidSetting, UnknownName


@pytest.mark.parametrize("name", ["Corridor-v0", "llm_gym/Corridor-v0"])
def test_the_namespace_may_be_left_out(name):
    assert environment_id(name) == "llm_gym/Corridor-v0"


@pytest.mark.parametrize("name", ["WebShop", "llm_gym/WebShop"])
def test_without_a_version_the_newest_is_meant(name):
    assert environment_id(name) == "llm_gym/WebShop-v1"


def test_settings_reach_environment_and_gymnasium():
    env = make_environment("Corridor-v0", ["length=9", "max-episode-steps=7"], render_mode="ansi")
    assert (env.unwrapped.length, env.spec.max_episode_steps, env.unwrapped.render_mode) == (9, 7, "ansi")


def test_a_render_mode_of_the_settings_wins():
    assert make_environment("Corridor-v0", ["render_mode=null"], render_mode="ansi").unwrapped.render_mode is None


def test_wrappers_are_put_on_innermost_first(my_module):
    texts = ["history:observations=2,actions=1", f"{my_module}:Loud", f"{my_module}:Loud:mark=?"]
    env = make_environment("Corridor-v0", wrapped=texts)
    assert [wrapper.name for wrapper in env.spec.additional_wrappers] == ["HistoryWrapper", "Loud", "Loud"]
    assert env.reset(options={"task": "corridor-0"})[0].endswith("!?")
    assert (env.env.env.observations, env.env.env.actions) == (2, 1)


def test_a_world_and_a_policy_of_a_module_in_the_current_folder(my_module):
    assert make_environment(f"{my_module}:Tower-v0", ["floors=4"]).unwrapped.length == 4
    assert make_policy(f"{my_module}:Opener", ["seconds=0.5"]).seconds == 0.5
    with pytest.raises(InvalidSetting, match="has to be told floors: --set floors=…"):
        make_environment(f"{my_module}:Tower-v0")


def test_a_name_stands_for_a_policy_where_one_is_wanted(my_module):
    env = make_environment("Corridor-v0", wrapped=["opinion:expert=lexical,top_k=2,draw=beam"])
    assert (env.expert.name, env.env.spec.id) == ("lexical", "llm_gym/Corridor-v0")
    assert env.reset()[1]["opinions"][0].source == "lexical"
    policy = make_policy("advised", ["policy=rule", f"expert={my_module}:Opener", "append=false"])
    assert (policy.policy.name, type(policy.expert).__name__, policy.append) == ("rule", "Opener", False)
    assert make_policy("oracle", ["queries=rule"]).queries.name == "rule"
    assert make_policy("oracle", ["queries=instruction"]).queries == "instruction"


def test_a_name_that_stands_for_no_policy_is_answered_with_the_near_ones():
    with pytest.raises(UnknownName, match=r"Unknown policy 'lexicl'\. Did you mean 'lexical'"):
        make_environment("Corridor-v0", wrapped=["opinion:expert=lexicl"])
    with pytest.raises(InvalidSetting, match="opinion has to be told expert: --wrapper opinion:expert=…"):
        make_environment("Corridor-v0", wrapped=["opinion"])


def test_only_the_warning_that_a_version_is_old_is_silenced(monkeypatch):
    def registered_warning(length=5, render_mode=None):
        warnings.warn("something else", DeprecationWarning, stacklevel=1)
        return gym.make("llm_gym/Corridor-v0").unwrapped

    monkeypatch.setitem(gym.registry, "llm_gym/Old-v0", gym.envs.registration.EnvSpec("llm_gym/Old-v0"))
    gym.registry["llm_gym/Old-v0"].entry_point = registered_warning
    monkeypatch.setitem(gym.registry, "llm_gym/Old-v1", gym.envs.registration.EnvSpec("llm_gym/Old-v1"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        make_environment("Old-v0")
    assert [str(warning.message) for warning in told] == ["something else"]


def test_names_have_no_namespace():
    assert {"Corridor-v0", "WebShop-v0", "WebShop-v1"} <= set(environment_names())
