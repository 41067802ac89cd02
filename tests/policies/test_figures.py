"""The baselines reach the figures that were measured independently on the official 1,000 products.

500 synthetic goals, drawn uniformly: rule 57.0 / 2.2 %, first result with options 81.0 / 57.0 % (score / success).
"""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

from llm_gym.envs.base import panel_of
from llm_gym.policies import FirstHitPolicy, LexicalPolicy, OraclePolicy, Policy, RulePolicy
from llm_gym.rollout import play


@pytest.mark.data
@pytest.mark.parametrize(
    ("policy", "score", "success"),
    [
        (RulePolicy(), (56, 58), (1.7, 2.7)),
        (FirstHitPolicy(), (79, 82), (56, 59)),
        # above 85.1 / 65.6, the reader that counts words of all texts
        (LexicalPolicy(), (90, 94), (77, 83)),
        # Below 100: bought colours are reduced to a colour word, those of a synthetic goal are not, so the very value
        # that is asked for may not count. Measured with goals whose colours are reduced: 99.6 / 99.4.
        (OraclePolicy("instruction"), (98.5, 100), (95, 97)),
        (OraclePolicy(), (98.5, 100), (95, 97)),
    ],
    ids=repr,
)
def test_score_and_success_on_500_synthetic_goals(
    webshop_folder: Path, policy: Policy, score: tuple[float, float], success: tuple[float, float]
) -> None:
    env = gym.make("llm_gym/WebShop-v1", catalogue=str(webshop_folder))
    episodes = [play(env, policy, task_id) for task_id in panel_of(env)[:500]]
    assert {episode.ended_by for episode in episodes} == {"task"}
    assert sum(episode.invalid_actions for episode in episodes) == 0
    assert score[0] <= sum(episode.score for episode in episodes) / 500 <= score[1]
    assert success[0] <= 100 * sum(episode.success for episode in episodes) / 500 <= success[1]
