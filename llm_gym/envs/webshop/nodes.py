"""What a page shows, as a list of pieces of text; observations, clickable names and the HTML agree on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from llm_gym.envs.webshop.pages import SUB_PAGES, DonePage, ItemPage, ResultsPage, Screen, SearchPage, Shop, SubPage
from llm_gym.envs.webshop.product import Product

_HTML_SPACES = " \n\t\f\r"


class Node(NamedTuple):
    """One piece of text."""

    kind: Literal["text", "button", "option", "link"]
    text: str
    group: str = ""
    """Of an option: its name."""


def shown(text: str) -> bool:
    """Whether a page with this text shows a piece for it.

    None without text, and none for white space with a line break, which a page cannot tell from its own layout.
    """
    return bool(text) and (bool(text.strip(_HTML_SPACES)) or "\n" not in text)


def _text(text: str) -> tuple[Node, ...]:
    """A piece as an HTML parser reads it: white space alone is one blank."""
    if not shown(text):
        return ()
    return (Node("text", text if text.strip(_HTML_SPACES) else " "),)


def screen_nodes(screen: Screen, instruction: str, shop: Shop, show_attributes: bool) -> tuple[Node, ...]:
    """All pieces of a page in reading order."""
    match screen:
        case SearchPage():
            return (
                Node("text", "WebShop"),
                Node("text", "Instruction: "),
                *_text(instruction),
                Node("button", "Search"),
            )
        case DonePage():
            return _done_nodes(screen)
        case _:
            pass
    head = (Node("text", "Instruction:"), *_text(instruction), Node("button", "Back to Search"))
    match screen:
        case ResultsPage():
            return head + tuple(_results_nodes(screen, shop))
        case ItemPage():
            return head + _item_nodes(screen.product, show_attributes)
        case SubPage():
            return (*head, Node("button", "< Prev"), *_sub_page_nodes(screen))


def _results_nodes(screen: ResultsPage, shop: Shop) -> Iterator[Node]:
    yield Node("text", f"Page {screen.number} (Total results: {len(screen.hits)})")
    if screen.number > 1:
        yield Node("button", "< Prev")
    yield Node("button", "Next >")
    for asin in screen.shown:
        product = shop.find(asin)
        if product is not None:
            yield from _result_nodes(product)


def _result_nodes(product: Product) -> tuple[Node, ...]:
    return (Node("link", product.asin), *_text(product.title), Node("text", product.price_tag))


def _item_nodes(product: Product, show_attributes: bool) -> tuple[Node, ...]:
    options = [
        node
        for name, values in product.options.items()
        for node in (*_text(name), *(Node("option", value, name) for value in values if shown(value)))
    ]
    return (
        Node("button", "< Prev"),
        *options,
        *_text(product.title),
        Node("text", f"Price: {product.price_tag}"),
        Node("text", "Rating: N.A."),
        *(Node("button", name) for name in SUB_PAGES),
        *((Node("button", "Attributes"),) if show_attributes else ()),
        Node("button", "Buy Now"),
    )


def _sub_page_nodes(screen: SubPage) -> tuple[Node, ...]:
    product = screen.item.product
    match screen.name:
        case "Description":
            return _text(product.description)
        case "Features":
            # A blank stands before each bullet, as in the original pages.
            return tuple(node for bullet in product.bullets for node in _text(f" {bullet}"))
        case "Attributes":
            attributes = tuple(node for one in product.attributes for node in _text(f" {one}"))
            return attributes + _text(product.category) + _text(product.query) + _text(product.product_category)
        case _:
            return ()  # the original never loads reviews


def _done_nodes(screen: DonePage) -> tuple[Node, ...]:
    """The last page. Most of what it lists was never filled in by the original's text environment."""
    texts = [
        "Thank you for shopping with us!",
        *("Your code: ", "None", " (Paste it in your MTurk interface.)"),
        *("Purchased", "asin", screen.item.product.asin, "options", options_json(tuple(screen.item.chosen.items()))),
        *("attrs", "None", "category", "None", "query", "None", "product category", "None"),
        *("Target", "asin", "options", "attrs", "price upper", "instuction text", "category", "product category"),
        *("query", "Goal ", "None", "Reward", "Your score (min 0.0, max 1.0)", str(float(screen.breakdown.reward))),
        *("Reward Details ", "None"),
    ]
    return tuple(Node("text", text) for text in texts)


@lru_cache(maxsize=1024)
def options_json(chosen: tuple[tuple[str, str], ...]) -> str:
    """The chosen options as the last page shows them: names sorted, characters of HTML escaped."""
    text = json.dumps(dict(chosen), sort_keys=True)
    for character, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("'", "\\u0027")):
        text = text.replace(character, escape)
    return text


def clickables(nodes: tuple[Node, ...]) -> list[str]:
    """Names that can be clicked, in the original's order: buttons, products, option values; each once."""
    names = [node.text.lower() for node in nodes if node.kind == "button"]
    names += [node.text.lower() for node in nodes if node.kind == "link"]
    names += [node.text for node in nodes if node.kind == "option"]
    return list(dict.fromkeys(names))
