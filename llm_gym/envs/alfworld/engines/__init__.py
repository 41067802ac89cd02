"""What plays a game: our own engine, or TextWorld."""

from __future__ import annotations

from llm_gym.envs.alfworld.engines.base import Engine
from llm_gym.envs.alfworld.engines.native import NativeEngine

ENGINES = ("native", "textworld")


def make_engine(name: str) -> Engine:
    """An engine by its name.

    Raises:
        MissingDependency: TextWorld is asked for and not installed.
    """
    if name == "native":
        return NativeEngine()
    from llm_gym.envs.alfworld.engines.textworld import TextWorldEngine

    return TextWorldEngine()
