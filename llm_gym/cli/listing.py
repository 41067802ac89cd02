"""`llm-gym list`: what there is, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from rich import box
from rich.table import Table
from rich.text import Text
from tyro.conf import Positional

from llm_gym.cli.keywords import parameters, told
from llm_gym.cli.making import environment_class, environment_id, environment_names
from llm_gym.cli.terminal import OK, Terminal
from llm_gym.registry import policies, wrappers


@dataclass(frozen=True)
class List:
    """Show environments, policies and wrappers, with their keywords.

    Keywords are shown with their defaults, as they are typed after --set, --policy-set or --wrapper NAME: of
    the other commands.

    Examples:
    $ llm-gym list
    $ llm-gym list policies
    """

    what: Positional[Literal["all", "environments", "policies", "wrappers"]] = "all"
    """Which of them."""

    def run(self, terminal: Terminal) -> int:
        for name, (flag, names, load) in _LISTS.items():
            if self.what in ("all", name):
                terminal.show(_table(name, flag, names(), load))
        return OK


def _environment(name: str) -> Any:
    return environment_class(environment_id(name))


_LISTS: dict[str, tuple[str, Callable[[], Iterable[str]], Callable[[str], Any]]] = {
    "environments": ("--set", environment_names, _environment),
    "policies": ("--policy-set", lambda: policies, policies.load),
    "wrappers": ("--wrapper NAME:", lambda: wrappers, wrappers.load),
}


def _table(title: str, flag: str, names: Iterable[str], load: Callable[[str], Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(title, no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column(f"keywords ({flag})", ratio=1)
    for name in names:
        table.add_row(*map(Text, (name, *_described(name, load))))
    return table


def _described(name: str, load: Callable[[str], Any]) -> tuple[str, str]:
    """The first line of the docstring, and the keywords; of what cannot be imported here, why."""
    try:
        target = load(name)
    except ImportError as error:  # an extra is not installed
        return f"Not here: {error}", ""
    summary = (inspect.getdoc(target) or "").partition("\n")[0]
    return summary, ", ".join(told(parameter) for parameter in parameters(target).values())
