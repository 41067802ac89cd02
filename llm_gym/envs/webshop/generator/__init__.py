"""A seeded generator of invented shops in the official file formats: the environment works without a download."""

from llm_gym.envs.webshop.generator.files import ATTRIBUTES, HUMAN_GOALS, ITEMS, Entry, generate, write_catalogue
from llm_gym.envs.webshop.generator.settings import HARD, STANDARD, CatalogueSettings

__all__ = [
    "ATTRIBUTES",
    "HARD",
    "HUMAN_GOALS",
    "ITEMS",
    "STANDARD",
    "CatalogueSettings",
    "Entry",
    "generate",
    "write_catalogue",
]
