"""The HTML of every page, read as the original reads it, gives the text observations and the clickable names."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llm_gym.envs.webshop.env import WebShop, WebShopV0

VERSIONS = {"v0": WebShopV0, "v1": WebShop}
MODES = ("text", "text_rich", "html", "url")


class Quartet:
    """Four environments that are walked in step, one an observation mode."""

    def __init__(self, version: str, store: Path, **settings: Any) -> None:
        self._version = version
        self._worlds = {mode: VERSIONS[version](store, observation_mode=mode, **settings) for mode in MODES}
        self.seen: dict[str, str] = {}
        self.info: dict[str, Any] = {}

    def reset(self, task: str) -> None:
        for mode, world in self._worlds.items():
            self.seen[mode], self.info = world.reset(options={"task": task})

    def step(self, action: str) -> None:
        for mode, world in self._worlds.items():
            self.seen[mode], _, self.ended, _, self.info = world.step(action)

    @property
    def tasks(self) -> list[str]:
        return list(self._worlds["text"].panel)

    def check(self, read_html: Any, visited: set[str]) -> None:
        page = read_html(self.seen["html"])
        assert page.text() == self.seen["text"]
        assert page.rich_text(visited, self.seen["url"] if self._version == "v0" else None) == self.seen["text_rich"]
        assert page.has_search_bar == (self.info["screen"] == "search")
        if not page.has_search_bar:
            assert self.info["admissible_actions"] == self._possible(page.clickables())

    def _possible(self, names: list[str]) -> list[str]:
        """What the parser of the version can say: `search` is refused, and so is an empty name."""
        clicks = [f"click[{name}]" for name in names if name not in ("", "search")]
        return [click for click in clicks if self._version == "v1" or is_read_by_the_original(click)]


def is_read_by_the_original(click: str) -> bool:
    """Whether its own expression finds the whole name: not so with a bracket or a line break in it."""
    match = re.match(r"(.+)\[(.+)\]", click)
    return match is not None and match[1] == "click" and match[2].strip() == click[len("click[") : -1].strip()


def walk(worlds: Quartet, read_html: Any, chance: random.Random, steps: int, queries: list[str]) -> set[str]:
    """A random walk that checks every page; returns the kinds of pages seen. A purchase ends it."""
    visited: set[str] = set()
    kinds = set()
    for _ in range(steps):
        worlds.check(read_html, visited)
        kinds.add(worlds.info["screen"])
        if worlds.info["screen"] == "search":
            visited = set()
            action = f"search[{chance.choice(queries)}]"
        else:
            choices = [
                one for one in worlds.info["admissible_actions"] if one != "click[buy now]" or chance.random() < 0.1
            ]
            action = chance.choice(choices) if choices else "click[nothing]"
        worlds.step(action)
        if worlds.info["screen"] == "item":
            visited.add(product_of(worlds.seen["url"]))
        if worlds.info["screen"] == "done":
            worlds.check(read_html, visited)
            return kinds | {"done"}
    return kinds


def product_of(url: str) -> str:
    return url.split("/")[5]


HARD_QUERIES = ["<q> shoes", "shoe", "the of and", 'a "red" <shoe> & [more]', "靴"]
ALL_KINDS = {"search", "results", "item", "description", "features", "reviews", "done"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("show_attrs", [False, True])
def test_html_of_hard_texts_reads_as_the_text_observations(
    version: str, show_attrs: bool, nasty_world: Path, read_html: Any
) -> None:
    worlds = Quartet(version, nasty_world, goals="human", show_attrs=show_attrs)
    chance = random.Random(7)
    kinds: set[str] = set()
    for number in range(30):
        worlds.reset(worlds.tasks[number % len(worlds.tasks)])
        kinds |= walk(
            worlds, read_html, chance, 40, ["<q> shoes", "shoe", "the of and", 'a "red" <shoe> & [more]', "靴"]
        )
    assert kinds == ALL_KINDS | ({"attributes"} if show_attrs else set())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("asin", ["brackets", "unicode1", "empty001", "spaces01", "lines001", "shared01", "buttons1"])
def test_html_of_every_page_of_a_hard_product_reads_as_the_text_observations(
    version: str, asin: str, nasty_world: Path, read_html: Any
) -> None:
    worlds = Quartet(version, nasty_world, goals="synthetic", show_attrs=True)
    worlds.reset(next(task for task in worlds.tasks if task.startswith("B0BRACKETS")))
    worlds.step("search[<q> shoes]")
    opening = f"click[b0{asin}]"
    worlds.step(opening)
    visited = {f"B0{asin.upper()}"}
    worlds.check(read_html, visited)
    buttons = {"click[back to search]", "click[< prev]", "click[buy now]"}
    pages = {"click[description]", "click[features]", "click[reviews]", "click[attributes]"}
    for action in worlds.info["admissible_actions"]:
        if action in buttons:
            continue
        worlds.step(action)
        assert "invalid_action" not in worlds.info
        worlds.check(read_html, visited)
        if action in pages:
            worlds.step("click[< prev]")
            worlds.check(read_html, visited)
    worlds.step("click[buy now]")
    worlds.check(read_html, visited)


@pytest.mark.data
@pytest.mark.parametrize("version", VERSIONS)
def test_html_of_official_products_reads_as_the_text_observations(
    version: str, official_store: Path, read_html: Any
) -> None:
    worlds = Quartet(version, official_store, goals="human")
    chance = random.Random(11)
    queries = ["shoes", "<r>", "<q> women's pants", "<c> grocery", "100% cotton & more", "<a> easy clean"]
    kinds: set[str] = set()
    for task in worlds.tasks * 3:
        worlds.reset(task)
        kinds |= walk(worlds, read_html, chance, 25, [*queries, worlds.info["goal"]])
    assert kinds == ALL_KINDS


def test_html_escapes_what_products_say(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human", observation_mode="html")
    env.reset()
    env.step("search[<q> shoes]")
    env.step("click[b0brackets]")
    page, *_ = env.step("click[description]")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_rendering_html_does_not_depend_on_the_observation_mode(nasty_world: Path) -> None:
    shown = WebShop(nasty_world, goals="human", observation_mode="html")
    rendered = WebShop(nasty_world, goals="human", observation_mode="text", render_mode="html")
    task = shown.panel[0]
    assert shown.reset(options={"task": task})[0] == (rendered.reset(options={"task": task}), rendered.render())[1]
    for action in ("search[<q> shoes]", "click[b0unicode1]", "click[größe 41]", "click[features]"):
        assert shown.step(action)[0] == (rendered.step(action), rendered.render())[1]


# -- any text at all -----------------------------------------------------------------------------------------------

PIECES = ["&", "<", ">", '"', "'", "[", "]", "&amp;", "&#10;", "<!--", "-->", "</label>", "{{x}}", "{%x%}", "\\n"]
PIECES += ["[SEP]", "a", "B", "é", "靴", "👟", "/", "İ", "ß"]
PIECES += ["\n", "\r", "\t", "\f", "\x0b", " ", "\u00a0", "\u2028", "\x1c"]
any_text = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
any_product = st.fixed_dictionaries(
    {
        "name": any_text,
        "full_description": any_text,
        "small_description": st.lists(any_text, max_size=3),
        "groups": st.dictionaries(any_text, st.lists(any_text, max_size=3), max_size=3),
    }
)


@settings(max_examples=60, deadline=None)
@given(product=any_product, instruction=any_text, version=st.sampled_from(sorted(VERSIONS)))
@example(
    product={"name": "", "full_description": "", "small_description": [], "groups": {"": ["&]\n&"]}},
    instruction="",
    version="v0",
)
def test_html_of_any_texts_reads_as_the_text_observations(
    product: dict[str, Any], instruction: str, version: str, read_html: Any, make_row: Any, write_once: Any
) -> None:
    raw = {name: [{"value": value} for value in values] for name, values in product["groups"].items()}
    texts = {name: text for name, text in product.items() if name != "groups"}
    rows = [make_row("B000000001", title_nouns=["shoe"], customization_options=raw, **texts)]
    human = [{"instruction": instruction, "instruction_attributes": ["y"], "instruction_options": []}]
    worlds = Quartet(version, write_once(rows, {}, {"B000000001": human}), goals="human", show_attrs=True)
    worlds.reset(worlds.tasks[0])
    worlds.check(read_html, set())
    worlds.step("search[<q> shoes]")
    worlds.check(read_html, set())
    worlds.step("click[b000000001]")
    worlds.check(read_html, {"B000000001"})
    for action in worlds.info["admissible_actions"]:
        if action in ("click[back to search]", "click[< prev]", "click[buy now]"):
            continue
        worlds.step(action)
        assert "invalid_action" not in worlds.info, action
        worlds.check(read_html, {"B000000001"})
        if worlds.info["screen"] != "item":
            worlds.step("click[< prev]")
    worlds.step("click[buy now]")
    worlds.check(read_html, {"B000000001"})
