"""Parts of pages, rendered once and put together: a step costs microseconds because a product is rendered only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from llm_gym.envs.webshop import nodes
from llm_gym.envs.webshop.nodes import Node, Nodes
from llm_gym.envs.webshop.pages import DonePage, ItemPage, ResultsPage, Screen, SearchPage, SubPage
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.store import ShownResult

SEPARATOR = " [SEP] "
_PREVIOUS = (Node("button", "< Prev"),)
_KEPT_PAGES = 512


class Fragment:
    """Some nodes of a page with what is said about them, each way of saying made when first asked for."""

    __slots__ = ("_rich", "_text", "_visited", "clicks", "nodes")

    def __init__(self, content: Nodes) -> None:
        self.nodes = content
        self.clicks = _clicks(content)
        """Ready-made actions of buttons, links and options."""
        self._text: str | None = None
        self._rich: str | None = None
        self._visited: str | None = None

    @property
    def text(self) -> str:
        """The pieces, stripped, joined by ` [SEP] `."""
        if self._text is None:
            self._text = SEPARATOR.join([node.text.strip() for node in self.nodes])
        return self._text

    @property
    def rich(self) -> str:
        """One line a piece with a line break after it, nothing visited and nothing chosen."""
        if self._rich is None:
            self._rich = "".join([rich_line(node, marked=False) for node in self.nodes])
        return self._rich

    @property
    def visited(self) -> str:
        """The same, every product visited."""
        if self._visited is None:
            self._visited = "".join([rich_line(node, marked=node.kind == "link") for node in self.nodes])
        return self._visited

    @property
    def asin(self) -> str | None:
        """The product that the fragment links to."""
        return self.nodes[0].text if self.nodes and self.nodes[0].kind == "link" else None

    @property
    def has_options(self) -> bool:
        return bool(self.clicks[2])


def rich_line(node: Node, marked: bool) -> str:
    """A piece in `text_rich`; `marked` when the product was visited or the option is chosen."""
    match node.kind:
        case "text":
            return f"{node.text}\n"
        case "button":
            return f"[button] {node.text} [button_]\n"
        case "link":
            return (
                f"\n[clicked button] {node.text} [clicked button_]\n"
                if marked
                else f"\n[button] {node.text} [button_]\n"
            )
        case "option":
            button = "clicked button" if marked else "button"
            return f"  [{button}] {node.text} [{button}_]\n"


def _clicks(content: Nodes) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Option values stand in a page as they are, the names of buttons and products in lower case."""
    buttons, links, options = [], [], []
    for kind, text, _ in content:
        if kind == "button":
            buttons.append(f"click[{text.lower()}]")
        elif kind == "link":
            links.append(f"click[{text.lower()}]")
        elif kind == "option" and text != "search":  # an option of this name cannot be clicked, in the original neither
            options.append(f"click[{text}]")
    return tuple(buttons), tuple(links), tuple(options)


Page = tuple[Fragment, ...]
_THANKS, _BLANKS, _DETAILS = Fragment(nodes.THANKS), Fragment(nodes.BLANKS), Fragment(nodes.DETAILS)


class Fragments:
    """Makes pages out of fragments, and keeps the fragments of products that were shown lately.

    Args:
        find: a product by its id.
        card: what a page of results shows of it.
    """

    def __init__(
        self,
        find: Callable[[str], Product | None],
        card: Callable[[str], ShownResult],
        kept_products: int = 2048,
    ) -> None:
        self._find = find
        self._card = card
        self._result = lru_cache(maxsize=kept_products)(self._result_part)
        self._results = lru_cache(maxsize=_KEPT_PAGES)(self._results_parts)
        self.cards = lru_cache(maxsize=_KEPT_PAGES)(self._cards)
        """What a page with these results shows of each."""
        self._item = lru_cache(maxsize=kept_products)(self._item_parts)
        self._sub_page = lru_cache(maxsize=_KEPT_PAGES)(self._sub_page_part)

    def page(self, screen: Screen, instruction: str, show_attributes: bool) -> Page:
        """A page as fragments in reading order."""
        match screen:
            case SearchPage():
                return (_search(instruction),)
            case ResultsPage():
                head = (_head(instruction), _results_head(screen.number, len(screen.hits)))
                return head + self._results(screen.shown)
            case ItemPage():
                return (_head(instruction), *self._item(screen.product.asin, show_attributes))
            case SubPage():
                return (_head(instruction), self._sub_page(screen.item.product.asin, screen.name))
            case DonePage():
                bought, score = Fragment(nodes.bought_nodes(screen)), Fragment(nodes.score_nodes(screen))
                return (_THANKS, bought, _BLANKS, score, _DETAILS)

    def _results_parts(self, asins: tuple[str, ...]) -> Page:
        return tuple(self._result(asin) for asin in asins)

    def _cards(self, asins: tuple[str, ...]) -> tuple[ShownResult, ...]:
        return tuple(self._card(asin) for asin in asins)

    def _result_part(self, asin: str) -> Fragment:
        return Fragment(nodes.result_nodes(self._card(asin)))

    def _sub_page_part(self, asin: str, name: str) -> Fragment:
        product = self._find(asin)
        assert product is not None, "only products of the catalogue are shown"
        return Fragment(_PREVIOUS + nodes.sub_page_nodes(product, name))

    def _item_parts(self, asin: str, show_attributes: bool) -> Page:
        product = self._find(asin)
        assert product is not None, "only products of the catalogue are shown"
        options = [Fragment(nodes.option_nodes(name, values)) for name, values in product.options.items()]
        shown = [part for part in options if part.nodes]
        return (Fragment(_PREVIOUS), *shown, Fragment(nodes.item_nodes(product, show_attributes)))


@lru_cache(maxsize=1024)
def _head(instruction: str) -> Fragment:
    return Fragment(nodes.head_nodes(instruction))


@lru_cache(maxsize=1024)
def _results_head(number: int, hits: int) -> Fragment:
    return Fragment(nodes.results_head_nodes(number, hits))


@lru_cache(maxsize=1024)
def _search(instruction: str) -> Fragment:
    return Fragment(nodes.search_nodes(instruction))


def page_nodes(page: Iterable[Fragment]) -> Nodes:
    """All nodes of a page in reading order."""
    return tuple(node for part in page for node in part.nodes)


def clickables(page: Page) -> list[str]:
    """Ready-made clicks in the original's order: buttons, products, option values; each once."""
    clicks = [click for kind in range(3) for part in page for click in part.clicks[kind]]
    return list(dict.fromkeys(clicks))
