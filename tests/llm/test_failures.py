"""What the words of real servers mean."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.core import Usage
from llm_gym.errors import (
    AccessDenied,
    ChatError,
    ContextOverflow,
    EndpointDown,
    RateLimited,
    RequestRefused,
    UnknownModel,
)
from llm_gym.llm import Message, Request
from llm_gym.llm.failures import SHOWN, Asked, failure, retry_after_s, said_by
from llm_gym.llm.protocol import completion_of

ASKED = Asked("http://host/v1", "small", "MY_KEY")


def openai(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, **more}})


SAID: list[tuple[str, int, str, type[ChatError]]] = [
    (
        "OpenAI",
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            code="context_length_exceeded",
        ),
        ContextOverflow,
    ),
    (
        "llama.cpp",
        400,
        openai(
            "request (10031 tokens) exceeds the available context size (4096 tokens), try increasing it",
            type="exceed_context_size_error",
            code=400,
        ),
        ContextOverflow,
    ),
    (
        "vLLM",
        400,
        json.dumps({"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."}),
        ContextOverflow,
    ),
    ("Anthropic", 400, openai("prompt is too long: 201000 tokens > 200000 maximum"), ContextOverflow),
    ("Google", 400, openai("The input token count (1100000) exceeds the maximum allowed"), ContextOverflow),
    ("a gateway", 413, "Payload Too Large", ContextOverflow),
    ("OpenAI", 401, openai("Incorrect API key provided: sk-a***b.", code="invalid_api_key"), AccessDenied),
    ("OpenAI", 429, openai("You exceeded your current quota", code="insufficient_quota"), AccessDenied),
    ("OpenRouter", 402, openai("Insufficient credits"), AccessDenied),
    ("OpenAI", 404, openai("The model `x` does not exist", code="model_not_found"), UnknownModel),
    ("Ollama", 404, openai('model "x" not found, try pulling it first'), UnknownModel),
    ("Mistral", 400, json.dumps({"message": "Invalid model: x"}), UnknownModel),
    ("nginx", 404, "<html><title>404 model</title></html>", RequestRefused),
    (
        "Azure",
        400,
        openai("triggering Azure OpenAI's content management policy", code="content_filter"),
        RequestRefused,
    ),
    ("Ollama", 400, openai("x does not support tools"), RequestRefused),
    ("llama.cpp", 501, openai("This server does not support embeddings."), RequestRefused),
    ("OpenAI", 400, openai("Unsupported parameter: 'max_tokens'", code="unsupported_parameter"), RequestRefused),
    ("FastAPI", 422, json.dumps({"detail": [{"loc": ["body", "seed"]}]}), RequestRefused),
    ("OpenAI", 500, openai("The server had an error"), EndpointDown),
    ("Anthropic", 529, openai("Overloaded"), EndpointDown),
    ("Cloudflare", 524, "<html>timeout</html>", EndpointDown),
    ("OpenAI", 429, openai("Rate limit reached for gpt-4o"), RateLimited),
]


@pytest.mark.parametrize(("server", "status", "said", "error"), SAID, ids=[f"{s[0]} {s[1]} {s[2][:30]}" for s in SAID])
def test_the_words_of_real_servers_are_understood(server: str, status: int, said: str, error: type[ChatError]) -> None:
    assert type(failure(ASKED, status, {}, said)) is error


def test_a_server_that_is_overloaded_may_say_for_how_long() -> None:
    found = failure(ASKED, 503, {"Retry-After": "3"}, "")
    assert isinstance(found, RateLimited)
    assert found.retry_after_s == 3.0


@pytest.mark.parametrize(
    ("header", "seconds"), [("0", 0.0), ("1.5", 1.5), ("-1", None), ("nan", None), ("1e999", None), ("soon", None)]
)
def test_a_hint_is_seconds_that_make_sense(header: str, seconds: float | None) -> None:
    assert retry_after_s({"Retry-After": header}) == seconds


def test_a_hint_may_be_a_date() -> None:
    seconds = retry_after_s({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert seconds is not None
    assert 97 < seconds <= 100
    assert retry_after_s({"retry-after": formatdate(time.time() - 100, usegmt=True)}) == 0.0


def test_long_words_are_cut() -> None:
    assert said_by("x" * 10_000) == "x" * SHOWN + " …"


@given(st.text(max_size=400), st.integers(400, 599), st.dictionaries(st.just("retry-after"), st.text(max_size=9)))
def test_anything_that_is_said_becomes_an_error(said: str, status: int, headers: dict[str, str]) -> None:
    assert isinstance(failure(ASKED, status, headers, said), ChatError)


FIELDS = [
    *("choices", "message", "content", "tool_calls", "function", "name", "arguments", "id", "usage", "prompt_tokens"),
    *("completion_tokens", "finish_reason", "error", "code", "model", "refusal", "text", "type"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
ANSWER = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": JSON, "finish_reason": JSON}), max_size=2)},
    optional={"usage": JSON, "model": JSON, "error": JSON},
)


@given(
    (JSON | ANSWER).map(lambda data: json.dumps(data).encode()) | st.binary(max_size=40),
    st.sampled_from(["schema", "tools", "text"]),
    st.none() | st.just({"type": "object"}),
)
def test_whatever_comes_back_is_an_answer_or_an_error(content: bytes, structure: Any, schema: Any) -> None:
    request = Request((Message("user", "?"),), schema=schema)
    try:
        completion = completion_of(content, request, structure, ASKED)
    except ChatError:
        return
    assert isinstance(completion.text, str)
    assert all(isinstance(call.arguments, str) for call in completion.tool_calls)
    assert isinstance(completion.usage, Usage)
    assert min(completion.usage.prompt_tokens, completion.usage.completion_tokens) >= 0
