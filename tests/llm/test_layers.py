"""Layers around a client: counts, prices, budgets, limits, and what all have in common."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from llm_gym.core import Usage
from llm_gym.errors import BadRecord, BudgetExceeded, EndpointDown, InvalidSetting, MissingData, UnusableAnswer
from llm_gym.extras import installed
from llm_gym.llm import (
    Budgeted,
    Cached,
    ChatClient,
    Completion,
    Counted,
    Limited,
    Prices,
    Request,
    Retrying,
    ScriptedClient,
)
from llm_gym.llm.layer import Layer


def upper(request: Request) -> str:
    return request.messages[-1].content.upper()


needs_extra = pytest.mark.skipif(not installed("tenacity"), reason="the extra llm is not installed")
LAYERS: dict[str, Callable[[ChatClient, Path], Layer]] = {
    "budgeted": lambda client, folder: Budgeted(client, tokens=10_000),
    "cached": Cached,
    "counted": lambda client, folder: Counted(client),
    "limited": lambda client, folder: Limited(client, 2),
    "retrying": lambda client, folder: Retrying(client),
}
every_layer = pytest.mark.parametrize(
    "layer", [pytest.param(LAYERS[name], marks=needs_extra if name == "retrying" else [], id=name) for name in LAYERS]
)


@every_layer
def test_a_layer_answers_as_its_client_and_has_its_settings(
    layer: Callable[[ChatClient, Path], Layer], tmp_path: Path, question: Any
) -> None:
    client = ScriptedClient(upper, "gpt-4o")
    around: ChatClient = layer(client, tmp_path)
    assert around.complete(question("a")).text == "A"
    assert (around.model, around.settings()) == ("gpt-4o", client.settings())


@every_layer
def test_a_layer_is_used_from_threads_and_after_a_pickle(
    layer: Callable[[ChatClient, Path], Layer], tmp_path: Path, question: Any
) -> None:
    copy = pickle.loads(pickle.dumps(layer(ScriptedClient(["a"], "m"), tmp_path)))
    assert copy.complete(question()).text == "a"
    around = layer(ScriptedClient(upper), tmp_path)
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda n: around.complete(question(f"x{n}")).text, range(40)))
    assert given == [f"X{n}" for n in range(40)]


@needs_extra
def test_all_layers_stand_around_one_another(tmp_path: Path, question: Any) -> None:
    inner = Limited(Retrying(ScriptedClient(upper, "gpt-4o")), 1)
    client = Counted(Cached(Budgeted(inner, usd=1.0), tmp_path))
    assert [client.complete(question(text)).text for text in "aab"] == ["A", "A", "B"]
    assert (client.totals.answers, client.totals.cached) == (2, 1)


def test_cost_is_right_to_the_cent(question: Any) -> None:
    # gpt-4o costs 2.50 for a million read and 10.00 for a million written:
    # 120,000 × 2.50 / 1,000,000 = 0.30; 8,000 × 10.00 / 1,000,000 = 0.08; together 0.38
    # 4,000 × 2.50 / 1,000,000 = 0.01; 1,000 × 10.00 / 1,000,000 = 0.01; together 0.02
    usages = [Usage(120_000, 8_000), Usage(4_000, 1_000)]
    client = Counted(ScriptedClient([Completion("a", usage) for usage in usages], "gpt-4o"))
    assert [client.complete(question()).usage.cost_usd for _ in usages] == pytest.approx([0.38, 0.02])
    totals = client.totals
    assert (totals.prompt_tokens, totals.completion_tokens, totals.answers) == (124_000, 9_000, 2)
    assert totals.cost_usd == pytest.approx(0.40)


def test_an_unknown_price_is_unknown_and_never_nothing(question: Any) -> None:
    client = Counted(ScriptedClient(["a"], "nobody-knows"))
    assert client.totals.cost_usd == 0.0
    assert client.complete(question()).usage.cost_usd is None
    assert client.totals.cost_usd is None


def test_a_dated_version_has_no_price_of_another(question: Any) -> None:
    assert Prices.shipped().cost_usd("gpt-4o-2024-05-13", Usage(1, 1)) is None


def test_failures_and_seconds_are_counted(question: Any) -> None:
    def slow(request: Request) -> EndpointDown:
        time.sleep(0.02)
        return EndpointDown("no")

    client = Counted(ScriptedClient(slow))
    with pytest.raises(EndpointDown):
        client.complete(question())
    assert (client.totals.failures, client.totals.answers) == (1, 0)
    assert client.totals.seconds >= 0.02


def test_totals_are_whole_after_many_threads(question: Any) -> None:
    client = Counted(ScriptedClient(lambda request: Completion("a", Usage(3, 2)), "scripted"))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.complete(question(str(n))), range(500)))
    assert (client.totals.answers, client.totals.prompt_tokens) == (500, 1_500)
    assert client.totals.cost_usd == 0.0


def test_a_price_table_of_ones_own_goes_over_the_shipped_one(tmp_path: Path, question: Any) -> None:
    (tmp_path / "p.json").write_text(json.dumps({"date": "2030-01-01", "models": {"mine": [1, 2], "gpt-4o": [0, 0]}}))
    prices = Prices.read(tmp_path / "p.json")
    assert prices.cost_usd("mine", Usage(1_000_000, 500_000)) == 2.0
    assert prices.cost_usd("gpt-4o", Usage(9, 9)) == 0.0
    assert prices.cost_usd("gpt-4", Usage(1_000_000, 0)) == 30.0
    assert prices.date == "2030-01-01"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"date": "2030"}',
        '{"date": 3, "models": {}}',
        '{"date": "2030", "models": {"m": [1]}}',
        '{"date": "2030", "models": {"m": [1, -1]}}',
        '{"date": "2030", "models": {"m": [1, NaN]}}',
        '{"date": "2030", "models": {"m": [1, true]}}',
        '{"date": "2030", "models": {"m": [1, "2"]}}',
        '{"date": "2030", "models": []}',
    ],
)
def test_a_file_that_is_no_price_table_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(BadRecord, match="is no price table"):
        Prices.read(tmp_path / "p.json")


def test_a_price_table_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="cannot be read"):
        Prices.read(tmp_path / "none.json")


def test_a_budget_of_tokens_ends_the_asking(question: Any) -> None:
    client = Budgeted(ScriptedClient(lambda request: Completion("a", Usage(40, 10))), tokens=100)
    assert [client.complete(question()).text for _ in range(2)] == ["a", "a"]
    with pytest.raises(BudgetExceeded, match="100 of the 100 tokens that were allowed are spent"):
        client.complete(question())


def test_a_budget_of_dollars_ends_the_asking(question: Any) -> None:
    # 100,000 × 2.50 / 1,000,000 = 0.25 a call
    client = Budgeted(ScriptedClient(lambda request: Completion("a", Usage(100_000, 0)), "gpt-4o"), usd=0.5)
    for _ in range(2):
        client.complete(question())
    with pytest.raises(BudgetExceeded, match=r"\$0\.5000 of the \$0\.5000"):
        client.complete(question())


def test_a_budget_of_nothing_asks_nothing(question: Any) -> None:
    with pytest.raises(BudgetExceeded):
        Budgeted(ScriptedClient(["a"]), tokens=0).complete(question())


def test_answers_from_a_cache_are_free(tmp_path: Path, question: Any) -> None:
    client = Budgeted(Cached(ScriptedClient([Completion("a", Usage(40, 10))]), tmp_path), tokens=60)
    assert [client.complete(question()).text for _ in range(5)] == ["a"] * 5


@pytest.mark.parametrize(
    ("caps", "words"),
    [
        ({}, "needs usd or tokens"),
        ({"usd": 1.0}, "price of 'nobody-knows' is not known"),
        ({"tokens": -1}, "0 or more"),
        ({"usd": float("nan")}, "0 or more"),
    ],
)
def test_budgets_that_cannot_be_kept_are_refused(caps: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words):
        Budgeted(ScriptedClient([], "nobody-knows"), **caps)


def test_at_most_so_many_questions_are_there_at_once(chat_server: Any, question: Any) -> None:
    chat_server.usual.wait_s = 0.03
    client = Limited(chat_server.client(), 3)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: client.complete(question(str(n))), range(12)))
    assert chat_server.most_at_once == 3
    assert len(chat_server.asked) == 12


def test_a_failure_gives_its_place_back(question: Any) -> None:
    client = Limited(ScriptedClient([EndpointDown("no"), "yes"]), 1)
    with pytest.raises(EndpointDown):
        client.complete(question())
    assert client.complete(question()).text == "yes"


def test_no_places_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="1 or more"):
        Limited(ScriptedClient([]), 0)


def test_a_script_is_given_in_order_and_ends(question: Any) -> None:
    client = ScriptedClient(["a", Completion("b", Usage(1, 2, 0.5)), EndpointDown("c")])
    assert client.complete(question()).text == "a"
    assert client.complete(question()).usage == Usage(1, 2, 0.5)
    with pytest.raises(EndpointDown, match="c"):
        client.complete(question())
    with pytest.raises(UnusableAnswer, match="ends after 3 answers"):
        client.complete(question())


def test_a_scripts_tokens_are_counted(question: Any) -> None:
    # around: 3 + 3; "user" 1 token, 8 letters 2; "assistant" 3, 5 letters 2
    assert ScriptedClient(["12345"]).complete(question("12345678")).usage == Usage(9, 11)


def test_a_script_goes_round_among_threads_once(question: Any) -> None:
    client = ScriptedClient([str(n) for n in range(200)])
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda n: client.complete(question()).text, range(200)))
    assert sorted(given, key=int) == [str(n) for n in range(200)]


def test_a_pickled_script_goes_on_where_it_was(question: Any) -> None:
    client = ScriptedClient(["a", "b"])
    client.complete(question())
    assert pickle.loads(pickle.dumps(client)).complete(question()).text == "b"


def test_settings_tell_scripts_apart() -> None:
    scripts = [ScriptedClient(["a"]), ScriptedClient(["b"]), ScriptedClient(upper), ScriptedClient(["a"], "m")]
    assert len({json.dumps(script.settings()) for script in scripts}) == 4
    assert ScriptedClient(["a"]).settings() == ScriptedClient(["a"]).settings()
