"""A shopper that shops as people do: the source of demonstrations to learn from."""

from llm_gym.policies.demonstrator.policy import DemonstratorPolicy

__all__ = ["DemonstratorPolicy"]
