"""`key=value` of the command line, checked against the signature that will receive them. Nothing is executed."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from tyro.conf import UseAppendAction, arg

from llm_gym.errors import InvalidSetting, UnknownName

_ANY = inspect.Parameter.empty
_SIMPLE = (bool, int, float, str, Path)
_CONTAINERS: Mapping[Any, tuple[type, ...]] = {Mapping: (dict,), Sequence: (list,), tuple: (list,), set: (list,)}
"""What JSON has for the types that it lacks."""


Pairs = Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="KEY=VALUE …")]
"""A flag that takes several pairs at once and may be given again."""


def flat(groups: tuple[tuple[str, ...], ...]) -> list[str]:
    """All pairs of a flag, in the order given."""
    return [text for group in groups for text in group]


def pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """`["split=dev"]` → `{"split": "dev"}`. `flag` is for messages.

    Raises:
        InvalidSetting: a text has no "=", or a key is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise InvalidSetting(f"{text!r} is not KEY=VALUE: write {_after(flag, 'KEY=VALUE')}.")
        if key in found:
            raise InvalidSetting(f"{flag} gives {key} twice: {found[key]!r} and {value!r}.")
        found[key] = value
    return found


def _after(flag: str, text: str) -> str:
    """`--set KEY=VALUE`, `--wrapper history:KEY=VALUE`."""
    return f"{flag}{text}" if flag.endswith(":") else f"{flag} {text}"


def comma_pairs(text: str) -> list[str]:
    """`"a=[1,2],b=x"` → `["a=[1,2]", "b=x"]`: a comma separates only where a key follows."""
    return re.split(r",(?=\s*[A-Za-z_][\w-]*=)", text) if text else []


def parameters(target: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """What a class or function can be told on a command line, in order.

    Left out are the environment that a wrapper wraps, and what is given as a function (a default that can be called).
    """
    try:
        signature = inspect.signature(target, eval_str=True)
    except NameError:  # a type that is imported for type checkers only: values of that keyword go unchecked
        signature = inspect.signature(target)
    return {
        name: parameter
        for name, parameter in signature.parameters.items()
        if name != "env" and not _is_function(parameter) and parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
    }


def _is_function(parameter: inspect.Parameter) -> bool:
    return parameter.default is not _ANY and callable(parameter.default)


def told(parameter: inspect.Parameter) -> str:
    """A keyword with its default as it would be typed: `split=null`, `length=…` where it has to be given."""
    if parameter.kind in _STARRED:
        return "…"
    return f"{parameter.name}={'…' if parameter.default is _ANY else _typed(parameter.default)}"


def _typed(value: Any) -> str:
    """A value as one types it; of an object that cannot be typed, its name."""
    if isinstance(value, str) and value == value.strip() != "":
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:
        return repr(value)


def fitted(
    target: Callable[..., Any], given: Mapping[str, str], name: str, flag: str, also: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values as the target's signature wants them: as JSON where that fits, else as text.

    Args:
        target: the class or function that will be called.
        given: key to text.
        name: of the target, for messages.
        flag: of the command line that gave them, for messages.
        also: further keywords and their types, which something before the target takes.

    Raises:
        UnknownName: no such keyword; the message names the near ones.
        InvalidSetting: a value of another type, or a keyword that has to be given is not.
    """
    known = parameters(target)
    accepted: dict[str, Any] = {
        key: parameter.annotation for key, parameter in known.items() if parameter.kind not in _STARRED
    }
    accepted |= also or {}
    open_ended = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
    for key in given:
        if key not in accepted and not open_ended:
            raise UnknownName(f"keyword of {name}", key, accepted)
    missing = [key for key, parameter in known.items() if _must_be_given(parameter) and key not in given]
    if missing:
        raise InvalidSetting(f"{name} has to be told {' and '.join(missing)}: {_after(flag, missing[0])}=…")
    return {key: _value(text, accepted.get(key, _ANY), f"{key} of {name}") for key, text in given.items()}


_STARRED = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _must_be_given(parameter: inspect.Parameter) -> bool:
    return parameter.default is _ANY and parameter.kind not in _STARRED


def _value(text: str, kind: Any, about: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:  # also for NaN-like words: they are text
        value = text
    if accepts(kind, value):
        return value
    if accepts(kind, text):  # a name that looks like a number, such as a folder "2024"
        return text
    raise InvalidSetting(f"{about} must be {_words(kind)}, got {text!r}.")


def accepts(kind: Any, value: Any) -> bool:
    """Whether a value from the command line fits a type; of a type that JSON cannot have, everything is accepted."""
    if kind is None or kind is types.NoneType:
        return value is None
    if kind in _SIMPLE:
        return _is_simple(kind, value)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(accepts(argument, value) for argument in arguments)
    if origin is Literal:
        return value in arguments
    container = origin or kind
    if isinstance(container, type) and container in (*_CONTAINERS, dict, list):
        return isinstance(value, _CONTAINERS.get(container, (container,)))
    return True


def _is_simple(kind: type, value: Any) -> bool:
    if kind is Path:
        return isinstance(value, str)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is kind


def _words(kind: Any) -> str:
    """A type in a sentence: `int or null`."""
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_words(argument) for argument in get_args(kind))
    if get_origin(kind) is Literal:
        return " or ".join(map(repr, get_args(kind)))
    if kind is None or kind is types.NoneType:
        return "null"
    return {bool: "true or false", str: "text", Path: "a path", int: "a whole number", float: "a number"}.get(
        kind, getattr(kind, "__name__", str(kind))
    )
