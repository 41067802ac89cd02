"""Every code block of README and docs runs, and prints what the page shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")))
    if "\n```" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_a_page_does_what_it_shows(page: Path, reader: Any) -> None:
    reader.read(page)
    assert not reader.problems, "\n\n".join(reader.problems)
    if reader.left_out:
        pytest.skip(f"run but for {', '.join(reader.left_out)}")


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (" a   b\n\n", "a b\n", True),
        ("a 1\n", "a 2\n", False),
        ("a …\n", "a 0.1 s\n", True),
        ("a\n…\nc\n", "a\nb\nb\nc\n", True),
        ("a\n…\nc\n", "a\nb\n", False),
        (" ─────\n", " ──────────\n", True),
        ("a\n", "a\nb\n", False),
        ("a.b\n", "aXb\n", False),
    ],
)
def test_what_is_printed_is_compared_but_for_gaps_and_ellipses(
    expected: str, actual: str, same: bool, shown: Callable[[str, str], bool]
) -> None:
    assert shown(expected, actual) is same


def test_a_wrong_output_a_failing_block_and_a_foreign_command_are_told(tmp_path: Path, reader: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(1)\n```\n\n```text\n2\n```\n```python\nx\n```\n```bash\nrm x\n```\n```yaml\n```\n"
    )
    reader.read(page)
    wrong, failing, foreign, unknown = reader.problems
    assert "shows\n2" in wrong
    assert "printed was\n1" in wrong
    assert "line 9: NameError" in failing
    assert "rm is not run here" in foreign
    assert "not 'yaml'" in unknown


def test_marks_say_what_happens_to_a_block(tmp_path: Path, reader: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: it is wrong -->\n```python\nx\n```\n"
        "<!-- file: mine.py -->\n```python\nx = 3\n```\n"
        "<!-- block: evaluate -->\n```bash\nrm -r .\n```\n"
        "```python\nfrom mine import x\nprint(x)\n```\n```text\n3\n```\n"
        "```console\n$ llm-gym --version\nllm-gym …\n$ llm-gym lust\nerror: Unknown command …\n```\n"
        "<!-- not run: -->\n```python\n```\n"
    )
    reader.read(page)
    assert reader.problems == ["page.md, line 28: it is not said why the block is not run"]
