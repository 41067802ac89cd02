"""`llm-gym build`: a world from official files, or an invented one."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import getdoc
from typing import Annotated

from tyro.conf import arg, subcommand

from llm_gym.cli.build_alfworld import BuildALFWorld
from llm_gym.cli.build_webshop import BuildWebShop
from llm_gym.cli.terminal import Terminal


@dataclass(frozen=True)
class Build:
    """Build a shop or households from official files, or invent them.

    The result is a folder that an environment opens at once.

    Examples:
    $ llm-gym build webshop --help
    $ llm-gym build webshop --from ~/webshop/data --to worlds/full
    $ llm-gym build alfworld --from games_v2.1.3_tw-pddl.tar.xz --to worlds/games
    """

    world: Annotated[
        Annotated[BuildWebShop, subcommand("webshop", description=getdoc(BuildWebShop))]
        | Annotated[BuildALFWorld, subcommand("alfworld", description=getdoc(BuildALFWorld))],
        arg(name=""),
    ]

    def run(self, terminal: Terminal) -> int:
        return self.world.run(terminal)
