"""The parsers: actions in both dialects, prices, options, task ids."""

from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llm_gym.envs.webshop.actions import Action, Click, Malformed, Search, parse, parse_original
from llm_gym.envs.webshop.goals import GOAL_KINDS, GoalKind, parse_task_id, query_of, task_id
from llm_gym.envs.webshop.product import RecordError, parse_options, parse_price

action_like = st.text(st.sampled_from("searchclick[] \nAb") | st.characters(codec="utf-8"), max_size=40)
bracketed = st.builds(
    "{}{}[{}]{}".format,
    st.sampled_from(["", " "]),
    st.sampled_from(["search", "click", "Click", "buy"]),
    action_like,
    action_like,
)


# -- actions -------------------------------------------------------------------------------------------------------


def parsed_by_the_original(text: str) -> Action | None:
    """The original's own expression; None stands for no action."""
    match = re.match(r"(.+)\[(.+)\]", text)
    if match is None or match[1] not in ("search", "click"):
        return None
    return Search(match[2].lower()) if match[1] == "search" else Click(match[2].lower())


@given(bracketed | action_like)
@example("search[]")
@example("search[]]")
@example("[x]")
@example("search[a]b]c")
@example("click[a [b]]")
@example("search[a\nb]")
@example("search[a]\n[b]")
@example("search\n[a]")
def test_original_parser_equals_the_originals_expression(text: str) -> None:
    ours = parse_original(text)
    assert (None if isinstance(ours, Malformed) else ours) == parsed_by_the_original(text)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("search[x] junk", Search("x")),
        ("search[Red Shoes]", Search("red shoes")),
        ("search[ x ]", Search(" x ")),
        ("click[a] b]", Click("a] b")),
        ("search[]", None),
        ("click [x]", None),
        ("click[a [b]]", None),
        ("think[x]", None),
        ("search", None),
        ("", None),
    ],
)
def test_original_parser_on_the_known_examples(text: str, action: Action | None) -> None:
    parsed = parse_original(text)
    assert parsed == action if action else isinstance(parsed, Malformed)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("search[Red Shoes]", Search("red shoes")),
        ("  Search [ x ]\n", Search("x")),
        ("click[a [b]]", Click("a [b]")),
        ("click[two\nlines]", Click("two\nlines")),
        ("search[x] junk", None),
        ("please search[x]", None),
        ("search[ ]", None),
        ("search[x", None),
        ("think[x]", None),
    ],
)
def test_corrected_parser_on_known_examples(text: str, action: Action | None) -> None:
    parsed = parse(text)
    assert parsed == action if action else isinstance(parsed, Malformed)


@given(st.sampled_from(["search", "click"]), st.text(min_size=1, max_size=30))
def test_corrected_parser_takes_any_argument_but_blanks(name: str, argument: str) -> None:
    parsed = parse(f"{name}[{argument}]")
    if argument.strip():
        assert parsed == (Search if name == "search" else Click)(argument.strip().lower())
    else:
        assert isinstance(parsed, Malformed)


@given(action_like)
def test_a_refusal_names_the_text_and_the_two_forms(text: str) -> None:
    for parser in (parse, parse_original):
        answer = parser(text)
        if isinstance(answer, Malformed):
            assert answer.reason.endswith("write search[words] or click[what the page shows].")
            assert len(answer.reason) < 500


@pytest.mark.parametrize("text", ["[" * 199_999 + "]", "]" + "[" * 199_999, "search" + "[" * 199_990, "a" * 200_000])
def test_enormous_actions_are_parsed_at_once(text: str) -> None:
    for parser in (parse, parse_original):
        began = time.perf_counter()
        parser(text)
        assert time.perf_counter() - began < 0.5


# -- prices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "prices"),
    [
        ("$15.00", (15.0,)),
        ("$1,299.00", (1299.0,)),
        ("$10.00 - $20.50", (10.0, 20.5)),
        ("$10.00$20.50", (10.0, 20.5)),
        ("$1$2$3", (1.0, 2.0)),
        ("from $.5", (0.5,)),
        ("USD 5 or $7", (7.0,)),
        ("15.00", ()),
        ("call us", ()),
        ("$1.2.3", ()),
        ("$", ()),
        ("$5 to $", ()),
        ("", ()),
        ("$" + "9" * 400, ()),
        (None, ()),
        (12.5, ()),
    ],
)
def test_price_text(text: object, prices: tuple[float, ...]) -> None:
    assert parse_price(text) == prices


@given(st.lists(st.decimals(0, 99_999, places=2), min_size=1, max_size=4))
def test_written_prices_are_read_back(amounts: list[object]) -> None:
    text = " - ".join(f"${amount:,}" for amount in amounts)
    assert parse_price(text) == tuple(float(amount) for amount in amounts[:2])  # type: ignore[arg-type]


@given(st.text(string.printable, max_size=20))
def test_any_price_text_gives_at_most_two_finite_numbers(text: str) -> None:
    prices = parse_price(text)
    assert len(prices) <= 2
    assert all(0 <= price < float("inf") for price in prices)


# -- options -------------------------------------------------------------------------------------------------------


def test_option_values_are_stripped_spaced_and_lower_cased() -> None:
    raw = {
        "Color": [{"value": " Red/Blue ", "image": "u"}, {"value": "RED"}, {"value": "RED", "image": ""}],
        "Size": None,
        "Fit": [],
    }
    options, images = parse_options(raw)
    assert options == {"color": ("red | blue", "red", "red"), "fit": ()}
    assert images == {"red | blue": "u", "red": None}


@pytest.mark.parametrize("raw", [None, "", {}, []])
def test_no_options(raw: object) -> None:
    assert parse_options(raw) == ({}, {})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("x", '"customization_options" should be an object, is str'),
        ({"size": "x"}, "option group 'size' should be a list of objects"),
        ({"size": ["x"]}, "option group 'size' should be a list of objects"),
        ({"size": [{"value": 7}]}, '"value" should be a text, is int'),
    ],
)
def test_malformed_options_are_named(raw: object, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_options(raw)
    assert str(caught.value) == message


@given(st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=6), max_size=4), max_size=4))
def test_every_value_has_an_image_entry_and_none_is_lost(raw: dict[str, list[str]]) -> None:
    options, images = parse_options({name: [{"value": value} for value in values] for name, values in raw.items()})
    assert {value for values in options.values() for value in values} <= set(images)
    for name, values in raw.items():
        if sum(other.lower() == name.lower() for other in raw) == 1:
            assert len(options[name.lower()]) == len(values)


# -- ids and queries -----------------------------------------------------------------------------------------------


@given(st.text(max_size=12), st.sampled_from(GOAL_KINDS), st.integers(0, 99_999))
def test_task_ids_are_read_back(asin: str, kind: GoalKind, ordinal: int) -> None:
    assert parse_task_id(task_id(asin, kind, ordinal)) == (asin, kind, ordinal)


@pytest.mark.parametrize(
    "text", ["", ".", "B01", "B01.", "B01.h", "B01.x1", "B01.h-1", "B01.h1.5", "B01.h١", "B01.h" + "9" * 5000]
)
def test_other_texts_are_no_task_ids(text: str) -> None:
    assert parse_task_id(text) is None


@pytest.mark.parametrize(
    ("instruction", "query"),
    [
        ("i am looking for a red shoe, and price lower than 40.00 dollars", "red shoe"),
        ("Find me a washable shoe with size: 7, and price lower than 40.00 dollars", "washable shoe with size: 7"),
        ("i need some [wide] shoes", "wide shoes"),
        ("red\nshoe", "red shoe"),
        ("", "product"),
        (", and price lower than 40.00 dollars", "product"),
    ],
)
def test_query_of_an_instruction(instruction: str, query: str) -> None:
    assert query_of(instruction) == query


@given(st.text(max_size=60))
def test_query_of_any_instruction_can_be_searched_in_both_dialects(instruction: str) -> None:
    query = query_of(instruction)
    for parser in (parse, parse_original):
        assert parser(f"search[{query}]") == Search(query.lower())
