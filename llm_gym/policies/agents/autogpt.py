"""The agent of Auto-GPT: thoughts and a command in JSON, a short history and a long memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_gym.errors import InvalidSetting
from llm_gym.llm.chat import Completion, Message, Request
from llm_gym.llm.embedding import EndpointEmbedder
from llm_gym.llm.memory import Similarity, VectorMemory
from llm_gym.llm.prompt import Part
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.agents.commands import Command, Parsed, Unparsed, command_in
from llm_gym.policies.agents.demonstrations import Demonstration
from llm_gym.policies.agents.parse import Unread, read_object
from llm_gym.policies.prompts import prompt

_THOUGHTS = ("text", "reasoning", "plan", "criticism")


@dataclass(eq=False, repr=False)
class AutoGPTPolicy(AgentPolicy):
    """Auto-GPT as Additional Opinions used it (Yang, Yue and He 2023, section 2.2); the defaults are the paper's.

    Args:
        memories: events that the agent is reminded of at most.
        memory_tokens: of the system message and those memories together.
        similarity: by which they are recalled, "l2" or "cosine".
        thought_chars: of a thought at most, with `schema`, where the client can; None: any number.
        embedding_model: a model at `base_url` that makes vectors of texts; None: word counts, which need no model.
    """

    name = "autogpt"
    memories: int = 4
    memory_tokens: int = 2500
    similarity: Similarity = "l2"
    embedding_model: str | None = None
    thought_chars: int | None = None

    def __post_init__(self) -> None:
        if self.memories < 0:
            raise InvalidSetting(f"memories must be 0 or more, got {self.memories}.")
        model = self.embedding_model
        embedder = None if model is None else EndpointEmbedder(model, self.base_url, self.key_variable)
        self._memory = VectorMemory(embedder, self.similarity)
        super().__post_init__()

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        super().reset(seed, trial)
        self._memory.clear()
        self._remembered = 0

    def _base(self) -> str:
        texts = prompt("autogpt")
        commands = "\n".join(self._described(number, one) for number, one in enumerate(self._world.commands, 1))
        return texts["base"].format(**self._told, commands=commands, format=texts["format"])

    def _described(self, number: int, command: Command) -> str:
        texts = prompt("autogpt")
        line = texts["command"].format(
            number=number, name=command.name, description=command.description, schema=json.dumps(command.schema())
        )
        shown = [one for one in self._shown if one.command.name == command.name]
        examples = [texts["demonstration"].format(page=one.page, reply=reply_of(one)) for one in shown]
        return "\n".join([line, *examples])

    def _turn(self, page: str, suggestion: str) -> list[Message]:
        texts = prompt("autogpt")
        match self._last:
            case None:
                seen = texts["first"].format(page=page)
            case Parsed(name=name):
                seen = texts["result"].format(command=name, page=page)
            case Unparsed(hint=hint):
                seen = texts["error"].format(hint=hint, page=page)
        self._remember(seen)
        loop = texts["loop"].format(number=self._steps)
        system = [loop, seen] if self._last is None else [seen, loop]
        question = "\n".join(filter(None, (suggestion, texts["request"])))
        return [*(Message("system", text) for text in system), Message("user", question)]

    def _remember(self, result: str) -> None:
        """Keep the last answer with what came of it, once."""
        if self.exchanges and self._remembered < self._steps:
            reply = self.exchanges[-1].reply
            self._memory.add(prompt("autogpt")["remembered"].format(reply=reply, result=result))
        self._remembered = self._steps

    def _parts(self, past: Sequence[Message], turn: Sequence[Message]) -> list[Part]:
        base, *rest = super()._parts(past, turn)
        last = [*past, *turn][-max(1, self.history) :]
        recalled = self._memory.recall("\n".join(message.content for message in last), self.memories)
        memories = tuple(Message("system", text) for text in recalled)
        return [base, Part("memory", memories, keep="first", within=self.memory_tokens, together=_reminder), *rest]

    def _again(self, hint: str) -> str:
        return prompt("autogpt")["again"].format(hint=hint)

    def _request(self, messages: tuple[Message, ...]) -> Request:
        schema = reply_schema(self._world.schemas(self._possible), self.thought_chars) if self.schema else None
        return replace(super()._request(messages), schema=schema)

    def _command(self, completion: Completion) -> Parsed | Unparsed:
        read = read_object(completion.text)
        return Unparsed(read.hint) if isinstance(read, Unread) else command_in(read.value, self._world.commands)


def _reminder(memories: Sequence[Message]) -> Message:
    events = "\n".join(message.content for message in memories)
    return Message("system", prompt("autogpt")["memory"].format(memories=events))


def reply_of(one: Demonstration) -> str:
    """A demonstration's answer."""
    thoughts = dict(zip(_THOUGHTS, (one.text, one.reasoning, one.plan, one.criticism), strict=True))
    command = {"name": one.command.name, "args": dict(one.command.arguments)}
    return json.dumps({"thoughts": thoughts, "command": command}, ensure_ascii=False)


def reply_schema(commands: Mapping[str, Mapping[str, Any]], thought_chars: int | None = None) -> Mapping[str, Any]:
    """The answer's JSON schema, from the command's own."""

    def closed(properties: Mapping[str, Any]) -> dict[str, Any]:
        required = list(properties)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    one = [
        closed({"name": {"type": "string", "enum": [name]}, "args": closed(arguments["properties"])})
        for name, arguments in commands.items()
    ]
    thought = {"type": "string"} if thought_chars is None else {"type": "string", "maxLength": thought_chars}
    thoughts = closed(dict.fromkeys(_THOUGHTS, thought))
    return closed({"thoughts": thoughts, "command": {"anyOf": one}})
