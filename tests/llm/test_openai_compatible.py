"""A real client against a real server that may misbehave."""

from __future__ import annotations

import pickle
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llm_gym.core import Usage
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
from llm_gym.llm import Completion, Message, OpenAICompatible, Request, Tool, ToolCall

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def body(server: Any, number: int = -1) -> dict[str, Any]:
    path, _, sent = server.asked[number]
    assert path == "/v1/chat/completions"
    return sent


def test_an_answer_brings_text_usage_and_the_servers_name_of_the_model(chat_server: Any, question: Any) -> None:
    given = chat_server.client().complete(question())
    assert given == Completion("fine", Usage(12, 5), model="small-2026")


def test_all_of_a_request_is_sent_and_nothing_else(chat_server: Any) -> None:
    talk = (
        Message("system", "Be kind."),
        Message("user", "Sum?"),
        Message("assistant", "", (ToolCall("add", '{"a": 1}', "c1"),)),
        Message("tool", "2", tool_call_id="c1"),
    )
    tool = Tool("add", "Adds.", {"type": "object"})
    chat_server.client().complete(Request(talk, 0.5, 7, ("\n",), None, (tool,), seed=2**62 + 3))
    assert body(chat_server) == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Sum?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "content": "2", "tool_call_id": "c1"},
        ],
        "temperature": 0.5,
        "max_tokens": 7,
        "stop": ["\n"],
        "seed": 3,
        "tools": [
            {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}
        ],
    }


def test_half_a_character_is_replaced(chat_server: Any) -> None:
    half = "a\ud83d"
    chat_server.client().complete(Request((Message("assistant", half, (ToolCall(half, half),)),)))
    [sent] = body(chat_server)["messages"]
    assert (sent["content"], sent["tool_calls"][0]["function"]) == ("a?", {"name": "a?", "arguments": "a?"})


def test_what_is_not_asked_for_is_not_sent(chat_server: Any, question: Any) -> None:
    chat_server.client().complete(question())
    assert set(body(chat_server)) == {"model", "messages", "temperature"}


def test_parameters_are_sent_over_the_request_and_none_leaves_one_out(chat_server: Any, question: Any) -> None:
    client = chat_server.client(parameters={"max_tokens": None, "max_completion_tokens": 9, "temperature": 1})
    client.complete(question(max_tokens=5))
    assert set(body(chat_server)) == {"model", "messages", "temperature", "max_completion_tokens"}
    assert body(chat_server)["temperature"] == 1


def test_a_key_is_sent_where_one_is_chosen_and_no_header_where_none_is(
    chat_server: Any, question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    chat_server.client(key_variable="MY_KEY").complete(question())
    chat_server.client().complete(question())
    assert [headers.get("authorization") for _, headers, _ in chat_server.asked] == [f"Bearer {KEY}", None]


def test_a_missing_key_is_said_before_anything_is_sent(chat_server: Any, question: Any) -> None:
    with pytest.raises(AccessDenied, match=r"OPENAI_API_KEY holds no key .* key_variable=None"):
        chat_server.client(key_variable="OPENAI_API_KEY").complete(question())
    assert chat_server.asked == []


def test_a_key_that_is_none_is_said(chat_server: Any, question: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "“quoted”")
    with pytest.raises(AccessDenied, match="holds characters that no key has"):
        chat_server.client(key_variable="OPENAI_API_KEY").complete(question())


TOO_LONG = {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": "x"}}
WRONG: list[tuple[object, int, type[ChatError], str]] = [
    ({"error": {"message": "Incorrect API key."}}, 401, AccessDenied, "answered 401: Incorrect API key. Check access"),
    ({"error": {"message": "Country"}}, 403, AccessDenied, "answered 403: Country"),
    ({"error": {"message": "The model `small` does not exist"}}, 404, UnknownModel, "Is 'small' a model of this"),
    (b"<html>not here</html>", 404, RequestRefused, "Is the base_url right"),
    (TOO_LONG, 400, ContextOverflow, "maximum context length is 4096 tokens. Send small a shorter conversation."),
    ({"error": {"message": "no", "code": "content_filter"}}, 400, RequestRefused, "The content was filtered."),
    ({"error": {"message": "Bad 'temperature'"}}, 400, RequestRefused, "answered 400: Bad 'temperature'."),
    ({"error": {"message": "no json_schema here"}}, 400, RequestRefused, "Another structure"),
    ({"error": {"message": "oh"}}, 500, EndpointDown, "answered 500: oh."),
    (b"", 502, EndpointDown, "answered 502."),
    ({"error": {"message": "Loading model"}}, 503, EndpointDown, "Loading model"),
    (b"<!DOCTYPE html><p>Hello</p>", 200, UnusableAnswer, "a web page instead of JSON"),
    (b'{"choices": [', 200, UnusableAnswer, 'no JSON: {"choices": ['),
    (b"[1]", 200, UnusableAnswer, "no object"),
    (b"", 200, UnusableAnswer, "nothing."),
    (b"[" * 100_000, 200, UnusableAnswer, "no JSON"),
    ({"choices": []}, 200, UnusableAnswer, "without a choice"),
    ({"choices": [{"message": None}]}, 200, UnusableAnswer, "without a choice"),
    ({"error": {"message": "Slow down", "code": 429}}, 200, RateLimited, "Slow down"),
    ({"error": "broken"}, 200, EndpointDown, "broken"),
]


@pytest.mark.parametrize(("said", "status", "error", "words"), WRONG, ids=[f"{w[1]}-{w[3][:20]}" for w in WRONG])
def test_every_failure_has_its_error_and_its_sentence(
    chat_server: Any, question: Any, said: object, status: int, error: type[ChatError], words: str
) -> None:
    chat_server.next(said, status)
    with pytest.raises(ChatError) as caught:
        chat_server.client().complete(question())
    assert type(caught.value) is error
    assert words in str(caught.value)
    assert len(str(caught.value)) < 700
    assert len(chat_server.asked) == 1


@pytest.mark.parametrize(
    ("headers", "hint"), [({"Retry-After": "7"}, 7.0), ({}, None), ({"retry-after-ms": "250"}, 0.25)]
)
def test_a_rate_limit_brings_the_servers_hint(
    chat_server: Any, question: Any, headers: dict[str, str], hint: float | None
) -> None:
    chat_server.next({"error": {"message": "Too many requests"}}, 429, headers=headers)
    with pytest.raises(RateLimited, match="Too many requests") as caught:
        chat_server.client().complete(question())
    assert caught.value.retry_after_s == hint


def test_a_server_that_is_not_there_is_said(question: Any, chat_server: Any) -> None:
    client = OpenAICompatible("small", "http://127.0.0.1:9/v1", key_variable=None)
    with pytest.raises(EndpointDown, match=r"cannot be reached: .*refused\. Is the server running\?"):
        client.complete(question())


def test_a_slow_server_is_given_up(chat_server: Any, question: Any) -> None:
    chat_server.next({}, wait_s=1.5)
    with pytest.raises(EndpointDown, match=r"gave no answer in 0\.2 s"):
        chat_server.client(timeout_s=0.2).complete(question())


def test_a_server_that_drips_is_given_up_although_each_drop_is_in_time(
    chat_server: Any, question: Any, answer: Any
) -> None:
    chat_server.next(answer("x" * 1000), wait_s=0.1, drips=True)
    with pytest.raises(EndpointDown, match=r"had not answered wholly after 0\.4 s"):
        chat_server.client(timeout_s=0.4).complete(question())


def test_a_connection_that_is_cut_is_said(chat_server: Any, question: Any, answer: Any) -> None:
    chat_server.next(answer("x" * 1000), cut=100)
    with pytest.raises(EndpointDown, match="broke off its answer"):
        chat_server.client().complete(question())


def test_an_answer_of_a_megabyte_is_not_read_to_its_end(chat_server: Any, question: Any, answer: Any) -> None:
    chat_server.next(answer("x" * 1_000_000))
    with pytest.raises(UnusableAnswer, match="more than 524,288 bytes"):
        chat_server.client().complete(question())
    assert chat_server.client().complete(question()).text == "fine"


def test_an_answer_that_was_filtered_away_is_refused_and_a_cut_one_is_given(
    chat_server: Any, question: Any, answer: Any
) -> None:
    chat_server.next(answer("", finish="content_filter")).next(answer("Once", finish="content_filter"))
    with pytest.raises(RequestRefused, match="filtered the whole answer"):
        chat_server.client().complete(question())
    assert chat_server.client().complete(question()).finish == "content_filter"


def test_a_models_refusal_is_told_in_its_words(chat_server: Any, question: Any, answer: Any) -> None:
    chat_server.next(answer(None, refusal="I cannot help with that"))
    with pytest.raises(RequestRefused, match=r"small refused: I cannot help with that\."):
        chat_server.client().complete(question())


def test_tokens_are_counted_here_where_the_server_does_not_say(chat_server: Any, question: Any, answer: Any) -> None:
    chat_server.next({**answer("abcdefgh"), "usage": None})
    # 3 + 3 around; "user" is one token, 8 letters are two, "assistant" is 9 letters
    assert chat_server.client().complete(question("12345678")).usage == Usage(3 + 3 + 1 + 2, 3 + 3 + 3 + 2)


def test_a_schema_is_asked_for_as_response_format(chat_server: Any, question: Any, answer: Any) -> None:
    chat_server.next(answer('{"n": 3}'))
    assert chat_server.client().complete(question(schema=SCHEMA)).text == '{"n": 3}'
    wanted = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert body(chat_server)["response_format"] == {"type": "json_schema", "json_schema": wanted}


def test_a_schema_is_asked_for_as_a_tool(chat_server: Any, question: Any, answer: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "answer", "arguments": '{"n": 3}'}}
    chat_server.next(answer(None, finish="tool_calls", tool_calls=[call]))
    given = chat_server.client(structure="tools").complete(question(schema=SCHEMA))
    assert (given.text, given.tool_calls, given.finish) == ('{"n": 3}', (), "stop")
    assert body(chat_server)["tool_choice"] == {"type": "function", "function": {"name": "answer"}}
    assert body(chat_server)["tools"][0]["function"]["parameters"] == SCHEMA


def test_a_schema_is_left_to_the_prompt(chat_server: Any, question: Any) -> None:
    assert chat_server.client(structure="text").complete(question(schema=SCHEMA)).text == "fine"
    assert set(body(chat_server)) == {"model", "messages", "temperature"}


@pytest.mark.parametrize(("structure", "lacks"), [("schema", "response_format"), ("tools", "tool")])
def test_a_server_that_pays_no_heed_to_the_structure_is_noticed(
    chat_server: Any, question: Any, structure: str, lacks: str
) -> None:
    with pytest.raises(RequestRefused, match=rf"(?s){lacks}.*choose structure=.*It said: fine\."):
        chat_server.client(structure=structure).complete(question(schema=SCHEMA))


def test_an_answer_that_is_cut_by_its_length_is_no_sign_of_that(chat_server: Any, question: Any, answer: Any) -> None:
    chat_server.next(answer('{"n": ', finish="length"))
    given = chat_server.client().complete(question(schema=SCHEMA))
    assert (given.text, given.finish) == ('{"n": ', "length")


def test_tool_calls_are_given_as_the_model_wrote_them(chat_server: Any, question: Any, answer: Any) -> None:
    calls = [
        {"id": "c1", "function": {"name": "click", "arguments": '{"item": '}},
        {"id": "c2", "function": {"name": "search", "arguments": {"words": "red"}}},
    ]
    chat_server.next(answer(None, finish="tool_calls", tool_calls=calls))
    given = chat_server.client().complete(question(tools=(Tool("click", "", {}),)))
    assert given.tool_calls == (ToolCall("click", '{"item": ', "c1"), ToolCall("search", '{"words": "red"}', "c2"))
    assert (given.text, given.finish) == ("", "tool_calls")


def test_text_has_no_tool_calls_and_tools_no_schema_beside_others(chat_server: Any, question: Any) -> None:
    tools = (Tool("click", "", {}),)
    with pytest.raises(RequestRefused, match='structure="text" has no tool calls'):
        chat_server.client(structure="text").complete(question(tools=tools))
    with pytest.raises(RequestRefused, match="at once"):
        chat_server.client(structure="tools").complete(question(tools=tools, schema=SCHEMA))
    assert chat_server.asked == []


def test_the_key_is_in_no_repr_setting_error_or_pickle(
    chat_server: Any, question: Any, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client = chat_server.client(key_variable="OPENAI_API_KEY")
    client.complete(question())
    told = [repr(client), repr(client._endpoint), repr(client.settings()), repr(pickle.dumps(client))]
    for status in (401, 400, 500, 200):
        chat_server.next(f"Wrong key {KEY}!".encode(), status)
        with pytest.raises(ChatError) as caught:
            client.complete(question())
        told += ["".join(traceback.format_exception(caught.value)), repr(pickle.dumps(caught.value))]
        assert "Wrong key (the key)!" in str(caught.value)
    assert not any(KEY in text for text in told)


def test_an_answer_is_not_changed_by_a_key_that_is_a_word(
    chat_server: Any, question: Any, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_server.next(answer("Anything goes, with x and anything.")).next({"error": "extra x"}, 400)
    monkeypatch.setenv("LOCAL_KEY", "anything")
    client = chat_server.client(key_variable="LOCAL_KEY")
    assert client.complete(question()).text == "Anything goes, with x and anything."
    monkeypatch.setenv("LOCAL_KEY", "x")
    with pytest.raises(RequestRefused, match=r"extra x\."):
        client.complete(question())


def test_a_client_is_used_from_many_threads_and_after_a_pickle(chat_server: Any, question: Any) -> None:
    client = chat_server.client()
    client.complete(question())
    copy = pickle.loads(pickle.dumps(client))
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda n: [client, copy][n % 2].complete(question(str(n))).text, range(40)))
    assert given == ["fine"] * 40
    assert {body(chat_server, n)["messages"][0]["content"] for n in range(1, 41)} == {str(n) for n in range(40)}
    assert threading.active_count() < 60


def test_settings_tell_models_addresses_and_structures_apart_and_a_name_hides_the_port() -> None:
    def settings(*given: Any, **named: Any) -> dict[str, Any]:
        return OpenAICompatible(*given, **named).settings()

    assert settings("a")["endpoint"] == "https://api.openai.com/v1"
    assert settings("a", "http://h/v1") == settings("a", "http://h/v1/", timeout_s=1, key_variable="K")
    assert settings("a", "http://h:1/v1", name="mine") == settings("a", "http://h:2/v1", name="mine")
    assert settings("a") != settings("b")
    assert settings("a") != settings("a", structure="text")
    assert settings("a") != settings("a", parameters={"top_p": 0.9})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"base_url": "127.0.0.1:8080"}, "must be like http://"),
        ({"base_url": "http://me:secret@host/v1"}, "belongs into the environment"),
        ({"base_url": "http://host/v1?key=secret"}, "belongs into the environment"),
        ({"base_url": "http://host:port/v1"}, "is no address"),
        ({"base_url": "http://[::1/v1"}, "is no address"),
        ({"timeout_s": 0}, "more than 0"),
        ({"structure": "yaml"}, "Unknown structure 'yaml'"),
        ({"parameters": {"stream": True}}, "may not hold stream"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words) as caught:
        OpenAICompatible("m", **wrong)
    assert "secret" not in str(caught.value)


def test_a_local_server_is_asked_without_the_proxy(
    chat_server: Any, question: Callable[..., Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert chat_server.client().complete(question()).text == "fine"
