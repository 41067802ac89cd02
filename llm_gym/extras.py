"""Optional packages: imported where they are needed, with the pip line when they are missing."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from llm_gym.errors import MissingDependency


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module.

    Raises:
        MissingDependency: it is not installed; the message names the extra of `pip install "llm-gym[extra]"`.
    """
    if not installed(module):
        raise MissingDependency(module, extra)
    return importlib.import_module(module)


def installed(module: str) -> bool:
    """Whether a module could be imported; nothing is imported to find out."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package of a dotted name is missing
        return False
