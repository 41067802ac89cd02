"""Reads what people ask for in their own words: a small network over words, pairs of words and readings by rules."""

from llm_gym.policies.alfworld.goal_reader.reader import GoalReader

__all__ = ["GoalReader"]
