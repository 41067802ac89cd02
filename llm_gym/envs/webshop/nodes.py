"""What a page shows, as a list of pieces of text; observations, clickable names and the HTML agree on it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Literal, NamedTuple

from llm_gym.envs.webshop.pages import SUB_PAGES, DonePage
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.store import ShownResult

_HTML_SPACES = " \n\t\f\r"


class Node(NamedTuple):
    """One piece of text."""

    kind: Literal["text", "button", "option", "link"]
    text: str
    group: str = ""
    """Of an option: its name."""


Nodes = tuple[Node, ...]


def shown(text: str) -> bool:
    """Whether a page with this text shows a piece for it.

    None without text, and none for white space with a line break, which a page cannot tell from its own layout.
    """
    return bool(text) and (bool(text.strip(_HTML_SPACES)) or "\n" not in text)


def text_nodes(text: str) -> Nodes:
    """A piece as an HTML parser reads it: white space alone is one blank."""
    if not shown(text):
        return ()
    return (Node("text", text if text.strip(_HTML_SPACES) else " "),)


def search_nodes(instruction: str) -> Nodes:
    """The whole search page."""
    return (Node("text", "WebShop"), Node("text", "Instruction: "), *text_nodes(instruction), Node("button", "Search"))


def head_nodes(instruction: str) -> Nodes:
    """The top of every page between search and purchase."""
    return (Node("text", "Instruction:"), *text_nodes(instruction), Node("button", "Back to Search"))


def results_head_nodes(number: int, hits: int) -> Nodes:
    """Page number and the ways to other pages."""
    counted = Node("text", f"Page {number} (Total results: {hits})")
    previous = (Node("button", "< Prev"),) if number > 1 else ()
    return (counted, *previous, Node("button", "Next >"))


def result_nodes(result: ShownResult) -> Nodes:
    """One result."""
    return (Node("link", result.asin), *text_nodes(result.title), Node("text", result.price))


def option_nodes(name: str, values: tuple[str, ...]) -> Nodes:
    """One option with its values."""
    return (*text_nodes(name), *(Node("option", value, name) for value in values if shown(value)))


def item_nodes(product: Product, show_attributes: bool) -> Nodes:
    """The product itself, below its options."""
    attributes = (Node("button", "Attributes"),) if show_attributes else ()
    return (
        *text_nodes(product.title),
        Node("text", f"Price: {product.price_tag}"),
        Node("text", "Rating: N.A."),
        *(Node("button", name) for name in SUB_PAGES),
        *attributes,
        Node("button", "Buy Now"),
    )


def sub_page_nodes(product: Product, name: str) -> Nodes:
    """What a sub page adds to its head."""
    match name:
        case "Description":
            return text_nodes(product.description)
        case "Features":
            # A blank stands before each bullet, as in the original pages.
            return tuple(node for bullet in product.bullets for node in text_nodes(f" {bullet}"))
        case "Attributes":
            attributes = tuple(node for one in product.attributes for node in text_nodes(f" {one}"))
            groups = (product.category, product.query, product.product_category)
            return attributes + tuple(node for one in groups for node in text_nodes(one))
        case _:
            return ()  # the original never loads reviews


def _texts(*texts: str) -> Nodes:
    return tuple(Node("text", text) for text in texts)


# The last page. Most of what it lists was never filled in by the original's text environment.
THANKS = _texts(
    *("Thank you for shopping with us!", "Your code: ", "None", " (Paste it in your MTurk interface.)"),
    *("Purchased", "asin"),
)
BLANKS = _texts(
    *("attrs", "None", "category", "None", "query", "None", "product category", "None"),
    *("Target", "asin", "options", "attrs", "price upper", "instuction text", "category", "product category"),
    *("query", "Goal ", "None", "Reward", "Your score (min 0.0, max 1.0)"),
)
DETAILS = _texts("Reward Details ", "None")


def bought_nodes(screen: DonePage) -> Nodes:
    """What was bought; stands between `THANKS` and `BLANKS`."""
    item = screen.item
    return _texts(item.product.asin, "options", options_json(tuple(item.chosen.items())))


def score_nodes(screen: DonePage) -> Nodes:
    """The reward; stands between `BLANKS` and `DETAILS`."""
    return _texts(str(float(screen.breakdown.reward)))


@lru_cache(maxsize=1024)
def options_json(chosen: tuple[tuple[str, str], ...]) -> str:
    """The chosen options as the last page shows them: names sorted, characters of HTML escaped."""
    text = json.dumps(dict(chosen), sort_keys=True)
    for character, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("'", "\\u0027")):
        text = text.replace(character, escape)
    return text
