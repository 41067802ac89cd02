"""Fixtures of the whole suite."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import DATA_VARIABLE


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of official data; tests that need it are skipped when the variable is not set."""
    chosen = os.environ.get(DATA_VARIABLE)
    if not chosen:
        pytest.skip(f"{DATA_VARIABLE} is not set: the official files are not here")
    return Path(chosen)


@pytest.fixture(scope="session")
def webshop_folder(data_folder: Path) -> Path:
    return data_folder / "webshop"


@pytest.fixture(scope="session")
def make_env() -> Callable[..., gym.Env[str, str]]:
    """Any registered environment, with its defaults unless settings say otherwise."""
    return _make_env


def _make_env(env_id: str, **settings: Any) -> gym.Env[str, str]:
    with warnings.catch_warnings():
        # Gymnasium calls every version but the newest out of date; here v0 is kept for comparison with the original.
        warnings.filterwarnings("ignore", r".*The environment llm_gym/WebShop-v0 is out of date", DeprecationWarning)
        return gym.make(env_id, **settings)
