"""What the documentation names exists, and what exists is named."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from llm_gym.cli import COMMANDS
from llm_gym.envs.webshop.rules import Rules
from llm_gym.policies import POLICIES
from llm_gym.wrappers import WRAPPERS

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
PAGES = [*(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *sorted(DOCS.rglob("*.md"))]
TESTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((PROJECT / "tests").rglob("test_*.py")))

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))


def text_of(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"https?://|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}"


@every_page
def test_files_and_tests_that_are_named_exist(page: Path) -> None:
    for name in re.findall(r"`([^`\n]+)`", text_of(page)):
        path = re.match(r"(?:tests|llm_gym|docs|examples|benchmarks|\.ci)/[\w./-]*\w", name)
        if path and not name.startswith(("llm_gym/ALFWorld", "llm_gym/Corridor", "llm_gym/WebShop")):
            assert (PROJECT / path[0]).exists(), f"{page.name} names {name}"
        for test in re.findall(r"(?:^|::)(test_\w+)$", name):
            assert f"def {test}(" in TESTS, f"{page.name} names {name}"


@every_page
def test_no_path_of_a_machine_is_told(page: Path) -> None:
    assert not re.search(r"(?<![\w.])/(?:work|root|home|tmp)/", page.read_text(encoding="utf-8"))


def test_the_map_leads_to_every_page() -> None:
    linked = {(DOCS / name).resolve() for name in re.findall(r"\]\(([^)#\s]+\.md)", text_of(DOCS / "index.md"))}
    assert {page for page in PAGES if DOCS in page.parents} - linked == {DOCS / "index.md"}


def test_every_difference_between_the_shops_has_its_line() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| `(test_\w+)` \|$", (DOCS / "webshop.md").read_text(), flags=re.MULTILINE)
    assert [name for name, _ in rows] == [field.name for field in dataclasses.fields(Rules)]


@pytest.mark.parametrize(
    ("page", "names"),
    [("cli.md", COMMANDS), ("policies.md", POLICIES), ("extending.md", WRAPPERS)],
    ids=["commands", "policies", "wrappers"],
)
def test_everything_in_a_table_is_described(page: str, names: dict[str, object]) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in text and f"`llm-gym {name}`" not in text] == []


def test_a_decision_is_short_and_says_why() -> None:
    for page in sorted((DOCS / "decisions").glob("*.md")):
        lines = page.read_text(encoding="utf-8").splitlines()
        assert re.fullmatch(r"\d{3}-[a-z0-9-]+\.md", page.name)
        assert len(lines) <= 25, page.name
        for word in ("**Context.**", "**Decision.**", "**Consequence.**"):
            assert any(line.startswith(word) for line in lines), f"{page.name} lacks {word}"
