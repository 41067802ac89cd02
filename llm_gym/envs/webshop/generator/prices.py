"""Price tags: log-normal around the kind's level, with the endings and gaps of the official world."""

import math

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.settings import CatalogueSettings


def _with_ending(amount: float, dice: Dice) -> float:
    """Cents: .99 on 41 %, .00 on 11 %, .95 on 8 %, anything else on the rest."""
    cents = (99, 0, 95, dice.between(1, 98))[dice.weighted((0.41, 0.11, 0.08, 0.40))]
    return max(0.99, math.floor(amount) + cents / 100)


def price_tag(median: float, ranged: bool, settings: CatalogueSettings, dice: Dice) -> str:
    """`$12.99`, `$10.00 - $20.50` or "" (the loader then charges 100 dollars)."""
    amount = _with_ending(median * math.exp(settings.price_spread * dice.normal()), dice)
    if dice.chance(settings.missing_price):
        return ""
    if not ranged:
        return f"${amount:,.2f}"
    high = _with_ending(amount * (1.03 + 0.32 * dice.geometric(1.2) + 0.3 * dice.unit()), dice)
    return f"${amount:,.2f} - ${max(high, amount + 1.0):,.2f}"
