"""The rule baseline of the WebShop paper."""

from __future__ import annotations

from llm_gym.policies.shopper import ShopperPolicy


class RulePolicy(ShopperPolicy):
    """Search the whole instruction, price clause included, and buy the first result (WebShop paper, section 4.1).

    It chooses no options and stops where the search finds nothing.
    """

    name = "rule"

    def query(self, goal: str) -> str:
        return goal
