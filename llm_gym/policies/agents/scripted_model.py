"""A model that needs no network: it reads the prompt as a person would, and plays sensibly."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from typing import Any

from llm_gym.core import Usage, derive_seed
from llm_gym.errors import InvalidSetting
from llm_gym.llm.chat import Completion, Message, Request, ToolCall
from llm_gym.llm.key import answer_key
from llm_gym.llm.tokens import count_tokens
from llm_gym.policies.agents.commands import ANY, FINISH, HOUSE, SHOP, Parsed, World
from llm_gym.policies.agents.scripted_play import END, next_action
from llm_gym.policies.prompts import prompt

_PAGE = ("[button]", "Possible now:", END)
"""What only pages hold."""
_TOOL = re.compile(r"""(\w+) with ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_PROSE = "Let me look at this page once more before I decide."
_HTML = "<!doctype html><html><body><h1>Service unavailable</h1></body></html>"


class ScriptedModel:
    """A chat client that decides by rules; it knows the prompt and nothing of the world behind it.

    It plays the shop and the house in the formats of all agents here, about as well as a small model, and any other
    world at random. What it answers depends on its settings and the request alone.

    Args:
        follow: probability to take the first suggestion of a prompt, if it is possible on the page.
        breaks: probability of an answer without a command.
        seed: of its chance, besides the request's own.
    """

    model = "scripted"

    def __init__(self, follow: float = 0.8, breaks: float = 0.0, seed: int = 0) -> None:
        if not (0 <= follow <= 1 and 0 <= breaks <= 1):
            raise InvalidSetting(f"follow and breaks must lie between 0 and 1, got {follow} and {breaks}.")
        self.follow, self.breaks, self.seed = follow, breaks, seed

    def settings(self) -> dict[str, Any]:
        return {"client": "scripted-model", "follow": self.follow, "breaks": self.breaks, "seed": self.seed}

    def complete(self, request: Request) -> Completion:
        chance = random.Random(derive_seed(self.seed, answer_key({}, request)))
        completion = _written(self._decided(request, chance), request)
        if chance.random() < self.breaks:
            damaged = chance.choice([_PROSE, _HTML, completion.text[: len(completion.text) // 3]])
            completion = replace(completion, text=damaged, tool_calls=(), finish="stop")
        reply = Message("assistant", completion.text, completion.tool_calls)
        usage = Usage(count_tokens(request.messages, self.model), count_tokens([reply], self.model))
        return replace(completion, usage=usage, model=self.model)

    def _decided(self, request: Request, chance: random.Random) -> str | None:
        page, said = _shown(request.messages)
        suggestion = _suggested(said)
        own = next_action(page, request.messages, chance)
        heeds = chance.random() < self.follow
        return suggestion if suggestion is not None and heeds and _is_possible(suggestion, page) else own

    def __repr__(self) -> str:
        return f"ScriptedModel(follow={self.follow}, breaks={self.breaks}, seed={self.seed})"


def _shown(messages: tuple[Message, ...]) -> tuple[str, str]:
    """The page shown last, and all that was said to the model since."""
    for at in range(len(messages) - 1, 0, -1):
        page = messages[at]
        if page.role != "assistant" and any(mark in page.content for mark in _PAGE):
            since = [message.content for message in messages[at:] if message.role != "assistant"]
            return page.content, "\n".join(since)
    return "", messages[-1].content


def _suggested(said: str) -> str | None:
    """The first action that is suggested there."""
    for name, slot in (("one", "{suggestion}"), ("several", "{suggestions}")):
        pattern = re.escape(prompt("opinion")[name]).replace(re.escape(slot), "(.+?)")
        if found := re.search(pattern, said, re.DOTALL):
            return _first_action(found[1])
    return None


def _first_action(phrases: str) -> str:
    """`click with 'a', click with 'b'` → `click[a]`; `go to desk 1, look` → `go to desk 1`."""
    tool = _TOOL.match(phrases)
    if tool is None:
        return phrases.partition(", ")[0]
    return f"{tool[1]}[{_ESCAPED.sub(lambda escape: escape[1], tool[2][1:-1])}]"


def _is_possible(action: str, page: str) -> bool:
    named = re.fullmatch(r"\w+\[(.*)\]", action, re.DOTALL)
    if named is None:
        return action in page
    return action.startswith("search[") or f"] {named[1]} [".lower() in page.lower()


def _written(action: str | None, request: Request) -> Completion:
    """An action in the format that the prompt asks for; None ends the task."""
    system = request.messages[0].content
    command = _world(request, system).command_of(action) if action is not None else None
    if command is None:
        command = Parsed(FINISH, {"response": "There is nothing more to do."}, None)
    thought = f"I think {command.action or 'the end'} is next."
    if request.tools:
        call = ToolCall(command.name, json.dumps(dict(command.arguments)), f"call-{len(request.messages)}")
        return Completion(thought, tool_calls=(call,), finish="tool_calls")
    if '"thoughts"' in system:
        thoughts = {"text": thought, "reasoning": "It fits the task.", "plan": "- go on", "criticism": "None."}
        reply = {"thoughts": thoughts, "command": {"name": command.name, "args": dict(command.arguments)}}
        return Completion(json.dumps(reply, ensure_ascii=False))
    ends = f"{FINISH}[{command.arguments.get('response', '')}]"
    return Completion(f"Thought: {thought}\nAction: {command.action or ends}")


def _world(request: Request, system: str) -> World:
    """The world whose commands the prompt offers."""
    offered = " ".join([system, *(json.dumps(dict(tool.parameters)) for tool in request.tools)])
    if '"query"' in offered or "search[query]" in offered:
        return SHOP
    return HOUSE if '"properties": {"command"' in offered else ANY
