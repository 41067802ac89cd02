"""Option groups and their values: colours, sizes, packs, flavours, styles, with the codes and tails real shops add."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.vocabulary import Kind, Vocabulary


@dataclass(frozen=True)
class OptionGroup:
    """One choice on the product page. `flavour` says how shoppers phrase it; `values` are in the loader's form."""

    name: str
    flavour: str  # color | size | pack | taste | scent | style
    values: tuple[str, ...]


def _base_color(dice: Dice, table: Mapping[str, Any]) -> str:
    colors = table["base_colors"]
    return str(list(colors)[dice.weighted(list(colors.values()))])


def _color_pair(dice: Dice, table: Mapping[str, Any]) -> str:
    joint = dice.pick((" | ", " | ", " & ", " and ", "+", "-"))
    return f"{_base_color(dice, table)}{joint}{_base_color(dice, table)}"


def _shade(dice: Dice, table: Mapping[str, Any]) -> str:
    return f"{dice.pick(table['shade_modifiers'])} {_base_color(dice, table)}"


def _fancy(dice: Dice, table: Mapping[str, Any]) -> str:
    shade = str(dice.pick(table["fancy_shades"]))
    form = dice.weighted((4, 2, 2))
    return shade if form == 0 else f"{shade} {dice.between(1, 40)}" if form == 1 else f"{shade} {_shade(dice, table)}"


def _coded_color(code: str, dice: Dice, table: Mapping[str, Any]) -> str:
    """A product's values share the style of their code: `z2-pink`, `03 navy`, `a1`."""
    letter, number = code[0], dice.between(1, 60)
    color = _base_color(dice, table)
    return dice.pick((f"{letter}{number}-{color}", f"{code} {color}", f"{number:02d} {color}", f"{letter}{number}"))


def _color_maker(dice: Dice, table: Mapping[str, Any]) -> Callable[[], str]:
    """Plain shops name base colours, fashionable ones shades, importers codes; the style is the product's.

    A product comes in shades of a few base colours (black, matte black, black | gold), which is one reason why the
    reward, reading only base colours, accepts two values in five.
    """
    style = dice.weighted((0.62, 0.22, 0.16))
    code = f"{dice.pick('abcdefhkz')}{dice.between(1, 9)}"
    palette = {"base_colors": {_base_color(dice, table): 1.0 for _ in range(dice.between(2, 4))}}
    narrow = {**table, **palette} if dice.chance(0.45) else table

    def make() -> str:
        if style == 2 and dice.chance(0.75):
            return _coded_color(code, dice, narrow)
        weights = (0.60, 0.16, 0.19, 0.05) if style == 0 else (0.14, 0.16, 0.46, 0.24)
        maker = (_base_color, _color_pair, _shade, _fancy)[dice.weighted(weights)]
        return maker(dice, narrow)

    return make


_PACKS = (1, 1, 2, 3, 4, 6, 8, 12)
_OUNCES = (0.5, 0.85, 1, 1.7, 2, 3, 3.4, 4, 5, 6, 7, 8, 8.5, 9, 10, 12, 14, 16, 18, 20, 24, 32)
_POUNDS = (1, 1.5, 2, 2.5, 3, 4, 5, 10)
_COUNTS = (1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 15, 16, 18, 20, 24, 30, 36, 48, 50)
_LENGTHS = (12, 16, 18, 20, 24, 28, 30, 32, 36, 40, 45, 48, 50, 54, 60, 63, 70, 72, 80, 84, 90)
_FEET = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
_INCHES = (4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 36, 40, 55, 60, 72, 84, 100, 120)

# Pool → (how one product writes its values, the numbers that stand at {a} and {b}). A seller keeps to one manner.
_MEASURES: dict[str, tuple[tuple[str, ...], Sequence[float], Sequence[float]]] = {
    "size:oz": (
        ("{a:g} ounce", "{a:g} fl oz", "{a:g} ounce (pack of {b})", "{a:g} fl oz (pack of {b})"),
        _OUNCES,
        _PACKS,
    ),
    "size:pack": (
        ("{a:g} ounce (pack of {b})", "{a:g} ounce (pack of {b})", "{a:g} ounce", "{a:g} oz (pack of {b})"),
        _OUNCES,
        _PACKS,
    ),
    "size:lb": (("{a:g} pound", "{a:g} pound (pack of {b})", "{a:g} lb"), _POUNDS, _PACKS),
    "size:ml": (("{a:g} ml", "{a:g}ml", "{a:g} ml (pack of {b})"), (5, 10, 15, 20, 30, 50, 60, 80, 100, 120), _PACKS),
    "count": (("{a:g} count", "{a:g} pack", "{a:g} pcs", "pack of {a:g}", "{a:g} piece set"), _COUNTS, _PACKS),
    "size:count": (("{a:g} count", "{a:g} pcs", "{a:g} count (pack of {b})"), _COUNTS, _PACKS),
    "size:dims": (
        (
            "{a:g} x {b} inch",
            '{a:g}" x {b}"',
            "{a:g}x{b} in",
            "{a:g} x {b}",
            "{a:g}w x {b}h inch",
            "{a:g} x {b} inches",
        ),
        _LENGTHS,
        _LENGTHS,
    ),
    "size:ft x ft": (
        ("{a:g} ft x {b} ft", "{a:g} x {b} feet", "{a:g}' x {b}'", "{a:g} ft 6 in x {b} ft"),
        _FEET,
        _FEET,
    ),
    "size:w x l": (
        ("{a:g}w x {b}l", "w{a:g} x l{b}", '{a:g}" x {b}"', "{a:g} x {b} inch"),
        (38, 42, 52, 60, 84),
        _LENGTHS,
    ),
    "size:shoe": (
        ("{a:g}", "{a:g}", "{a:g}", "{a:g} wide", "{a:g} narrow", "{a:g} medium"),
        [n / 2 for n in range(9, 28)],
        _PACKS,
    ),
    "size:ft": (
        ("{a:g} ft", "{a:g} feet", "{a:g}ft", "{a:g} ft {b} pack"),
        (1, 3, 5, 6, 6.6, 10, 12, 15, 20, 25, 33, 50),
        _PACKS,
    ),
    "size:inch": (("{a:g} inch", '{a:g}"', "{a:g} inches", "{a:g} in"), _INCHES, _PACKS),
    "size:waist": (("{a:g}w x {b}l", "{a:g}", "{a:g} short", "{a:g}w x {b}l"), range(26, 47), (28, 30, 32, 34, 36)),
    "size:mm": (("{a:g}mm", "{a:g} mm"), (18, 20, 22, 24, 38, 40, 41, 42, 44, 45, 49, 52, 58, 67, 72, 77, 82), _PACKS),
    "size:mah": (("{a:g}000 mah", "{a:g}000mah"), range(4, 51), _PACKS),
    "size:gb": (("{a:g}gb + {b}gb", "{a:g}gb ram {b}gb rom"), (1, 2, 3, 4, 6, 8), (8, 16, 32, 64, 128)),
    "size:tier": (("{a:g} tier", "{a:g} tiers", "{a:g} shelf", "{a:g}-tier"), range(2, 10), _PACKS),
    "size:lights": (("{a:g} light", "{a:g}-light", "{a:g} lights", "{a:g} head"), range(1, 10), _PACKS),
    "size:seats": (("{a:g} seater", "{a:g} seat", "{a:g} seats"), range(1, 8), _PACKS),
}


def _measure_maker(pool: str, dice: Dice) -> Callable[[], str]:
    manners, first, second = _MEASURES[pool]
    manner = dice.pick(manners)
    # A third of the products come in one amount and several packs, or in one width and several lengths.
    fixed = dice.pick(first) if "{b}" in manner and dice.chance(0.1) else None
    return lambda: manner.format(a=dice.pick(first) if fixed is None else fixed, b=dice.pick(second))


def _device(names: list[str], dice: Dice) -> str:
    return str(dice.pick(names))


def measure(kind: Kind, dice: Dice) -> str | None:
    """One size or pack in the manner of a kind's options; None where it has none."""
    pools = [pool for pool in kind.options if pool in _MEASURES]
    return _measure_maker(dice.pick(pools), dice)() if pools else None


def _with_tail(dice: Dice, words: list[str], tails: list[str]) -> str:
    first = str(dice.pick(words))
    return (f"{first} {dice.pick(words)}" if dice.chance(0.2) else first) + dice.pick(tails)


def _maker(pool: str, kind: Kind, category: str, dice: Dice, table: Mapping[str, Any]) -> Callable[[], str]:
    """The function that draws one value of a pool for one product."""
    if pool == "color":
        return _color_maker(dice, table)
    if pool in _MEASURES:
        return _measure_maker(pool, dice)
    if pool in {"style:phone", "style:tablet"}:
        names = table["devices"] if pool == "style:phone" else table["tablets"]
        return lambda: _device(names, dice)
    if pool in {"scent", "flavor"}:
        return lambda: _with_tail(dice, table[f"{pool}s"], table[f"{pool}_tails"])
    if pool == "style":
        styles = table["styles"][category]
        return lambda: f"{dice.pick(kind.words)} {dice.pick(styles)}" if dice.chance(0.5) else str(dice.pick(styles))
    return lambda: str(
        dice.pick(table[{"size:clothing": "clothing_sizes", "size:bed": "bed_sizes"}.get(pool, "letter_sizes")])
    )


def _clothing_run(dice: Dice, table: Mapping[str, Any], count: int) -> list[str]:
    """Neighbouring sizes, sometimes behind a code, as shops list them."""
    sizes = table["clothing_sizes"]
    start = dice.between(0, max(0, min(3, len(sizes) - count)))
    run = sizes[start : start + count]
    if dice.chance(0.12):
        return [f"{size} {dice.pick(('tall', 'plus', 'petite', 'big'))}" if dice.chance(0.4) else size for size in run]
    return list(run)


def _names(pool: str, dice: Dice) -> tuple[str, str]:
    """Name on the page and flavour in speech."""
    fixed = {"color": ("color", "color"), "count": ("size", "pack"), "size:pack": ("size", "pack")}
    if pool in fixed:
        return fixed[pool]
    if pool == "flavor":
        return dice.pick(("flavor name", "flavor name", "flavor")), "taste"
    if pool == "scent":
        return dice.pick(("scent", "scent", "scent name")), "scent"
    if pool.startswith("style"):
        return ("color" if pool != "style" and dice.chance(0.25) else "style"), "style"
    return "size", "pack" if pool in {"size:oz", "size:lb", "size:ml", "size:count"} else "size"


def _value_count(dice: Dice) -> int:
    """Two to forty-five; quantiles 2/3/4/6/14 in the official world."""
    return max(2, min(45, round(4.1 * math.exp(0.80 * dice.normal()))))


def _group(pool: str, kind: Kind, category: str, dice: Dice, table: Mapping[str, Any], taken: set[str]) -> OptionGroup:
    wanted = _value_count(dice)
    make = _maker(pool, kind, category, dice, table)
    draws = (
        _clothing_run(dice, table, max(3, wanted)) if pool == "size:clothing" else [make() for _ in range(2 * wanted)]
    )
    values: list[str] = []
    for value in draws:
        # Two groups with one value would overwrite each other in the engine, so a value is used once a product.
        if value not in taken and len(values) < max(wanted, 3 if pool == "size:clothing" else 2):
            values.append(value)
            taken.add(value)
    name, flavour = _names(pool, dice)
    return OptionGroup(name, flavour, tuple(values))


def make_groups(kind: Kind, category: str, count: int, dice: Dice, vocabulary: Vocabulary) -> tuple[OptionGroup, ...]:
    """Up to `count` groups with distinct names and at least two values each."""
    pools = list(kind.options) if count >= len(kind.options) else dice.shuffled(kind.options)[:count]
    if count > len(kind.options):
        pools.append("style" if "style" not in kind.options else "color")
    if category == "fashion":
        pools.sort()  # colour before size, as most shops order them
    groups: list[OptionGroup] = []
    taken: set[str] = set()
    for pool in pools:
        group = _group(pool, kind, category, dice, vocabulary.options, taken)
        if len(group.values) >= 2 and group.name not in {other.name for other in groups}:
            groups.append(group)
    return tuple(groups)


def raw_options(
    groups: tuple[OptionGroup, ...], asin: str, pictured: bool
) -> dict[str, list[dict[str, str | None]]] | str:
    """The file's form: capitals and slashes, which the loader turns back into `values`; "" without groups."""
    if not groups:
        return ""
    return {
        group.name.title(): [
            {
                "value": value.replace(" | ", "/").title(),
                "image": f"https://images.invented.shop/{asin}/{number}.jpg"
                if pictured and group.flavour == "color"
                else None,
            }
            for number, value in enumerate(group.values)
        ]
        for group in groups
    }
