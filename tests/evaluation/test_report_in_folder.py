"""The report that a finished run leaves in its folder."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym

from llm_gym.policies import RandomPolicy


def test_a_finished_run_holds_its_table_as_markdown(tmp_path: Path) -> None:
    env = gym.make("llm_gym/Corridor-v0")
    evaluation = RandomPolicy().evaluate(env, n=5, out=tmp_path / "run")
    written = (tmp_path / "run" / "report.md").read_text()
    assert written.startswith("```\nrandom on llm_gym/Corridor-v0\n")
    assert f"{evaluation.success:.3f}" in written
    assert written.endswith("```\n")
