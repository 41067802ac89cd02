"""Prompts, one file each: a comment that says where it comes from, then its texts under headings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_HEADING = re.compile(r"^# (.+)\n+", re.MULTILINE)


@cache
def prompt(name: str) -> Mapping[str, str]:
    """Heading → text of a prompt file, without the blank lines around; slots are named, `{suggestion}`."""
    file = resources.files(__name__) / f"{name}.md"
    _, *parts = _HEADING.split(_COMMENT.sub("", file.read_text(encoding="utf-8")))
    return MappingProxyType(dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True)))
