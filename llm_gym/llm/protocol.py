"""Requests and answers as the JSON of OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import orjson

from llm_gym.core import Usage
from llm_gym.errors import RequestRefused, UnusableAnswer
from llm_gym.llm.chat import Completion, Finish, Message, Request, Tool, ToolCall
from llm_gym.llm.failures import Asked, failure
from llm_gym.llm.tokens import count_tokens

Structure = Literal["schema", "tools", "text"]
ANSWER_TOOL = "answer"
"""Name of the tool whose arguments are the answer, where a schema is asked for as a tool."""
_SEEDS = 2**31
"""Servers take seeds of 32 bits with or without sign."""
_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def body_of(request: Request, model: str, structure: Structure) -> dict[str, Any]:
    """What is sent.

    Raises:
        RequestRefused: the structure has no way to ask for this.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "temperature": request.temperature,
    }
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.seed is not None:
        body["seed"] = request.seed % _SEEDS
    return body | _structured(request, structure)


def completion_of(content: bytes, request: Request, structure: Structure, asked: Asked) -> Completion:
    """The answer in what came back with status 200.

    Raises:
        ChatError: there is none.
    """
    data = json_of(content, asked)
    if "error" in data and "choices" not in data:  # some gateways report errors with status 200
        code = data["error"].get("code") if isinstance(data["error"], dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        raise failure(asked, status, {}, content.decode("utf-8", "replace"))
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text, calls = _text_of(message.get("content")), _calls_of(message.get("tool_calls") or [])
        refusal = message.get("refusal")
    except (LookupError, TypeError, AttributeError) as error:
        raise UnusableAnswer(f"{asked.endpoint} answered without a choice: {_shown(content, asked)}") from error
    finish = _FINISHES.get(str(choice.get("finish_reason")), "stop")
    if isinstance(refusal, str) and refusal:
        raise RequestRefused(f"{asked.model} refused: {asked.quoted(refusal)}")
    if finish == "content_filter" and not text:
        raise RequestRefused(f"{asked.endpoint} filtered the whole answer of {asked.model}.")
    if request.schema is not None and finish != "content_filter":
        text, calls, finish = _answer_by_schema(text, calls, finish, structure, asked)
    named = data.get("model")
    reply = Message("assistant", text, calls)
    usage = _usage_of(data.get("usage"), request, reply, asked.model)
    return Completion(text, usage, calls, finish, named if isinstance(named, str) else "")


def json_of(content: bytes, asked: Asked) -> dict[str, Any]:
    """The object that a response is.

    Raises:
        UnusableAnswer: it is none.
    """
    if content.lstrip()[:1] == b"<":
        raise UnusableAnswer(
            f"{asked.endpoint} answered a web page instead of JSON. Is the base_url right? It mostly ends in /v1."
        )
    try:
        data = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnusableAnswer(
            f"{asked.endpoint} answered something that is no JSON: {_shown(content, asked)}"
        ) from error
    if not isinstance(data, dict):
        raise UnusableAnswer(f"{asked.endpoint} answered no object: {_shown(content, asked)}")
    return data


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": _sendable(message.content)}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": _function(call)} for call in message.tool_calls
        ]
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


def _function(call: ToolCall) -> dict[str, str]:
    return {"name": _sendable(call.name), "arguments": _sendable(call.arguments)}


def _sendable(text: str) -> str:
    """The text without halves of characters, which a model's JSON may hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def _structured(request: Request, structure: Structure) -> dict[str, Any]:
    if structure == "text":
        if request.tools:
            raise RequestRefused('structure="text" has no tool calls: choose "schema" or "tools", or another agent.')
        return {}
    if structure == "schema" or request.schema is None:
        body: dict[str, Any] = {"tools": [_tool(tool) for tool in request.tools]} if request.tools else {}
        if request.schema is not None:
            schema = {"name": ANSWER_TOOL, "schema": dict(request.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body
    if request.tools:
        raise RequestRefused('structure="tools" cannot ask for a schema and for other tools at once: choose "schema".')
    choice = {"type": "function", "function": {"name": ANSWER_TOOL}}
    return {"tools": [_tool(Tool(ANSWER_TOOL, "Give the answer.", request.schema))], "tool_choice": choice}


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _answer_by_schema(
    text: str, calls: tuple[ToolCall, ...], finish: Finish, structure: Structure, asked: Asked
) -> tuple[str, tuple[ToolCall, ...], Finish]:
    """The answer's text; notices a server that pays no heed to the structure that was asked for."""
    if structure == "tools":
        answers = [call.arguments for call in calls if call.name == ANSWER_TOOL]
        if answers:
            return answers[0], (), "stop" if finish == "tool_calls" else finish
        if finish != "length":
            raise RequestRefused(
                f"{asked.endpoint} did not call the tool that was asked for, so it or {asked.model} seems to have "
                f'none: choose structure="schema" or "text". It said: {asked.quoted(text)}'
            )
    if structure == "schema" and finish == "stop" and not calls and not _is_json(text):
        raise RequestRefused(
            f"{asked.endpoint} answered text that is no JSON although a schema was asked for, so it seems to have no "
            f'response_format: choose structure="tools" or "text". It said: {asked.quoted(text)}'
        )
    return text, calls, finish


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _text_of(content: Any) -> str:
    """Raises TypeError where it is neither a text nor a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(str(part["text"]) for part in content if part.get("type") == "text")
    raise TypeError("content is no text")


def _calls_of(calls: Any) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(str(call["function"]["name"]), _arguments(call["function"].get("arguments")), str(call.get("id", "")))
        for call in calls
    )


def _arguments(arguments: Any) -> str:
    """JSON of the arguments; some servers send the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _usage_of(usage: Any, request: Request, reply: Message, model: str) -> Usage:
    """As the server says; where it does not, as this package counts."""
    if isinstance(usage, Mapping):
        prompt, answer = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if type(prompt) is int and type(answer) is int and min(prompt, answer) >= 0:
            return Usage(prompt, answer)
    return Usage(count_tokens(request.messages, model), count_tokens([reply], model))


def _shown(content: bytes, asked: Asked) -> str:
    return asked.quoted(content[:10_000].decode("utf-8", "replace")) or "nothing."
