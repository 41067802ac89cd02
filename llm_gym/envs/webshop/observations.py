"""The four ways to read a page: `text`, `text_rich`, `html`, `url`."""

from __future__ import annotations

import json
from collections.abc import Callable

from llm_gym.envs.webshop.nodes import Node
from llm_gym.envs.webshop.pages import DonePage, ItemPage, ResultsPage, Screen, SearchPage, Session, SubPage
from llm_gym.envs.webshop.rules import Rules

MODES = ("text", "text_rich", "html", "url")
BASE_URL = "http://127.0.0.1:3000"


def as_text(nodes: tuple[Node, ...]) -> str:
    """All pieces, stripped, joined by ` [SEP] `; does not show which options are chosen."""
    return " [SEP] ".join([node.text.strip() for node in nodes])


def as_rich_text(nodes: tuple[Node, ...], session: Session, clicked: Callable[[Node], bool]) -> str:
    """One line a piece, what can be clicked in marks; each chosen option is announced above, the last one first."""
    lines = []
    announced = []
    for node in nodes:
        text = node.text
        if node.kind == "text":
            lines.append(text)
        elif node.kind == "button":
            lines.append(f"[button] {text} [button_]")
        elif node.kind == "link":
            mark = "clicked button" if text in session.visited else "button"
            lines.append(f"\n[{mark}] {text} [{mark}_]")
        elif clicked(node):
            lines.append(f"  [clicked button] {text} [clicked button_]")
            announced.append(f"You have clicked {text}.")
        else:
            lines.append(f"  [button] {text} [button_]")
    announced.reverse()
    return "\n".join([*announced, *lines, ""])


def clicked_test(screen: Screen, url: str, rules: Rules) -> Callable[[Node], bool]:
    """Whether an option is marked as chosen."""
    if not isinstance(screen, ItemPage):
        return lambda _: False
    if rules.clicked_by_url:
        return lambda node: f'"{node.text}"' in url
    chosen = screen.chosen
    return lambda node: chosen.get(node.group) == node.text


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
