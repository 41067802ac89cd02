"""How the corrected shop differs from the original: one field for each difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_gym.envs.webshop.actions import Action, parse, parse_original


@dataclass(frozen=True, slots=True)
class Rules:
    """The switches that tell `WebShop-v0` from `WebShop-v1`."""

    parse: Callable[[str], Action]
    """The original's parser cannot click an option that contains `[`, and ignores text after the last `]`."""
    search_anywhere: bool
    """The original searches on every page, not only where there is a search bar."""
    revives: bool
    """In the original a search after the purchase goes on shopping, and other actions do not end the episode again."""
    route_by_url: bool
    """The original finds the kind of a page by words in its address, so a query may lead `< Prev` astray."""
    exact_names: bool
    """The original wants a name that ends in a blank, as `red/` becomes, with this blank; corrected, blanks at the
    ends of what is clicked do not matter."""
    last_group_wins: bool
    """A value that two options share always sets the last of them in the original."""
    clicked_by_url: bool
    """The original marks an option as clicked when its quoted text stands anywhere in the address: names count,
    values of other options count, values with quotes or beyond ASCII never do."""
    one_word_category: bool
    """`search[<c> words]` takes only the first word in the original."""
    random_prices: bool
    """The original draws price limits and the price inside a range anew in every process (here: from `seed`)."""
    draw_off_by_one: bool
    """Drawing a task, the original never takes the first goal and takes the last twice as often."""


ORIGINAL = Rules(
    parse=parse_original,
    search_anywhere=True,
    revives=True,
    route_by_url=True,
    exact_names=True,
    last_group_wins=True,
    clicked_by_url=True,
    one_word_category=True,
    random_prices=True,
    draw_off_by_one=True,
)
CORRECTED = Rules(
    parse=parse,
    search_anywhere=False,
    revives=False,
    route_by_url=False,
    exact_names=False,
    last_group_wins=False,
    clicked_by_url=False,
    one_word_category=False,
    random_prices=False,
    draw_off_by_one=False,
)
