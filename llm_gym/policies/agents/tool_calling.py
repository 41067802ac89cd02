"""The agent that calls tools by the protocol's own means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from llm_gym.llm.chat import Completion, Message, Request, Tool, ToolCall
from llm_gym.llm.prompt import Part
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.agents.commands import Parsed, Unparsed, command_from
from llm_gym.policies.agents.exchange import Exchange
from llm_gym.policies.agents.parse import Unread, read_object
from llm_gym.policies.prompts import prompt


class ToolCallingPolicy(AgentPolicy):
    """Gives its commands as tool calls; its arguments are those of every agent.

    Of several calls in an answer the first counts: the others were made without seeing what it leads to.
    """

    name = "tools"

    def _base(self) -> str:
        texts = prompt("tools")
        examples = (
            texts["demonstration"].format(page=one.page, thought=one.text, call=_call(one.command))
            for one in self._shown
        )
        return "\n\n".join([texts["base"].format(**self._told), *examples])

    def _turn(self, page: str, suggestion: str) -> list[Message]:
        called = self._past[-1].tool_calls if self._past else ()
        if called and isinstance(self._last, Parsed):
            answer = Message("tool", page, tool_call_id=called[0].id)
            return [answer, *([Message("user", suggestion)] if suggestion else [])]
        if isinstance(self._last, Unparsed):
            page = prompt("tools")["error"].format(hint=self._last.hint, page=page)
        return [Message("user", "\n\n".join(filter(None, (page, suggestion))))]

    def _again(self, hint: str) -> str:
        return prompt("tools")["again"].format(hint=hint)

    def _parts(self, past: Sequence[Message], turn: Sequence[Message]) -> list[Part]:
        """The last answer is never left out: the tool's answer belongs to it."""
        return super()._parts(past[:-1], [*past[-1:], *turn])

    def _request(self, messages: tuple[Message, ...]) -> Request:
        schemas = self._world.schemas(self._possible)
        tools = tuple(
            Tool(one.name, one.description, schemas[one.name]) for one in self._world.commands if one.name in schemas
        )
        return replace(super()._request(tuple(_answered(messages))), tools=tools)

    def _kept(self, exchange: Exchange) -> Message:
        """With the call that was carried out, as it was understood; for only that one is answered."""
        kept = super()._kept(exchange)
        if isinstance(exchange.result, Unparsed):
            return kept if kept.content else replace(kept, content=exchange.reply)
        arguments = json.dumps(dict(exchange.result.arguments), ensure_ascii=False)
        call_id = exchange.completion.tool_calls[0].id or f"call-{exchange.step}"
        return replace(kept, tool_calls=(ToolCall(exchange.result.name, arguments, call_id),))

    def _command(self, completion: Completion) -> Parsed | Unparsed:
        if not completion.tool_calls:
            return Unparsed("No tool was called.")
        call = completion.tool_calls[0]
        read = read_object(call.arguments or "{}")
        if isinstance(read, Unread):
            return Unparsed(f'The arguments of "{call.name}" cannot be read: {read.hint}')
        return command_from(call.name, read.value, self._world.commands)


def _call(command: Parsed) -> str:
    return f"{command.name}({', '.join(f'{name}={text!r}' for name, text in command.arguments.items())})"


def _answered(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages without answers of tools whose call has been left out: servers refuse those."""
    calls: set[str] = set()
    for message in messages:
        calls |= {call.id for call in message.tool_calls}
        if message.role != "tool" or message.tool_call_id in calls:
            yield message
