"""Failures that pass, and failures that stay."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.errors import (
    AccessDenied,
    ChatError,
    ContextOverflow,
    EndpointDown,
    InvalidSetting,
    RateLimited,
    RequestRefused,
    UnknownModel,
    UnusableAnswer,
)
from llm_gym.extras import installed
from llm_gym.llm import Retrying, ScriptedClient

pytestmark = pytest.mark.skipif(not installed("tenacity"), reason="the extra llm is not installed")


def retrying(*answers: Any, **settings: Any) -> tuple[Retrying, list[float]]:
    """A client with such answers, and the list of its waits."""
    waits: list[float] = []
    return Retrying(ScriptedClient(answers), sleep=waits.append, **settings), waits


def test_waits_double_and_are_shortened_by_chance_up_to_half(question: Any) -> None:
    client, waits = retrying(*[EndpointDown("no")] * 4, "yes", first_wait_s=2, longest_wait_s=10)
    assert client.complete(question()).text == "yes"
    assert [low <= wait <= 2 * low for wait, low in zip(waits, [1, 2, 4, 5], strict=True)] == [True] * 4


def test_a_rate_limit_waits_as_long_as_the_server_asks_for(question: Any) -> None:
    client, waits = retrying(RateLimited("wait", 20.0), RateLimited("wait"), "yes")
    assert client.complete(question()).text == "yes"
    assert 20 <= waits[0] <= 21
    assert 1 <= waits[1] <= 2


def test_waits_are_the_same_for_the_same_seed_and_differ_between_questions(question: Any) -> None:
    def waits(text: str, seed: int) -> list[float]:
        client, waited = retrying(EndpointDown("no"), "yes", seed=seed)
        client.complete(question(text))
        return waited

    assert waits("a", 0) == waits("a", 0)
    assert waits("a", 0) != waits("a", 1)
    assert waits("a", 0) != waits("b", 0)


@pytest.mark.parametrize("error", [ContextOverflow, AccessDenied, UnknownModel, RequestRefused])
def test_what_stays_wrong_is_not_asked_again(question: Any, error: type[ChatError]) -> None:
    client, waits = retrying(error("no"), "yes")
    with pytest.raises(error, match="no"):
        client.complete(question())
    assert waits == []


def test_an_unusable_answer_is_asked_for_once_more(question: Any) -> None:
    client, waits = retrying(UnusableAnswer("first"), "yes", UnusableAnswer("a"), UnusableAnswer("b"), "never")
    assert client.complete(question()).text == "yes"
    with pytest.raises(UnusableAnswer, match="b"):
        client.complete(question())
    assert len(waits) == 2


def test_the_last_error_is_raised_when_the_attempts_are_used_up(question: Any) -> None:
    client, waits = retrying(EndpointDown("1"), EndpointDown("2"), EndpointDown("3"), "yes", attempts=3)
    with pytest.raises(EndpointDown, match="3"):
        client.complete(question())
    assert len(waits) == 2


def test_a_wait_that_would_take_too_long_is_not_begun(question: Any) -> None:
    client, waits = retrying(RateLimited("come tomorrow", 86_400.0), "yes", total_s=60)
    with pytest.raises(RateLimited, match="come tomorrow"):
        client.complete(question())
    assert waits == []


def test_a_server_in_trouble_is_asked_until_it_answers(chat_server: Any, question: Any) -> None:
    chat_server.next({"error": "busy"}, 429, headers={"Retry-After": "0.01"}).next("oh", 500).next(b'{"cho')
    client = Retrying(chat_server.client(), first_wait_s=0.01)
    with pytest.raises(UnusableAnswer):  # it was not the first failure
        client.complete(question())
    chat_server.next("oh", 500)
    assert client.complete(question()).text == "fine"
    assert len(chat_server.asked) == 5


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="attempts"):
        Retrying(ScriptedClient([]), attempts=0)
