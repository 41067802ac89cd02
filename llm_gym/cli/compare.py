"""`llm-gym compare`: two runs against each other, task by task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from llm_gym.cli.terminal import OK, Terminal
from llm_gym.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Compare:
    """Compare two runs task by task.

    Both must have been played in the same environment with the same settings. The comparison is paired: it looks at
    the tasks that both played, says whether they can tell the two apart, and if not, how many tasks could.

    Examples:
    $ llm-gym compare runs/rule runs/random
    """

    first: Annotated[Positional[Path], arg(metavar="A")]
    """Run folder; differences are A minus B."""
    second: Annotated[Positional[Path], arg(metavar="B")]
    """The other run folder."""
    clustered: bool = False
    """Take the tasks of one cluster together, such as the goals of one product."""

    def run(self, terminal: Terminal) -> int:
        first, second = Evaluation.load(self.first), Evaluation.load(self.second)
        terminal.say(str(first.compare(second, clustered=self.clustered)))
        return OK
