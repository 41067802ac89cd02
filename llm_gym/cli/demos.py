"""`llm-gym demos`: files of demonstrations."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import getdoc
from typing import Annotated

from tyro.conf import arg, subcommand

from llm_gym.cli.demos_from_run import DemosFromRun
from llm_gym.cli.demos_import import ImportDemos
from llm_gym.cli.demos_record import RecordDemos
from llm_gym.cli.demos_show import ShowDemos
from llm_gym.cli.terminal import Terminal


@dataclass(frozen=True)
class Demos:
    """Record, import and inspect demonstrations, which experts learn from.

    A demonstration is an episode with what could be seen and done at each step. A file holds one a line; a name that
    ends in .gz is compressed.

    Examples:
    $ llm-gym demos record WebShop --policy lexical --set split=train -n 100 --success --out demos.jsonl
    $ llm-gym demos record WebShop --policy human -n 5 --out mine.jsonl
    $ llm-gym demos from-run runs/oracle --success --out demos.jsonl
    $ llm-gym demos show demos.jsonl
    """

    what: Annotated[
        Annotated[RecordDemos, subcommand("record", description=getdoc(RecordDemos))]
        | Annotated[DemosFromRun, subcommand("from-run", description=getdoc(DemosFromRun))]
        | Annotated[ImportDemos, subcommand("import", description=getdoc(ImportDemos))]
        | Annotated[ShowDemos, subcommand("show", description=getdoc(ShowDemos))],
        arg(name=""),
    ]

    def run(self, terminal: Terminal) -> int:
        return self.what.run(terminal)
