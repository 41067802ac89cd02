"""Imports go down only, and nothing grows beyond a screen (docs: design, layout)."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import llm_gym

ROOT = Path(llm_gym.__file__).parent
LAYERS = (
    {"errors"},
    {"core", "registry", "spaces", "extras", "data", "download"},
    {"envs", "llm", "rollout"},
    {"policies"},
    {"wrappers"},
    {"evaluation"},
    {"demonstrations"},
    {"training"},
    {"experiments"},
    {"cli", "__main__"},
)
SIBLINGS_APART = {"envs", "llm", "rollout"}
"""These never import each other; nor does one family of environments another."""
SHARED_BY_FAMILIES = {"base"}
UPWARD_FOR_THE_TYPE_ONLY = {("policies.base", "evaluation.evaluation")}
"""`Policy.evaluate` returns what the runner makes; at run time it finds the runner through the registry."""
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 80

FILES = sorted(path for path in ROOT.rglob("*.py"))
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
INSIDE = {name: path for name, path in MODULES.items() if name != "__init__"}
"""All but the package itself, which composes the parts and may import any."""


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Modules of the package that a file imports, without `llm_gym.`; imports for types only are left out."""
    for node in walk_without_types(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            # `from package import name` may mean a module of the package or a thing in it
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("llm_gym."):  # the bare package is imported for its version, which no layer owns
                yield module_of(name.removeprefix("llm_gym."))


def module_of(name: str) -> str:
    """The module that holds a dotted name."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or "__init__"


def walk_without_types(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield from walk_without_types(child)


def types_only(tree: ast.AST) -> Iterator[str]:
    """What a file imports under `if TYPE_CHECKING`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from imports_of(ast.Module(body=node.body, type_ignores=[]))


def parsed(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def layer_of(module: str) -> int:
    top = module.partition(".")[0]
    found = [number for number, layer in enumerate(LAYERS) if top in layer]
    assert found, f"{module} is in no layer: add it to the diagram of the design and to LAYERS"
    return found[0]


def forbidden(importer: str, imported: str) -> str | None:
    """Why an import goes against the layers, or None."""
    if imported == "__init__":
        return "imports the package itself, which imports everything"
    here, there = importer.split("."), imported.split(".")
    if layer_of(imported) > layer_of(importer):
        return "goes up"
    if here[0] != there[0] and {here[0], there[0]} <= SIBLINGS_APART:
        return "goes to a sibling"
    families = here[0] == there[0] == "envs" and len(here) > 1 and len(there) > 1
    if families and here[1] != there[1] and there[1] not in SHARED_BY_FAMILIES:
        return "goes to another family of environments"
    return None


@pytest.mark.parametrize("name", sorted(INSIDE))
def test_imports_go_down_only(name: str) -> None:
    wrong = [(imported, reason) for imported in imports_of(parsed(name)) if (reason := forbidden(name, imported))]
    assert not wrong


@pytest.mark.parametrize("name", sorted(INSIDE))
def test_imports_for_types_go_down_but_for_the_one_edge_of_the_design(name: str) -> None:
    wrong = [
        (imported, reason)
        for imported in types_only(parsed(name))
        if (name, imported) not in UPWARD_FOR_THE_TYPE_ONLY and (reason := forbidden(name, imported))
    ]
    assert not wrong


def test_no_import_comes_back_to_its_module() -> None:
    graph = {name: {other for other in imports_of(parsed(name)) if other != name} for name in INSIDE}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("policies.rule", "evaluation.store"),
        ("envs.webshop.env", "policies.base"),
        ("envs.corridor", "rollout"),
        ("rollout", "envs.base"),
        ("llm.client", "envs.base"),
        ("envs.webshop.env", "envs.alfworld.env"),
        ("envs.webshop.env", "envs.corridor"),
        ("errors", "core"),
        ("policies.rule", "wrappers.history"),
        ("wrappers.history", "__init__"),
    ],
)
def test_the_test_would_notice(importer: str, imported: str) -> None:
    assert forbidden(importer, imported)


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("envs.webshop.env", "envs.base"),
        ("envs.webshop.env", "envs.webshop.search.bm25"),
        ("policies.rule", "envs.webshop.goals"),
        ("evaluation.runner", "policies.base"),
        ("cli.commands", "evaluation"),
        ("data", "errors"),
    ],
)
def test_the_test_lets_the_right_imports_pass(importer: str, imported: str) -> None:
    assert forbidden(importer, imported) is None


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_file_is_short_enough_and_says_what_it_is(name: str) -> None:
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES
    assert ast.get_docstring(parsed(name))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_function_is_too_long(name: str) -> None:
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(parsed(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES
    }
    assert not long
