"""`llm-gym demos from-run`: the episodes of a run folder as demonstrations."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from llm_gym.cli.demos_writing import OutFile, Writing, told
from llm_gym.cli.keywords import Pairs, fitted, flat, pairs
from llm_gym.cli.making import environment_class, environment_id
from llm_gym.cli.terminal import Terminal
from llm_gym.demonstrations.recorder import Selection
from llm_gym.demonstrations.runs import environment_id_of, environment_of, header_of_run, keywords_of, replayed
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.store import EPISODES, read_plan, read_records


@dataclass(frozen=True)
class DemosFromRun:
    """Make demonstrations of the episodes of a run.

    A run folder knows what was done, not what could have been done: its episodes are played again, and the pages are
    compared with those of the run.

    Examples:
    $ llm-gym evaluate WebShop --policy oracle --set split=train -n 100 --out runs/oracle
    $ llm-gym demos from-run runs/oracle --success --out demos.jsonl

    Exit code: 0 done, 2 could not be done, 130 interrupted.
    """

    folder: Annotated[Positional[Path], arg(metavar="DIR")]
    """Run folder of `llm-gym evaluate --out DIR`, finished or not."""
    out: OutFile
    """File to write; a name that ends in .gz is compressed."""
    success: bool = False
    """Keep successful episodes only."""
    min_score: Annotated[float | None, arg(metavar="X", help_behavior_hint="(default: any)")] = None
    """Keep episodes of this score at least, of 100."""
    set: Pairs = ()
    """Keywords of the environment in place of the run's, such as catalogue=DIR where the data lie elsewhere now."""

    env: Annotated[str | None, arg(metavar="ENV", help_behavior_hint="(default: as the run says)")] = None
    """Environment of the run, where a module of yours has to be imported for it: module:Id."""

    def run(self, terminal: Terminal) -> int:
        plan, keep = read_plan(self.folder), Selection(self.success, self.min_score)
        if self.env is not None:
            environment_id(self.env)
        rows = read_records(self.folder).episodes
        writing = Writing(self.out, len(rows), terminal)
        with closing(environment_of(plan, **self._changed(plan))) as env:
            header = header_of_run(plan, env, kept=told(keep))
            return writing.write(replayed(plan, rows, env, keep, str(self.folder / EPISODES)), header)

    def _changed(self, plan: Plan) -> dict[str, Any]:
        """All keywords with those that are given here, each as its type wants it."""
        if not self.set:
            return {}
        identity = environment_id_of(plan)
        before = {
            key: value if isinstance(value, str) else json.dumps(value) for key, value in keywords_of(plan).items()
        }
        return fitted(environment_class(identity), before | pairs(flat(self.set), "--set"), identity, "--set")
