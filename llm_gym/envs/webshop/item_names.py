"""Names for the results of a search that say what they are."""

from __future__ import annotations


def item_names(results: list[tuple[str, str]]) -> dict[str, str]:
    """Name → action that opens it, of (id, title) pairs; every result has a name of its own.

    >>> item_names([("B01", "Red Shoe"), ("B02", "Red shoe")])
    {'item - red shoe': 'click[b01]', 'item - red shoe (2)': 'click[b02]'}
    """
    names: dict[str, str] = {}
    for asin, title in results:
        plain = f"item - {title.lower().strip()}".strip()
        name, count = plain, 1
        while name in names:
            count += 1
            name = f"{plain} ({count})"
        names[name] = f"click[{asin.lower()}]"
    return names
