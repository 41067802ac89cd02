"""Names for things that are imported only when somebody asks for them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from llm_gym.errors import UnknownName


class Registry:
    """A list of names, each standing for `"module:attribute"`.

    Registering imports nothing, so that `import llm_gym` stays light; a wrong name is answered with the near ones.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._targets: dict[str, str] = {}

    def register(self, name: str, target: str) -> None:
        """Add a name; `target` is `"package.module:attribute"`. A second registration of a name is refused."""
        if self._targets.get(name, target) != target:
            raise ValueError(f"{self.kind} {name!r} is registered already, as {self._targets[name]}")
        self._targets[name] = target

    def load(self, name: str) -> Any:
        """The object itself, imported now.

        Raises:
            UnknownName: no such name; the message says which are near.
        """
        if name not in self._targets:
            raise UnknownName(self.kind, name, self._targets)
        module, _, attribute = self._targets[name].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def lazy_attribute(self, module: str, attribute: str) -> Any:
        """For a package's `__getattr__`: the registered class of that name, imported now.

        Raises:
            AttributeError: no registered target has this name.
        """
        for target in self._targets.values():
            if target.partition(":")[2] == attribute:
                return getattr(importlib.import_module(target.partition(":")[0]), attribute)
        raise AttributeError(f"module {module!r} has no attribute {attribute!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def __contains__(self, name: object) -> bool:
        return name in self._targets

    def __len__(self) -> int:
        return len(self._targets)


policies = Registry("policy")
wrappers = Registry("wrapper")
services = Registry("service")
"""What a lower layer needs of a higher one; the only upward edge is `Policy.evaluate` to the runner."""
