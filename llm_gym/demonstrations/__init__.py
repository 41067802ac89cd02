"""Demonstrations: recorded, generated, read from the official files, and kept in one format."""

from llm_gym.demonstrations.record import Demonstration, DemonstrationStep

__all__ = ["Demonstration", "DemonstrationStep"]
