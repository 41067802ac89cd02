"""The agent of ReAct: a thought and an action in text."""

from __future__ import annotations

import re
from dataclasses import replace

from llm_gym.errors import InvalidSetting
from llm_gym.llm.chat import Completion, Message, Request
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.agents.commands import FINISH, Command, Parsed, Unparsed, command_from
from llm_gym.policies.prompts import prompt

_ACTION = re.compile(r"^[ \t*_>]*action[ \t\d*_]*:(.*)$", re.MULTILINE | re.IGNORECASE)
_FINISH = re.compile(rf"{FINISH}(?:\s*\[(.*)\])?\W*", re.DOTALL | re.IGNORECASE)
_LONGEST = 20_000
"""Characters of an answer in which an action is looked for."""


class ReActPolicy(AgentPolicy):
    """Thinks and acts in turn (Yao et al. 2022, arXiv:2210.03629); its arguments are those of every agent.

    Of several actions in an answer the first counts: the others were written without seeing what it leads to.
    """

    name = "react"

    def __post_init__(self) -> None:
        if self.schema:
            raise InvalidSetting("schema=True is for answers in JSON; ReActPolicy gets its answers in text.")
        super().__post_init__()

    def _base(self) -> str:
        texts = prompt("react")
        commands = "\n".join(texts["command"].format(**_words(one)) for one in self._world.commands)
        base = texts["base"].format(**self._told, commands=commands)
        examples = [
            texts["demonstration"].format(page=one.page, thought=one.text, action=one.command.action)
            for one in self._shown
        ]
        return "\n\n".join([base, *([texts["demonstrations"], *examples] if examples else [])])

    def _turn(self, page: str, suggestion: str) -> list[Message]:
        texts = prompt("react")
        if isinstance(self._last, Unparsed):
            seen = texts["error"].format(hint=self._last.hint, page=page)
        else:
            seen = texts["page"].format(page=page)
        return [Message("user", "\n\n".join(filter(None, (seen, suggestion))))]

    def _again(self, hint: str) -> str:
        return prompt("react")["again"].format(hint=hint)

    def _request(self, messages: tuple[Message, ...]) -> Request:
        return replace(super()._request(messages), stop=("\nObservation",))

    def _command(self, completion: Completion) -> Parsed | Unparsed:
        found = _ACTION.search(completion.text[:_LONGEST])
        action = found[1].strip(" \t\r*_`") if found else ""
        if not action:
            return Unparsed('The answer has no line "Action: …".')
        if finish := _FINISH.fullmatch(action):
            return Parsed(FINISH, {"response": finish[1] or ""}, None)
        command = self._world.command_of(action)
        if command is None:
            forms = ", ".join(_words(one)["form"] for one in self._world.commands)
            return Unparsed(f"{action[:60]!r} is no action; there are {forms}.")
        return command_from(command.name, command.arguments, self._world.commands)


def _words(command: Command) -> dict[str, str]:
    """The slots that a command fills: `search[query]`, what it does, and what its arguments are."""
    names = {name: name for name in command.arguments}
    form = prompt("react")["finish"] if command.form is None else command.form.format_map(names)
    arguments = "; ".join(f"{name}: {text}" for name, text in command.arguments.items())
    return {"form": form, "description": command.description, "arguments": f"({arguments})"}
