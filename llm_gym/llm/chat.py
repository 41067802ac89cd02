"""The records of a conversation with a model, and what a client is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from llm_gym.core import Usage

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for."""

    name: str
    arguments: str
    """JSON, as the model wrote it: it may be none."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant's turn."""
    tool_call_id: str = ""
    """Of a tool's turn: which call it answers."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments, an object."""


@dataclass(frozen=True, slots=True)
class Request:
    """All that determines an answer, but for the model itself.

    Attributes:
        messages: the conversation, oldest first.
        temperature: 0 or more; the paper of Additional Opinions uses 0.01.
        max_tokens: of the answer; None: as many as the model will.
        stop: the answer ends before any of these.
        schema: JSON schema that the answer must follow; None: free text. A client that cannot ask for it says so.
        tools: what the model may call.
        seed: tells apart requests that are equal but for chance, such as those of two repeats; given to the server
            where it takes one.
    """

    messages: tuple[Message, ...]
    temperature: float = 0.01
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    tools: tuple[Tool, ...] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer."""

    text: str
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    model: str = ""
    """As the server names it."""
    cached: bool = False
    """It was kept from an earlier call: `usage` says what that call cost, and nothing was paid now."""


class ChatClient(Protocol):
    """A model that answers. Layers (retry, cache, count, budget, limit) are clients around a client.

    Clients are safe to use from several threads, and can be pickled, so that an evaluation can send them to other
    processes.
    """

    @property
    def model(self) -> str:
        """Name of the model that is asked."""

    def settings(self) -> dict[str, Any]:
        """What distinguishes this client from others, as JSON, without secrets; part of a plan's fingerprint."""

    def complete(self, request: Request) -> Completion:
        """Ask.

        Raises:
            ChatError: there is no answer; the subclass says why and whether asking again may help.
            BudgetExceeded: asking would cost more than was allowed.
        """
