"""The standard catalogue, made once for all tests of the generator."""

from __future__ import annotations

import pytest

from llm_gym.envs.webshop.generator import STANDARD, Entry, generate
from llm_gym.envs.webshop.generator.acceptance import World


@pytest.fixture(scope="session")
def standard() -> list[Entry]:
    return list(generate(STANDARD))


@pytest.fixture(scope="session")
def world(standard: list[Entry]) -> World:
    return World.of(standard)
