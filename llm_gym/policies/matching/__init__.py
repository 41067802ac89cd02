"""The matching expert: trees over how well instruction, page and action agree."""

from llm_gym.policies.matching.policy import MatchPolicy

__all__ = ["MatchPolicy"]
