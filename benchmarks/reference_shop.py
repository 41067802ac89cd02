"""The way the original WebShop makes a step, for comparison: every cost it pays, on the same pages.

The original renders each page from a template that it compiles anew (here the parts that all templates share are
compiled once, which flatters the reference), and reads the text and what can be clicked back
out of the HTML, once each; it searches with Lucene and parses the stored JSON of every hit; at the purchase it tags
two titles with spaCy. Parts that are not installed are left out and named in the result.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from bs4 import BeautifulSoup, Comment

from llm_gym.envs.webshop.actions import Search, parse
from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.goals import Goal
from llm_gym.envs.webshop.html import as_html, environment, template_name
from llm_gym.envs.webshop.nouns import SpacyNouns
from llm_gym.envs.webshop.observations import url_of
from llm_gym.envs.webshop.pages import DonePage, ResultsPage, Session, advance
from llm_gym.envs.webshop.rules import CORRECTED
from llm_gym.envs.webshop.shop import GoalShop

_INVISIBLE = frozenset({"style", "script", "head", "title", "meta", "[document]"})


class ReferenceShop:
    """One shopper, stepped as the original steps.

    Attributes:
        seconds: CPU seconds by part: "templates", "parsing", "search", "tagging", "rest".
        missing: names of parts that are not installed.
    """

    def __init__(self, catalogue: Catalogue, search_engine: str, tagger: SpacyNouns | None) -> None:
        self._catalogue = catalogue
        self._shop = GoalShop(catalogue, catalogue.engine("bm25"), CORRECTED)
        self._engine = catalogue.engine(search_engine)
        self._stored = {asin: json.dumps({"id": asin, "contents": text}) for asin, text in catalogue.documents()}
        self._tagger = tagger
        self._session = Session()
        self._html = ""
        self.seconds: dict[str, float] = defaultdict(float)

    def reset(self, goal: Goal) -> str:
        """The search page of a goal, as text."""
        self._shop.begin(goal)
        self._session = Session()
        page = self._page()
        with self._part("parsing"):
            BeautifulSoup(self._html, "html.parser").find(id="instruction-text")
        return page

    def step(self, action: str) -> str:
        """The page after an action, as text."""
        with self._part("parsing"):
            self._clickables()
        parsed = parse(action)
        if isinstance(parsed, Search):
            self._search(parsed.query)
        following = advance(self._session, parsed, self._shop, CORRECTED, show_attributes=False)
        assert isinstance(following, Session), following
        self._session = following
        if isinstance(following.screen, DonePage):
            self._tag(following.screen)
        elif isinstance(following.screen, ResultsPage):
            self._search(" ".join(following.screen.keywords))
        return self._page()

    def html(self) -> str:
        """The current page, from templates compiled now."""
        screen, shop, goal = self._session.screen, self._shop, self._shop.goal
        assert goal is not None
        page = self._catalogue.fragments.page(screen, goal.instruction, show_attributes=False)
        url = url_of(screen, goal.task_id)
        template = environment().from_string(self._source(template_name(screen)))
        return as_html(screen, page, goal.instruction, url, shop, False, template)

    @staticmethod
    @cache
    def _source(name: str) -> str:
        loader = environment().loader
        assert loader is not None
        return loader.get_source(environment(), name)[0]

    def _page(self) -> str:
        with self._part("templates"):
            self._html = self.html()
        with self._part("parsing"):
            return " [SEP] ".join(text.strip() for text in visible_texts(self._html))

    def _search(self, query: str) -> None:
        """The original searches again for every results page, and parses the stored document of every hit."""
        with self._part("search"):
            for asin in self._engine.search(query, 50):
                json.loads(self._stored[asin])

    def _tag(self, screen: DonePage) -> None:
        if self._tagger is None:
            return
        goal = self._shop.goal
        assert goal is not None
        wanted = self._shop.find(goal.asin)
        assert wanted is not None
        with self._part("tagging"):
            list(self._tagger.nouns([screen.item.product.title, wanted.title]))

    def _clickables(self) -> dict[str, Any]:
        soup = BeautifulSoup(self._html, "html.parser")
        found = soup.find_all(class_="btn") + soup.find_all(class_="product-link") + soup.select('input[type="radio"]')
        return {element.get_text().lower() or element.get("value"): element for element in found}

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        start = time.thread_time()
        yield
        self.seconds[name] += time.thread_time() - start


def visible_texts(html: str) -> Iterator[str]:
    """The text nodes of a page that a reader sees."""
    for text in BeautifulSoup(html, "html.parser").find_all(string=True):
        if not isinstance(text, Comment) and text.parent.name not in _INVISIBLE and text != "\n":
            yield str(text)
