"""Clients are there without the packages that they may need."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_clients_loads_none_of_their_packages() -> None:
    code = "import sys, llm_gym.llm; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"openai", "httpx2", "tenacity", "tiktoken", "xllamacpp", "torch", "transformers", "pydantic"}
    assert not heavy & set(done.stdout.split())
