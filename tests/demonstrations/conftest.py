"""Demonstrations made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from llm_gym.demonstrations import Demonstration, DemonstrationStep

Make = Callable[..., Demonstration]

BACK, NEXT, PREVIOUS, BUY = "click[back to search]", "click[next >]", "click[< prev]", "click[buy now]"
DETAILS = ("click[description]", "click[features]", "click[reviews]")


def demonstration(task_id: str = "t1", steps: Sequence[DemonstrationStep] = (), **known: object) -> Demonstration:
    """A demonstration of two steps in no world in particular, unless steps are given."""
    two = (DemonstrationStep("a hall", ("left", "right"), 1), DemonstrationStep("a room", ("open",), 0, "room-1"))
    settings: dict[str, object] = {"goal": "Open it.", "success": True, "score": 100.0, "source": "somebody", **known}
    return Demonstration(task_id, steps=tuple(steps) or two, **settings)  # type: ignore[arg-type]


class Shopper:
    """Walks through an imagined shop and writes down the steps."""

    def __init__(self) -> None:
        self.steps: list[DemonstrationStep] = []

    def search(self, query: str) -> Shopper:
        return self._step("search", f"search[{query}]", ())

    def results(
        self, action: str, links: Sequence[str] = ("click[a]", "click[b]", "click[c]"), page: int = 1
    ) -> Shopper:
        return self._step("results", action, (BACK, *((PREVIOUS,) if page > 1 else ()), NEXT, *links))

    def item(self, action: str, options: Sequence[str] = ("click[red]", "click[blue]")) -> Shopper:
        return self._step("item", action, (BACK, PREVIOUS, *DETAILS, BUY, *options))

    def sub(self, action: str = PREVIOUS) -> Shopper:
        return self._step("sub", action, (BACK, PREVIOUS))

    def _step(self, page: str, action: str, actions: Sequence[str]) -> Shopper:
        listed = tuple(actions) or (action,)
        self.steps.append(DemonstrationStep(page, listed, listed.index(action)))
        return self


@pytest.fixture
def make() -> Make:
    return demonstration


@pytest.fixture
def shopper() -> type[Shopper]:
    return Shopper
