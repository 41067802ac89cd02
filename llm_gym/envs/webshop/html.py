"""Pages as HTML, from one template compiled once; only made when somebody asks for HTML."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, Template

from llm_gym.envs.webshop.nodes import Node, screen_nodes
from llm_gym.envs.webshop.pages import SUB_PAGES, ResultsPage, Screen, Shop, SubPage


@cache
def _template() -> Template:
    environment = Environment(loader=PackageLoader("llm_gym.envs.webshop"), autoescape=True)
    return environment.get_template("page.html")


def as_html(screen: Screen, instruction: str, url: str, shop: Shop, show_attributes: bool) -> str:
    """The page as HTML; its texts and what can be clicked are those of the text observations."""
    nodes = screen_nodes(screen, instruction, shop, show_attributes)
    products = [shop.find(asin) for asin in screen.shown] if isinstance(screen, ResultsPage) else []
    return _template().render(
        kind=type(screen).__name__,
        screen=screen,
        nodes=nodes,
        details=_after_head(nodes) if isinstance(screen, SubPage) else (),
        products=[product for product in products if product is not None],
        sub_pages=(*SUB_PAGES, "Attributes") if show_attributes else SUB_PAGES,
        instruction=instruction,
        url=url,
    )


def _after_head(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """What a sub page shows below its last button."""
    return nodes[[node.kind for node in nodes].index("text", 3) :] if nodes[-1].kind == "text" else ()
