"""What a model may command in a world, and the actions that its commands stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llm_gym.core import Info
from llm_gym.errors import suggestion
from llm_gym.policies.prompts import prompt
from llm_gym.policies.shopper import ShopPage

LONGEST_ARGUMENT = 2_000
"""Characters; no world has a use for more."""
MALFORMED = ""
"""The action of a reply that held no command: every world refuses it, and the episode goes on."""
FINISH = "finish"

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a model may command; its words are those of a prompt file.

    Attributes:
        name: as the model writes it.
        form: of the action, with a slot for each argument: `search[{query}]`; None: the episode ends.
        arguments: name → what it is; all are texts.
        description: one sentence.
        optional: whether arguments may be left out.
        unwanted: characters that the world has no use for in an argument; they become blanks.
    """

    name: str
    form: str | None
    arguments: Mapping[str, str]
    description: str
    optional: bool = False
    unwanted: str = ""

    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {name: {"type": "string", "description": text} for name, text in self.arguments.items()},
            "required": [] if self.optional else list(self.arguments),
            "additionalProperties": False,
        }

    def action(self, arguments: Mapping[str, str]) -> str | None:
        """The action's text; None ends the episode."""
        if self.form is None:
            return None
        blanks = dict.fromkeys(map(ord, self.unwanted), " ")
        clean = {name: " ".join(text.translate(blanks).split()) for name, text in arguments.items()}
        return self.form.format_map(clean if self.unwanted else arguments)

    def arguments_of(self, action: str) -> dict[str, str] | None:
        """What the action says, where it is one of this command."""
        if self.form is None:
            return None
        pieces = _SLOT.split(self.form)  # text, name, text, name, …, text
        pattern = "".join(f"(?P<{piece}>.+)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
        match = re.fullmatch(pattern, action, re.DOTALL | re.IGNORECASE)
        return match.groupdict() if match else None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command that a reply gives."""

    name: str
    arguments: Mapping[str, str]
    action: str | None
    """None: the agent stops."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A reply that gives none."""

    hint: str
    """One sentence that says what was wrong, for the model that wrote it."""


@dataclass(frozen=True)
class World:
    """What an agent is told of a kind of world.

    Attributes:
        name: of the prompt file.
        forms: command → form of its action, with `finish` left out.
        steps: commands that an agent may give, where no limit is set; those of the paper.
        lists_actions: whether the agent is told what can be done, since the page does not show it.
        unwanted: command → characters that become blanks.
        free: commands whose arguments are not only those of the listed actions.
    """

    name: str
    forms: Mapping[str, str]
    steps: int
    lists_actions: bool
    unwanted: Mapping[str, str]
    free: frozenset[str] = frozenset()

    @property
    def texts(self) -> Mapping[str, str]:
        """The prompt file."""
        return prompt(self.name)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """All that can be commanded, `finish` last."""
        told = prompt("finish")
        finish = Command(FINISH, None, {"response": told["response"]}, told[FINISH], optional=True)
        return (*(self._command(name, form) for name, form in self.forms.items()), finish)

    def _command(self, name: str, form: str) -> Command:
        arguments = {argument: self.texts[f"{name}: {argument}"] for argument in _SLOT.findall(form)}
        return Command(name, form, arguments, self.texts[name], unwanted=self.unwanted.get(name, ""))

    def command_of(self, action: str) -> Parsed | None:
        """The command that an action stands for; None where none does."""
        for command in self.commands:
            arguments = command.arguments_of(action)
            if arguments is not None:
                return Parsed(command.name, arguments, action)
        return None

    def schemas(self, possible: Sequence[str] | None) -> dict[str, dict[str, Any]]:
        """Command → JSON schema of its arguments; where actions are given, only for what is possible by them."""
        found = {command.name: command.schema() for command in self.commands}
        if possible is None:
            return found
        for command in self.commands[:-1]:
            listed = [given for action in possible if (given := command.arguments_of(action)) is not None]
            if not listed:
                del found[command.name]
            elif command.name not in self.free:
                for argument, schema in found[command.name]["properties"].items():
                    schema["enum"] = list(dict.fromkeys(given[argument] for given in listed))
        return found


SHOP = World(
    name="webshop",
    forms={"search": "search[{query}]", "click": "click[{target}]"},
    steps=20,
    lists_actions=False,
    unwanted={"search": "[]"},
    free=frozenset({"search"}),
)
HOUSE = World("alfworld", {"act": "{command}"}, 35, True, {})
ANY = World("world", {"act": "{action}"}, 100, True, {})


def world_of(info: Info) -> World:
    """The kind of world that an info comes from; any that is not known is acted upon by its own commands."""
    if ShopPage.read(info) is not None:
        return SHOP
    return HOUSE if "task_type" in info else ANY


def command_in(reply: Mapping[str, Any], commands: Sequence[Command]) -> Parsed | Unparsed:
    """The command of a reply `{"command": {"name": …, "args": {…}}}`; of a list of commands the first."""
    given = reply.get("command")
    if isinstance(given, list) and given:
        given = given[0]
    if not isinstance(given, Mapping):
        return Unparsed('The answer has no "command" with "name" and "args".')
    return command_from(given.get("name"), given.get("args", {}), commands)


def command_from(name: Any, arguments: Any, commands: Sequence[Command]) -> Parsed | Unparsed:
    """A command from its name and arguments, if they are those of one of the commands."""
    known = {command.name: command for command in commands}
    command = known.get(name.strip().lower()) if isinstance(name, str) else None
    if command is None:
        return Unparsed(f"There is no command {_shown(name)}. {suggestion(str(name)[:50], list(known))}")
    wrong = _wrong(command, arguments)
    if wrong is not None:
        return Unparsed(f"{wrong} Its schema is {json.dumps(command.schema())}")
    texts = {argument: text.strip() for argument, text in arguments.items()}
    return Parsed(command.name, texts, command.action(texts))


def _wrong(command: Command, arguments: Any) -> str | None:
    """What is wrong with arguments, in one sentence."""
    if not isinstance(arguments, Mapping):
        return f'The arguments of "{command.name}" must be an object, not {_shown(arguments)}.'
    if extra := [name for name in arguments if name not in command.arguments]:
        return f'The command "{command.name}" has no argument {_shown(extra[0])}.'
    for name in command.arguments:
        if name not in arguments:
            if command.optional:
                continue
            return f'The command "{command.name}" lacks its argument "{name}".'
        text = arguments[name]
        if not isinstance(text, str):
            return f'The argument "{name}" of "{command.name}" must be a text, not {_shown(text)}.'
        if not text.strip() and not command.optional:
            return f'The argument "{name}" of "{command.name}" is empty.'
        if len(text) > LONGEST_ARGUMENT:
            return f'The argument "{name}" of "{command.name}" has more than {LONGEST_ARGUMENT:,} characters.'
    return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
