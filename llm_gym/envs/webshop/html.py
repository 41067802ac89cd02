"""Pages as HTML, from templates compiled once; only made when somebody asks for HTML."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader

from llm_gym.envs.webshop.fragments import Page, page_nodes
from llm_gym.envs.webshop.pages import (
    SUB_PAGES,
    DonePage,
    ItemPage,
    ResultsPage,
    Screen,
    SearchPage,
    Shop,
    SubPage,
)

_TEMPLATES = {
    SearchPage: "search.html",
    ResultsPage: "results.html",
    ItemPage: "item.html",
    SubPage: "sub_page.html",
    DonePage: "done.html",
}


def make_environment(kept_templates: int = 20) -> Environment:
    """Where templates come from; with 0 kept ones every page compiles its templates anew."""
    return Environment(loader=PackageLoader("llm_gym.envs.webshop"), autoescape=True, cache_size=kept_templates)


_shared_environment = cache(make_environment)


def as_html(
    screen: Screen,
    page: Page,
    instruction: str,
    url: str,
    shop: Shop,
    show_attributes: bool,
    environment: Environment | None = None,
) -> str:
    """The page as HTML; its texts and what can be clicked are those of the text observations."""
    template = (environment or _shared_environment()).get_template(_TEMPLATES[type(screen)])
    products = [shop.find(asin) for asin in screen.shown] if isinstance(screen, ResultsPage) else []
    return template.render(
        screen=screen,
        nodes=page_nodes(page),
        details=page[1].nodes[1:] if isinstance(screen, SubPage) else (),  # below the last button
        products=products,
        sub_pages=(*SUB_PAGES, "Attributes") if show_attributes else SUB_PAGES,
        instruction=instruction,
        url=url,
    )
