"""A seeded generator of invented households: the environment works without a download."""

from llm_gym.envs.alfworld.generator.games import build_invented, invented_games
from llm_gym.envs.alfworld.generator.plan import Settings

__all__ = ["Settings", "build_invented", "invented_games"]
