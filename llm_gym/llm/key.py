"""What tells one question from another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from llm_gym.llm.chat import Request


def answer_key(settings: Mapping[str, Any], request: Request) -> str:
    """SHA-256 of everything that determines an answer: who is asked, and the whole request with its seed."""
    text = json.dumps({"client": settings, "request": request}, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def prompt_digest(request: Request) -> str:
    """16 hexadecimal digits that tell a request from others, whoever is asked."""
    return answer_key({}, request)[:16]


def plain_request(request: Request) -> dict[str, Any]:
    """A request as JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(request, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    """A record as its fields, any mapping as a dictionary."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} has no JSON form.")
