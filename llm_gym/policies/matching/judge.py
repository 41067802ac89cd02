"""What is to be thought of all products seen so far."""

from __future__ import annotations

from llm_gym.policies.matching.memory import Memory, Sighting
from llm_gym.policies.matching.model import MatchModel, evidence_of
from llm_gym.policies.matching.product_features import OptionFit, Scale
from llm_gym.policies.matching.wanted import wanted


class Judge:
    """Remembers what it thought, as long as nothing new was seen.

    Args:
        model: that judges.
        goal: the instruction.
    """

    def __init__(self, model: MatchModel, goal: str) -> None:
        self.model = model
        self.goal = goal
        self._wanted = wanted(goal)
        self._scale = Scale(self._wanted, [], model.telling)
        self._fits: dict[str, tuple[OptionFit, ...]] = {}
        self._thought: dict[str, tuple[Sighting, float]] = {}

    def confidences(self, memory: Memory) -> dict[str, float]:
        """How likely each product is the one to buy, by id."""
        titles = [one.title for one in memory.products.values()]
        if titles != self._scale.titles:
            self._scale = Scale(self._wanted, titles, self.model.telling)
            self._thought = {}
        new = [
            asin
            for asin, one in memory.products.items()
            if asin not in self._thought or self._thought[asin][0] is not one
        ]
        if new:
            seen = [memory.products[asin] for asin in new]
            evidence = [evidence_of(one, self.fits(asin, one)) for asin, one in zip(new, seen, strict=True)]
            values = self.model.products_of(self._scale, evidence).tolist()
            self._thought |= dict(zip(new, zip(seen, values, strict=True), strict=True))
        return {asin: self._thought[asin][1] for asin in memory.products}

    def fits(self, asin: str, one: Sighting) -> tuple[OptionFit, ...] | None:
        """The best value of each option of a product; None where they have not been seen."""
        if one.options is None:
            return None
        if asin not in self._fits:
            self._fits[asin] = self.model.fits(self._wanted, one.options)
        return self._fits[asin]
