"""The memory student of ALFWorld: a small network over admissible commands that reads a belief built from the text."""

from llm_gym.policies.alfworld.memory.policy import MemoryPolicy

__all__ = ["MemoryPolicy"]
