"""The rule baseline that also chooses the options the instruction names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llm_gym.policies.lexical_match import named_value
from llm_gym.policies.shopper import ShopperPolicy


class FirstHitPolicy(ShopperPolicy):
    """As the rule, but with the option values that stand word for word in the instruction."""

    name = "first-hit"

    def query(self, goal: str) -> str:
        return goal

    def options(self, goal: str, offered: Mapping[str, Sequence[str]]) -> list[str]:
        named = (named_value(goal, values) for values in offered.values())
        return [value for value in named if value is not None]
