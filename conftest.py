"""The option `--no-skips`, for machines that have everything the tests need, and how property tests draw."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

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
