"""Every exception the package raises on purpose.

LLMGymError
├── MissingDependency     an optional package is not installed; the message holds the pip line
├── UnknownName           a name that is in no list; the message says which names are near
├── InvalidSetting        an argument whose value cannot work
├── DataError             a file outside the package is wrong
│   ├── MissingData       … is not there
│   ├── BadRecord         … holds a record that breaks the format
│   └── DataMismatch      … belongs to other data
└── RunFolderError        a run folder cannot be used
    └── PlanMismatch      … holds the results of another plan
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
