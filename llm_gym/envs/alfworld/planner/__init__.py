"""Shortest ways to win a game, from any state."""

from llm_gym.envs.alfworld.planner.planner import Planner

__all__ = ["Planner"]
