"""The recurrent network learns by acting; these fail where the sign of the loss or the way of a gradient is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

for _package in ("torch", "transformers", "accelerate", "matplotlib"):
    pytest.importorskip(_package, reason="needs the extra train")

from llm_gym.envs.base import panel_of  # noqa: E402
from llm_gym.policies.reinforcement.candidates import instruction_only  # noqa: E402
from llm_gym.policies.reinforcement.rnn import RecurrentActorCritic  # noqa: E402
from llm_gym.policies.reinforcement.rnn_config import RecurrentConfig  # noqa: E402
from llm_gym.training.a2c.episodes import Course  # noqa: E402
from llm_gym.training.a2c.loop import train  # noqa: E402
from llm_gym.training.a2c.settings import A2CSettings  # noqa: E402
from llm_gym.training.a2c.words import texts_of, word_tokenizer  # noqa: E402

pytestmark = pytest.mark.train

Look = Callable[[Any], Mapping[str, float]]
TASKS = [f"corridor-{number}" for number in range(30)]
SETTINGS = A2CSettings(updates=60, evaluate_every=60, environments=8, steps=4, learning_rate=1e-2, entropy_weight=2.0)


def corridor() -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0", length=2, max_episode_steps=6)


def network(course: Course) -> RecurrentActorCritic:
    config = RecurrentConfig(words=16, width=16, image=False, page_tokens=32, head_tokens=24)
    return RecurrentActorCritic.create(config, word_tokenizer(texts_of(course, instruction_only, 100), None))


def learned(course: Course, look: Look, out: Path) -> tuple[float, float]:
    """The held-out scores before and after a training."""
    beginner = network(course)
    before = look(beginner)["score"]
    return before, train(beginner, course, look, SETTINGS, out).measures["score"]


def test_the_corridor_is_learned(greedy_look: Callable[..., Look], tmp_path: Path) -> None:
    before, after = learned(Course(corridor, TASKS), greedy_look(corridor(), TASKS[:15]), tmp_path)
    assert before < 0.7
    assert after > 0.9


def test_a_shop_of_two_products_is_learned(
    make_shop: Callable[[], gym.Env[str, str]], greedy_look: Callable[..., Look], tmp_path: Path
) -> None:
    tasks = list(panel_of(make_shop()))
    before, after = learned(Course(make_shop, tasks), greedy_look(make_shop(), tasks), tmp_path)
    assert before < 1
    assert after == 1
