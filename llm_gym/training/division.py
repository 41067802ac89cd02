"""Which demonstrations are held out where no file of them is given."""

from __future__ import annotations

from collections.abc import Iterable

from llm_gym.demonstrations import Demonstration
from llm_gym.envs.webshop.goals import parse_task_id
from llm_gym.envs.webshop.panels import product_fraction

HELD_OUT = 0.1
"""Share of the products."""


def by_product(demonstrations: Iterable[Demonstration]) -> tuple[list[Demonstration], list[Demonstration]]:
    """To learn from, and held out; all that was demonstrated with one product is on one side."""
    training: list[Demonstration] = []
    held_out: list[Demonstration] = []
    for demonstration in demonstrations:
        parsed = parse_task_id(demonstration.task_id)
        product = parsed[0] if parsed else demonstration.task_id
        (held_out if product_fraction(product) >= 1 - HELD_OUT else training).append(demonstration)
    return training, held_out
