"""The text agent as a policy: what it does at the edges of its world, and with damaged checkpoints."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

pytest.importorskip("torch", reason="needs the extra torch")

from llm_gym.core import Info
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData
from llm_gym.policies.butler.config import ButlerConfig
from llm_gym.policies.butler.policy import ButlerPolicy

if TYPE_CHECKING:
    from llm_gym.policies.butler.generation import Writer

pytestmark = pytest.mark.torch

ADMISSIBLE = ["go to desk 1", "go to shelf 1", "inventory", "look"]


def page(text: str, **more: Any) -> tuple[str, Info]:
    return text, cast(Info, {"page": text, "goal": "put a mug in desk.", "admissible_actions": ADMISSIBLE} | more)


@pytest.fixture
def folder(writer: Writer, tmp_path: Path) -> Path:
    writer.save(tmp_path / "model")
    return tmp_path / "model"


def test_it_stops_where_no_game_of_alfworld_goes_on(folder: Path) -> None:
    policy = ButlerPolicy(folder)
    for admissible in (["click[buy now]"], [], None):
        assert policy.act(*page("A page.", admissible_actions=admissible)).action is None
        assert policy.advise(*page("A page.", admissible_actions=admissible)) == []


def test_to_be_asked_for_advice_first_changes_nothing(folder: Path) -> None:
    asked, alone = ButlerPolicy(folder), ButlerPolicy(folder)
    for text in ("You see a mug 1.", "You arrive at desk 1.", "Nothing happens."):
        asked.advise(*page(text), 2)
        assert asked.act(*page(text)) == alone.act(*page(text))


def test_it_goes_on_from_what_another_did(folder: Path) -> None:
    acting, told = ButlerPolicy(folder), ButlerPolicy(folder)
    first = acting.act(*page("You see a mug 1.")).action
    assert first is not None
    told.note(*page("You see a mug 1."), first)
    assert told.act(*page("You arrive at desk 1.")) == acting.act(*page("You arrive at desk 1."))


def test_a_copy_sent_away_in_the_middle_of_a_game_goes_on_alike(folder: Path) -> None:
    policy = ButlerPolicy(folder, beam=True)
    policy.act(*page("You see a mug 1."))
    policy.advise(*page("Nothing happens."))
    copy = pickle.loads(pickle.dumps(policy))
    assert copy.act(*page("Nothing happens.")) == policy.act(*page("Nothing happens."))


def test_where_its_command_fails_the_beam_gives_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = ButlerPolicy(folder, beam=True)
    greedy = policy.act(*page("You see a mug 1.")).action
    monkeypatch.setattr(policy, "_alternatives", lambda memory: [greedy, "go to desk 1", "go to shelf 1"])
    monkeypatch.setattr(type(policy._writer()), "greedy", lambda self, memory: [greedy])
    again = [policy.act(*page("Nothing happens.")).action for _ in range(2)]
    assert again == ["go to desk 1", "go to shelf 1"]
    assert policy.act(*page("You arrive at shelf 1.")).action == greedy  # what was left to try is used up


def test_what_is_saved_again_is_the_same(folder: Path, tmp_path: Path) -> None:
    policy = ButlerPolicy.from_pretrained(folder)
    policy.save_pretrained(tmp_path / "again")
    assert ButlerPolicy.from_pretrained(tmp_path / "again").settings() == policy.settings()
    with pytest.raises(InvalidSetting):
        policy.save_pretrained(tmp_path / "again")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingData):
        ButlerPolicy.from_pretrained(tmp_path)
    with pytest.raises(MissingData):
        ButlerPolicy(tmp_path).settings()


def changed(folder: Path, **settings: Any) -> Path:
    config = json.loads((folder / "config.json").read_text()) | settings
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"kind": "webshop-choice"}, DataMismatch),
        ({"width": 32}, DataMismatch),
        ({"embedding_width": 25}, DataMismatch),
        ({"colour": "red"}, DataMismatch),
        ({"kernel": 4}, BadRecord),
        ({"width": "wide"}, BadRecord),
    ],
)
def test_a_checkpoint_of_another_network_is_refused(folder: Path, settings: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ButlerPolicy.from_pretrained(changed(folder, **settings))


def test_damaged_files_are_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(BadRecord):
        ButlerPolicy.from_pretrained(folder)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(BadRecord):
        ButlerPolicy.from_pretrained(folder)


@pytest.mark.parametrize("settings", [{"kernel": 2}, {"width": 7}, {"segment": 600}, {"skip": 1.0}, {"longest": 0}])
def test_sizes_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting):
        ButlerConfig(**settings)


def test_a_configuration_that_lacks_a_setting_is_refused() -> None:
    values = ButlerConfig().to_json()
    del values["width"]
    with pytest.raises(BadRecord, match="width"):
        ButlerConfig.from_json(values, "config.json")
