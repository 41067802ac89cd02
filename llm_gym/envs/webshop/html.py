"""Pages as HTML, from templates compiled once; only made when somebody asks for HTML."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, Template

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


@cache
def environment() -> Environment:
    """Where templates come from and where the compiled ones are kept."""
    return Environment(loader=PackageLoader("llm_gym.envs.webshop"), autoescape=True)


def template_name(screen: Screen) -> str:
    """The template of a page."""
    return _TEMPLATES[type(screen)]


def as_html(
    screen: Screen,
    page: Page,
    instruction: str,
    url: str,
    shop: Shop,
    show_attributes: bool,
    template: Template | None = None,
) -> str:
    """The page as HTML; its texts and what can be clicked are those of the text observations."""
    template = template or environment().get_template(template_name(screen))
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
