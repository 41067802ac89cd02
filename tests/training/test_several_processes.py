"""Training in several processes, as `accelerate launch` starts them on several devices; here on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_gym.training.fit import fit
from llm_gym.training.schedule import Schedule

if TYPE_CHECKING:
    from tests.training.conftest import Toy

pytestmark = pytest.mark.train

SCRIPT = """
import sys
from pathlib import Path

import torch

from llm_gym.training.fit import fit
from llm_gym.training.schedule import Schedule
from tests.training.conftest import choices, collate, scorer

torch.set_num_threads(1)
model = scorer()
model.dropout.p = 0.0  # the processes would draw it differently
schedule = Schedule(epochs=2, batch_size=4, accumulate=1, learning_rate=0.05, seed=7)
fitted = fit(model, choices(24, 1), choices(9, 2), collate, schedule, Path(sys.argv[1]))
print(f"{fitted.updates} updates, held out {fitted.measures['loss']:.4f}")
"""
ROOT = Path(__file__).parent.parent.parent


def test_two_processes_learn_what_one_learns_from_twice_the_batches(toy: Toy, tmp_path: Path) -> None:
    script, out = tmp_path / "script.py", tmp_path / "two"
    script.write_text(SCRIPT)
    environment = {**os.environ, "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*launch, str(script), str(out)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    from tests.training.conftest import choices

    schedule = Schedule(epochs=2, batch_size=4, accumulate=2, learning_rate=0.05, seed=7)
    model = toy.model()
    model.dropout.p = 0.0
    one = fit(model, choices(24, 1), toy.held_out, toy.collate, schedule, tmp_path / "one")
    assert done.stdout.splitlines() == [f"{one.updates} updates, held out {one.measures['loss']:.4f}"] * 2
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in log if "learning_rate" in row] == list(range(1, one.updates + 1))
