"""The option `--no-skips`, for machines that have everything the tests need, how property tests draw, and which modules
hold no doctests where an optional package is missing.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from llm_gym.extras import installed

_OPTIONAL = ("torch", "transformers", "lightgbm", "accelerate", "PIL", "matplotlib", "stable_baselines3", "sb3_contrib")
_ROOT = Path(__file__).parent


def _imported(path: Path) -> set[str]:
    """Packages that a module imports as soon as it is imported."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found |= {name.partition(".")[0] for name in names}
    return found


_missing = {package for package in _OPTIONAL if not installed(package)}
collect_ignore = [str(path) for path in (_ROOT / "llm_gym").rglob("*.py") if _missing & _imported(path)]

# Where a change is judged the same examples are drawn every time; elsewhere new ones are looked for.
# No example has a deadline: on a busy machine it would be the machine that is tested.
settings.register_profile("look", deadline=None)
settings.register_profile("judge", derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=1000, deadline=None)
settings.load_profile("judge" if os.environ.get("CI") else "look")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a test that is skipped has failed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped and not expected_failure and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, which --no-skips forbids: {call.excinfo and call.excinfo.value}"
    return report
