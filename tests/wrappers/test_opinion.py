"""An expert's suggestions in front of any policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Decision, Info, Opinion
from llm_gym.envs.base import panel_of
from llm_gym.errors import ExpertFailed, InvalidSetting
from llm_gym.evaluation import Evaluation
from llm_gym.evaluation.plan import plan_of
from llm_gym.policies import (
    ALFWorldExpertPolicy,
    FirstHitPolicy,
    HeedingPolicy,
    LexicalPolicy,
    OraclePolicy,
    PlannerPolicy,
    Policy,
    RandomPolicy,
    RulePolicy,
)
from llm_gym.rollout import Rollout
from llm_gym.wrappers import HistoryWrapper, ItemTitles, OpinionWrapper

Make = Callable[..., gym.Env[str, str]]


class Opener(Policy):
    """Says "open", and breaks at one task; counts how often it is asked."""

    name = "opener"

    def __init__(self) -> None:
        self.asked = 0

    def act(self, observation: str, info: Info) -> Decision:
        self.asked += 1
        if info["task_id"] == "corridor-3":
            raise RuntimeError("no idea")
        return Decision("open")


@pytest.fixture
def corridor() -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0")


@pytest.fixture
def shop(make_env: Make) -> gym.Env[str, str]:
    return make_env("llm_gym/WebShop-v1", max_episode_steps=20)


def actions(evaluation: Evaluation) -> list[list[str | None]]:
    return [[step["action"] for step in row["trajectory"]] for row in evaluation.rows]


def test_opinions_stand_in_info_and_after_the_observation(corridor: gym.Env[str, str]) -> None:
    env = OpinionWrapper(corridor, Opener())
    observation, info = env.reset(options={"task": "corridor-1"})
    assert info["opinions"] == [Opinion("open", source="opener")]
    assert observation == (
        f"{info['page']}\n\nHere is a suggestion for the next command: open.\n"
        "Take it as a reference and judge independently."
    )
    assert "suggestion" not in info["page"]
    _, _, _, _, info = env.step("nonsense")
    assert info["opinions"] == [Opinion("open", source="opener")]


def test_the_observation_can_be_left_alone(corridor: gym.Env[str, str]) -> None:
    env = OpinionWrapper(corridor, Opener(), append=False)
    observation, info = env.reset(options={"task": "corridor-1"})
    assert observation == info["page"]
    assert info["opinions"]
    assert env.observation_space == corridor.observation_space


def test_two_experts_speak_one_after_the_other(corridor: gym.Env[str, str]) -> None:
    env = OpinionWrapper(OpinionWrapper(corridor, Opener()), OraclePolicy())
    observation, info = env.reset(options={"task": "corridor-9"})
    assert [opinion.source for opinion in info["opinions"]] == ["opener", "oracle"]
    assert observation.count("Here is a suggestion") == 2
    assert env.observation_space.contains(observation)


def test_two_equal_experts_have_streams_of_their_own(shop: gym.Env[str, str]) -> None:
    env = OpinionWrapper(OpinionWrapper(shop, RandomPolicy()), RandomPolicy())
    env.reset(seed=0)
    env.step("search[shoe]")
    pairs = [env.step("click[nothing]")[4]["opinions"] for _ in range(10)]
    assert any(first.action != second.action for first, second in pairs)


def test_nobody_is_asked_after_the_end(corridor: gym.Env[str, str]) -> None:
    expert = Opener()
    env = OpinionWrapper(corridor, expert)
    env.reset(options={"task": "corridor-1"})
    *_, terminated, _, info = env.step("open")
    assert terminated
    assert "opinions" not in info
    assert expert.asked == 1


@pytest.mark.parametrize(
    ("world", "expert"),
    [
        ("llm_gym/WebShop-v1", RulePolicy),
        ("llm_gym/WebShop-v1", FirstHitPolicy),
        ("llm_gym/WebShop-v1", LexicalPolicy),
        ("llm_gym/WebShop-v1", OraclePolicy),
        ("llm_gym/ALFWorld-v1", ALFWorldExpertPolicy),
        ("llm_gym/ALFWorld-v1", PlannerPolicy),
        ("llm_gym/Corridor-v0", RulePolicy),
    ],
)
def test_who_heeds_every_opinion_plays_what_the_expert_plays(make_env: Make, world: str, expert: type[Policy]) -> None:
    env = make_env(world)
    heeding = HeedingPolicy(RandomPolicy()).evaluate(OpinionWrapper(env, expert()), n=15)
    alone = expert().evaluate(env, n=15)
    assert actions(heeding) == actions(alone)
    assert heeding.score == alone.score


def test_opinions_do_not_touch_the_chance_of_policy_and_world(shop: gym.Env[str, str]) -> None:
    alone = RandomPolicy().evaluate(shop, n=6)
    beside = RandomPolicy().evaluate(OpinionWrapper(shop, RandomPolicy(), top_k=3, draw="sample"), n=6)
    assert actions(beside) == actions(alone)


def test_the_experts_chance_is_not_the_policys(shop: gym.Env[str, str]) -> None:
    env = OpinionWrapper(shop, RandomPolicy(), top_k=3, draw="sample")
    task_id = panel_of(env)[0]
    episodes = [Rollout(RandomPolicy(), task_id).play(env, env_seed=1, policy_seed=seed) for seed in range(5)]
    by_page: dict[int, set[Any]] = {}
    for episode in episodes:
        for number, step in enumerate(episode.steps[:2]):  # on these two pages all are alike
            by_page.setdefault(number, set()).add(step.opinions)
    assert len(by_page[0]) == 1
    assert len({tuple(step.action for step in episode.steps) for episode in episodes}) > 1


def test_a_seed_decides_all_that_follows(shop: gym.Env[str, str]) -> None:
    env = OpinionWrapper(shop, RandomPolicy(), draw="sample")

    def opinions() -> list[Any]:
        told = [env.reset(seed=4)[1]["opinions"]]
        for _ in range(3):
            env.reset()
            told.append(env.step("search[shoe]")[4]["opinions"])
        return told

    assert opinions() == opinions()


def test_names_of_other_wrappers_are_the_experts_too(shop: gym.Env[str, str]) -> None:
    env = OpinionWrapper(ItemTitles(shop), RulePolicy())
    _, info = env.reset(options={"task": panel_of(env)[0]})
    _, _, _, _, info = env.step(info["opinions"][0].action)
    assert info["opinions"][0].action.startswith("click[item - ")
    assert info["opinions"][0].action in info["admissible_actions"]


def test_a_history_around_it_keeps_the_suggestions(corridor: gym.Env[str, str]) -> None:
    env = HistoryWrapper(OpinionWrapper(corridor, Opener()), observations=1)
    env.reset(options={"task": "corridor-1"})
    assert env.step("nonsense")[0].count("Here is a suggestion") == 2


def test_an_expert_that_raises_fails_its_episode_and_no_other(corridor: gym.Env[str, str]) -> None:
    played = OraclePolicy().evaluate(OpinionWrapper(corridor, Opener()), n=6)
    assert [row["error"] for row in played.rows if row["ended_by"] == "error"] == [
        "ExpertFailed: The expert 'opener' failed: RuntimeError: no idea"
    ]
    assert [row["task_id"] for row in played.rows if not row["success"]] == ["corridor-3"]
    with pytest.raises(ExpertFailed):
        OpinionWrapper(corridor, Opener()).reset(options={"task": "corridor-3"})


def test_an_opinion_that_is_not_possible_is_passed_on_and_counted(corridor: gym.Env[str, str]) -> None:
    class Flyer(Opener):
        """Says what cannot be done."""

        def act(self, observation: str, info: Info) -> Decision:
            return Decision("fly")

    used = HeedingPolicy(OraclePolicy(), 0.5).evaluate(OpinionWrapper(corridor, Flyer()), n=10).opinions
    assert used is not None
    assert (used.refused.value, used.refused.n > 0) == (1.0, True)


def test_the_fingerprint_knows_the_expert_and_how_it_is_asked(corridor: gym.Env[str, str]) -> None:
    def plan(expert: Policy, **settings: Any) -> Any:
        return plan_of(RulePolicy(), OpinionWrapper(corridor, expert, **settings), n=3)

    told = plan(LexicalPolicy(read=3), top_k=2).environment["wrappers"][0]
    assert told["name"] == "OpinionWrapper"
    assert told["kwargs"]["expert"] == {"class": "llm_gym.policies.lexical:LexicalPolicy", "settings": {"read": 3}}
    assert told["kwargs"]["top_k"] == 2
    plans = [
        plan(LexicalPolicy(read=3)),
        plan(LexicalPolicy(read=5)),
        plan(RulePolicy()),
        plan(RulePolicy(), top_k=2),
        plan(RulePolicy(), control="random"),
        plan(RulePolicy(), when="uncertain"),
        plan(RulePolicy(), when="uncertain", threshold=0.7),
    ]
    assert len({one.fingerprint for one in plans}) == len(plans)


def test_processes_and_an_interrupted_run_give_the_same_bytes(shop: gym.Env[str, str], tmp_path: Path) -> None:
    env = OpinionWrapper(shop, RandomPolicy(), top_k=2, draw="sample")
    policy = HeedingPolicy(RulePolicy(), 0.5)
    for name, jobs in (("one", 1), ("two", 2)):
        policy.evaluate(env, n=8, jobs=jobs, out=tmp_path / name)
    whole = (tmp_path / "one" / "episodes.jsonl").read_bytes()
    assert (tmp_path / "two" / "episodes.jsonl").read_bytes() == whole
    half = b"".join(whole.splitlines(keepends=True)[:3]) + b'{"task_id'
    (tmp_path / "one" / "episodes.jsonl").write_bytes(half)
    policy.evaluate(env, n=8, out=tmp_path / "one")
    assert (tmp_path / "one" / "episodes.jsonl").read_bytes() == whole


def test_the_effect_of_opinions_is_a_comparison_with_the_same_policy_alone(corridor: gym.Env[str, str]) -> None:
    policy = HeedingPolicy(RandomPolicy())
    effect = policy.evaluate(OpinionWrapper(corridor, OraclePolicy()), n=40).compare(policy.evaluate(corridor, n=40))
    assert (effect.first, effect.second) == ("heeding + OpinionWrapper", "heeding")
    assert effect.success.low > 0


def test_the_spec_names_the_expert_itself_and_no_copy(corridor: gym.Env[str, str]) -> None:
    expert = RulePolicy()
    spec = OpinionWrapper(corridor, expert).spec
    assert spec is not None
    kwargs = spec.additional_wrappers[0].kwargs
    assert kwargs is not None
    assert kwargs["expert"] is expert


def test_an_expert_is_a_policy(corridor: gym.Env[str, str]) -> None:
    with pytest.raises(InvalidSetting, match="An expert is a policy"):
        OpinionWrapper(corridor, "rule")  # type: ignore[arg-type]
