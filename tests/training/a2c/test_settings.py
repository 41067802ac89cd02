"""Settings that cannot work are refused by name."""

from __future__ import annotations

import pytest

from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.training.a2c.settings import A2CSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("updates", 0),
        ("environments", 0),
        ("steps", 0),
        ("evaluate_every", 0),
        ("discount", 1.1),
        ("epsilon", -0.1),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("value_learning_rate", -1.0),
        ("largest_gradient", 0.0),
        ("reward_scale", float("inf")),
        ("entropy_weight", -1.0),
        ("value_first", -1),
    ],
)
def test_settings_that_cannot_work_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidSetting, match=f"{name}={value}"):
        A2CSettings(**{name: value})


def test_an_unknown_exploration_is_refused() -> None:
    with pytest.raises(UnknownName, match="softmax"):
        A2CSettings(exploration="softmx")  # type: ignore[arg-type]
