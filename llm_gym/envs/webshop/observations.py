"""The four ways to read a page: `text`, `text_rich`, `html`, `url`."""

from __future__ import annotations

import json
from collections.abc import Callable

from llm_gym.envs.webshop.fragments import SEPARATOR, Fragment, Page, rich_line
from llm_gym.envs.webshop.nodes import Node
from llm_gym.envs.webshop.pages import DonePage, ItemPage, ResultsPage, Screen, SearchPage, Session, SubPage
from llm_gym.envs.webshop.rules import Rules

MODES = ("text", "text_rich", "html", "url")
BASE_URL = "http://127.0.0.1:3000"


def as_text(page: Page) -> str:
    """All pieces, stripped, joined by ` [SEP] `; does not show which options are chosen."""
    return SEPARATOR.join([part.text for part in page if part.nodes])


def as_rich_text(page: Page, session: Session, url: str, rules: Rules) -> str:
    """One line a piece, what can be clicked in marks; each chosen option is announced above, the last one first."""
    screen = session.screen
    if isinstance(screen, ResultsPage) and session.visited:
        return "".join([part.visited if part.asin in session.visited else part.rich for part in page])
    if isinstance(screen, ItemPage):
        is_chosen = _chosen_test(screen, url, rules)
        if is_chosen is not None:
            return _with_choices(page, is_chosen)
    return "".join([part.rich for part in page])


def _chosen_test(screen: ItemPage, url: str, rules: Rules) -> Callable[[Node], bool] | None:
    """Whether an option is marked as chosen; None when no option can be."""
    if rules.clicked_by_url:
        return (lambda node: f'"{node.text}"' in url) if '"' in url else None
    chosen = screen.chosen
    return (lambda node: chosen.get(node.group) == node.text) if chosen else None


def _with_choices(page: Page, is_chosen: Callable[[Node], bool]) -> str:
    lines: list[str] = []
    announced: list[str] = []
    for part in page:
        if not part.has_options:
            lines.append(part.rich)
            continue
        lines.extend(_option_lines(part, is_chosen, announced))
    return "".join([*reversed(announced), *lines])


def _option_lines(part: Fragment, is_chosen: Callable[[Node], bool], announced: list[str]) -> list[str]:
    lines = []
    for node in part.nodes:
        marked = node.kind == "option" and is_chosen(node)
        lines.append(rich_line(node, marked))
        if marked:
            announced.append(f"You have clicked {node.text}.\n")
    return lines


def url_of(screen: Screen, session_id: str) -> str:
    """The address of a page, as the original's text environment forms it."""
    match screen:
        case SearchPage():
            return f"{BASE_URL}/{session_id}"
        case ResultsPage(keywords=keywords, number=number):
            return f"{BASE_URL}/search_results/{session_id}/{'+'.join(keywords)}/{number}"
        case ItemPage(product=product, origin=origin, chosen=chosen):
            options = json.dumps(dict(chosen))
            words = "+".join(origin.keywords)
            return f"{BASE_URL}/item_page/{session_id}/{product.asin}/{words}/{origin.number}/{options}"
        case SubPage(name=name, item=item):
            words = "+".join(item.origin.keywords)
            place = f"{session_id}/{item.product.asin}/{words}/{item.origin.number}"
            return f"{BASE_URL}/item_sub_page/{place}/{name}/{dict(item.chosen)}"
        case DonePage(item=item):
            return f"{BASE_URL}/done/{session_id}/{item.product.asin}/{dict(item.chosen)}"
