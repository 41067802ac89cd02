"""What the refusal of an endpoint means: statuses and words of servers as errors of the package."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from llm_gym.errors import (
    AccessDenied,
    ChatError,
    ContextOverflow,
    EndpointDown,
    RateLimited,
    RequestRefused,
    UnknownModel,
)

_TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",  # OpenAI, vLLM
    "exceed_context_size",
    "exceeds the available context size",  # llama.cpp
    "context size has been exceeded",
    "maximum model length",  # vLLM
    "max_model_len",
    "context window",
    "context length",
    "prompt is too long",  # Anthropic
    "input is too long",
    "input token count",  # Google
    "too many tokens",
)
_FILTERED = ("content_filter", "content management policy", "content_policy", "responsibleaipolicy", "safety system")
_NO_MODEL = ("model_not_found", "invalid_model", "invalid model", "unknown model", "no such model")
_STRUCTURE = ("response_format", "json_schema", "json schema", "tool", "grammar", "function call", "parser")
_OUT_OF_MONEY = ("insufficient_quota", "billing", "credit balance")
SHOWN = 300
"""Characters of a server's own words that an error shows."""
_SHORTEST_SECRET = 8
"""What local servers are given for a key, such as `x`, is none, and would be found in many words."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked for what, for the sentence of an error."""

    endpoint: str
    model: str
    key_variable: str | None = None
    key: str = field(default="", repr=False)

    def quoted(self, body: str) -> str:
        """The server's own words as `said_by` has them, without the key: some servers repeat it."""
        secret = len(self.key) >= _SHORTEST_SECRET
        return said_by(body.replace(self.key, "(the key)") if secret else body)


def failure(asked: Asked, status: int, headers: Mapping[str, str], body: str) -> ChatError:
    """The error that an HTTP status of 400 or more means.

    Args:
        asked: who was asked.
        status: of the response.
        headers: of the response; the names may be in any case.
        body: of the response.
    """
    said, words = asked.quoted(body), body.lower()
    told = f"{asked.endpoint} answered {status}: {said}" if said else f"{asked.endpoint} answered {status}."
    if status in (401, 402, 403):
        source = f"the key in {asked.key_variable}" if asked.key_variable else "access (no key was sent)"
        return AccessDenied(f"{told} Check {source}.")
    if status in (429, 503, 529):
        return _wait(status, headers, words, told)
    if status in (400, 413, 422, 500) and (status == 413 or any(phrase in words for phrase in _TOO_LONG)):
        return ContextOverflow(f"{told} Send {asked.model} a shorter conversation.")
    if status in (404, 400, 422) and _means_no_model(status, words):
        return UnknownModel(f"{told} Is {asked.model!r} a model of this endpoint?")
    if status in (408, 409) or (status >= 500 and status != 501):
        return EndpointDown(told)
    return RequestRefused(f"{told}{_advice(status, words)}")


def said_by(body: str) -> str:
    """The server's own words, in one short line that ends with a full stop."""
    words = body
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        error = data.get("error", data)
        message = error.get("message", error.get("detail")) if isinstance(error, dict) else error
        words = message if isinstance(message, str) else body
    line = " ".join(words.split())
    if len(line) > SHOWN:
        return line[:SHOWN] + " …"
    return line if not line or line[-1] in ".!?" else f"{line}."


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date); None without a sound hint."""
    named = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(named.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < math.inf else None
    try:
        return max(0.0, parsedate_to_datetime(named.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _wait(status: int, headers: Mapping[str, str], words: str, told: str) -> ChatError:
    if status == 429 and any(phrase in words for phrase in _OUT_OF_MONEY):
        return AccessDenied(f"{told} The account behind the key has nothing left to spend.")
    hint = retry_after_s(headers)
    if status == 429 or hint is not None:
        return RateLimited(told, hint)
    return EndpointDown(told)


def _means_no_model(status: int, words: str) -> bool:
    return any(phrase in words for phrase in _NO_MODEL) or (status == 404 and "model" in words and "<html" not in words)


def _advice(status: int, words: str) -> str:
    if status == 404:
        return " Is the base_url right? It mostly ends in /v1."
    if any(phrase in words for phrase in _FILTERED):
        return " The content was filtered."
    if any(phrase in words for phrase in _STRUCTURE):
        return ' Another structure ("schema", "tools" or "text") may be possible there.'
    return ""
