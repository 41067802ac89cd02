"""Every exception the package raises on purpose.

LLMGymError
├── MissingDependency     an optional package is not installed; the message holds the pip line
├── UnknownName           a name that is in no list; the message says which names are near
├── InvalidSetting        an argument whose value cannot work
├── DataError             a file outside the package is wrong
│   ├── MissingData       … is not there
│   ├── BadRecord         … holds a record that breaks the format
│   └── DataMismatch      … belongs to other data
├── RunFolderError        a run folder cannot be used
│   └── PlanMismatch      … holds the results of another plan
├── ExpertFailed          an expert that was asked for opinions raised, or gave what is none
├── ChatError             a model gave no answer that can be used
│   ├── AccessDenied      … the key is missing or wrong, or does not reach so far
│   ├── UnknownModel      … the endpoint has no such model
│   ├── EndpointDown      … cannot be reached, broke off, or is in trouble itself; asking again may help
│   ├── RateLimited       … asks to wait; asking again later will help
│   ├── ContextOverflow   … the conversation is too long for it
│   ├── RequestRefused    … what was asked for cannot be done there
│   └── UnusableAnswer    … answered something that is no answer
└── BudgetExceeded        the money or the tokens that were allowed are spent
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class LLMGymError(Exception):
    """Base of all errors raised on purpose."""


class MissingDependency(LLMGymError, ImportError):
    """An optional package is missing; nothing was done yet, install it and call again."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f'"{module}" is not installed. Install it with: pip install "llm-gym[{extra}]"')
        self.module, self.extra = module, extra

    def __reduce__(self) -> tuple[type[MissingDependency], tuple[str, str]]:
        return type(self), (self.module, self.extra)


class UnknownName(LLMGymError, ValueError):
    """A name that the list of known names does not hold."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = list(known)
        super().__init__(f"Unknown {kind} {name!r}. {suggestion(str(name), names)}")
        self._arguments = (kind, name, names)

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, object, list[str]]]:
        return type(self), self._arguments


class InvalidSetting(LLMGymError, ValueError):
    """An argument whose value cannot work; the message says what would."""


class DataError(LLMGymError):
    """A file outside the package is wrong; nothing was changed."""


class MissingData(DataError):
    """A file or folder that should be there is not."""


class BadRecord(DataError):
    """A record breaks its format; the message names the file and the record's number."""


class DataMismatch(DataError):
    """Two files that belong together come from different data."""


class RunFolderError(LLMGymError):
    """A run folder cannot be read or written; what it held is untouched."""


class PlanMismatch(RunFolderError):
    """A run folder holds the results of another plan; the message shows the difference."""


class ExpertFailed(LLMGymError):
    """An expert raised an exception, or gave what is no opinion; the message names it. The episode cannot go on."""


class ChatError(LLMGymError):
    """A model gave no answer that can be used; the message says what it said."""


class AccessDenied(ChatError):
    """The endpoint refuses: the key is missing or wrong, or does not reach so far. Every further call would fail."""


class UnknownModel(ChatError):
    """The endpoint has no model of this name. Every further call would fail."""


class EndpointDown(ChatError):
    """The endpoint cannot be reached, broke off, was too slow, or failed by itself; asking again may help."""


class RateLimited(ChatError):
    """The endpoint asks to wait.

    Attributes:
        retry_after_s: how long, as the endpoint says; None where it does not say.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[type[RateLimited], tuple[str, float | None]]:
        return type(self), (str(self), self.retry_after_s)


class ContextOverflow(ChatError):
    """The conversation is longer than the model can read; asking again is of no use before it is shortened."""


class RequestRefused(ChatError):
    """The endpoint cannot do what was asked for: a schema, tools, a filtered content."""


class UnusableAnswer(ChatError):
    """The endpoint answered something that is no answer of the protocol."""


class BudgetExceeded(LLMGymError):
    """The money or the tokens that were allowed are spent; nothing was asked. A resumed run goes on from here."""


FATAL: tuple[type[LLMGymError], ...] = (
    MissingDependency,
    MissingData,
    InvalidSetting,
    BudgetExceeded,
    AccessDenied,
    UnknownModel,
)
"""What the user has to put right before any other episode can be played: these stop an evaluation, whose finished
episodes are kept; every other exception is one episode's failure."""


def suggestion(name: str, known: list[str], shown: int = 12) -> str:
    """A sentence that helps: the near names, or the first of all the names."""
    folded = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(repr(folded[match]) for match in near)}?"
    if not known:
        return "There are none."
    more = f", … ({len(known)} in all)" if len(known) > shown else ""
    return f"Known: {', '.join(known[:shown])}{more}."
