"""Plans, runs, metrics, comparisons and reports."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from llm_gym.registry import services

if TYPE_CHECKING:
    from llm_gym.evaluation.comparison import Comparison
    from llm_gym.evaluation.estimate import Estimate
    from llm_gym.evaluation.evaluation import Evaluation
    from llm_gym.evaluation.plan import Plan
    from llm_gym.evaluation.runner import evaluate

_HOMES = {
    "Comparison": "comparison",
    "Estimate": "estimate",
    "Evaluation": "evaluation",
    "Plan": "plan",
    "evaluate": "runner",
}

__all__ = ["Comparison", "Estimate", "Evaluation", "Plan", "evaluate"]


def register() -> None:
    """Let `Policy.evaluate` find the runner without importing it."""
    services.register("runner", "llm_gym.evaluation.runner:evaluate")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
