"""Fixtures of the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

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
