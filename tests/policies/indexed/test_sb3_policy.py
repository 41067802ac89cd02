"""What stable-baselines3 has trained, as a policy, and its checkpoints."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra sb3")
pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
pytest.importorskip("sb3_contrib", reason="needs the extra sb3")

from llm_gym.core import Decision
from llm_gym.envs.base import panel_of
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData, UnknownName
from llm_gym.policies import SB3Policy
from llm_gym.rollout import play
from llm_gym.wrappers import IndexedActions

pytestmark = pytest.mark.sb3

Make, Models = Callable[..., IndexedActions], Callable[[str, Any], Any]
every_model = pytest.mark.parametrize("name", ["a2c", "ppo", "maskable-ppo", "a2c-plain", "maskable-ppo-plain"])


def text_world() -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0", length=3, max_episode_steps=10)


def opinions(policy: SB3Policy) -> list[Any]:
    """All of the first pages of five tasks."""
    env = text_world()
    return [policy.advise(*env.reset(options={"task": task}), 4) for task in panel_of(env)[:5]]  # type: ignore[arg-type]


def actions(policy: SB3Policy, seed: int = 0) -> list[list[str | None]]:
    env = text_world()
    played = (play(env, policy, task, seed=seed) for task in panel_of(env)[:8])
    return [[step.action for step in episode.steps] for episode in played]


@pytest.fixture
def policy(corridor: Make, models: Models) -> SB3Policy:
    env = corridor()
    return SB3Policy.from_model(models("a2c", env), env)


@pytest.fixture
def folder(policy: SB3Policy, tmp_path: Path) -> Path:
    policy.save_pretrained(tmp_path / "trained")
    return tmp_path / "trained"


# -- what it decides ---------------------------------------------------------------------------------------------


@every_model
def test_a_policy_that_was_written_and_read_decides_alike(
    corridor: Make, models: Models, name: str, tmp_path: Path
) -> None:
    env = corridor()
    model = models(name, env)
    policy = SB3Policy.from_model(model, env)
    policy.save_pretrained(tmp_path / "trained")
    again = SB3Policy.from_pretrained(tmp_path / "trained")
    assert again.settings() == policy.settings()
    assert opinions(again) == opinions(policy)
    assert actions(again) == actions(policy)


@every_model
def test_it_decides_as_the_model_does_on_the_wrapped_world(corridor: Make, models: Models, name: str) -> None:
    env = corridor(k=3)  # a room in the middle fills all places, the others leave one empty
    model = models(name, env)
    policy = SB3Policy.from_model(model, env)
    for task in panel_of(env)[:8]:
        seen, info = env.reset(options={"task": task})
        for _ in range(3):
            masks = {"action_masks": env.action_masks()} if name.startswith("maskable") else {}
            chosen = int(model.predict(seen, deterministic=True, **masks)[0])
            decision = policy.act(info["page"], info)  # type: ignore[arg-type]
            if not env.action_masks()[chosen]:
                assert name == "a2c-plain"  # knows no mask; the policy does
                break
            assert decision == Decision(env.indexed_actions[chosen])
            seen, _, terminated, _, info = env.step(chosen)
            if terminated:
                break
        policy.reset()


def test_opinions_are_the_most_probable_actions_with_their_probabilities(policy: SB3Policy) -> None:
    for listed in opinions(policy):
        confidences = [opinion.confidence for opinion in listed]
        assert sum(confidences) == pytest.approx(1)
        assert confidences == sorted(confidences, reverse=True)
    observation, info = text_world().reset(options={"task": "corridor-0"})
    assert policy.act(observation, info).action == policy.advise(observation, info)[0].action  # type: ignore[arg-type]


def test_drawn_actions_follow_the_seed_and_differ_between_seeds(policy: SB3Policy) -> None:
    drawing = SB3Policy(policy.trained, draw="sample")
    assert actions(drawing, seed=3) == actions(drawing, seed=3)
    assert actions(drawing, seed=3) != actions(drawing, seed=4)


def test_actions_without_a_place_are_not_chosen(corridor: Make, models: Models) -> None:
    env = corridor(k=1)
    policy = SB3Policy.from_model(models("a2c", env), env)
    assert all(len(listed) == 1 for listed in opinions(policy))


def test_where_no_action_is_left_or_none_is_listed_it_stops(policy: SB3Policy) -> None:
    assert policy.act("", {"admissible_actions": []}) == Decision(None)
    assert policy.act("", {"admissible_actions": None}) == Decision(None)
    assert policy.advise("", {"goal": ""}) == []


def test_what_somebody_else_did_is_remembered_like_its_own_action(policy: SB3Policy) -> None:
    env = text_world()
    observation, info = env.reset(options={"task": "corridor-0"})
    told, acted = SB3Policy(policy.trained), SB3Policy(policy.trained)
    action = str(acted.act(observation, info).action)  # type: ignore[arg-type]
    told.note(observation, info, action)  # type: ignore[arg-type]
    assert told.advise(observation, info, 3) == acted.advise(observation, info, 3)  # type: ignore[arg-type]
    assert told.advise(observation, info, 3) != policy.advise(observation, info, 3)  # type: ignore[arg-type]


def test_what_is_learned_later_does_not_change_it(corridor: Make, models: Models) -> None:
    env = corridor()
    model = models("a2c", env)
    policy = SB3Policy.from_model(model, env)
    before = opinions(policy)
    model.learn(20)
    assert opinions(policy) == before
    assert opinions(SB3Policy.from_model(model, env)) != before


def test_a_copy_by_pickle_carries_no_network_and_decides_alike(policy: SB3Policy) -> None:
    before = opinions(policy)
    packed = pickle.dumps(policy)
    assert b"torch" not in packed
    assert opinions(pickle.loads(packed)) == before


def test_it_is_found_by_name_and_says_what_it_lacks() -> None:
    with pytest.raises(MissingData, match="SB3Policy has no network: give trained="):
        SB3Policy().settings()
    with pytest.raises(UnknownName, match="Did you mean 'best'"):
        SB3Policy(draw="bets")  # type: ignore[arg-type]


# -- which models ------------------------------------------------------------------------------------------------


def test_a_vector_of_environments_tells_what_the_model_saw(corridor: Make, models: Models) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

    env = VecMonitor(DummyVecEnv([corridor, corridor]))
    policy = SB3Policy.from_model(models("a2c", env), env)
    assert policy.trained.indexed == corridor().indexed_settings  # type: ignore[union-attr]


def test_a_model_that_saw_normalised_arrays_is_refused(corridor: Make, models: Models) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    normalised = VecNormalize(DummyVecEnv([corridor]), norm_obs_keys=["text"])
    with pytest.raises(InvalidSetting, match="norm_obs=False"):
        SB3Policy.from_model(models("a2c", normalised), normalised)
    rewards_only = VecNormalize(DummyVecEnv([corridor]), norm_obs=False)
    SB3Policy.from_model(models("a2c", rewards_only), rewards_only)


def test_another_environment_than_the_models_is_refused(corridor: Make, models: Models) -> None:
    model = models("a2c", corridor())
    with pytest.raises(InvalidSetting, match="in no IndexedActions"):
        SB3Policy.from_model(model, text_world())
    with pytest.raises(InvalidSetting, match="trained on other spaces"):
        SB3Policy.from_model(model, corridor(k=5))


def test_a_model_with_another_network_is_refused(corridor: Make) -> None:
    from stable_baselines3 import A2C, DQN

    env = corridor()
    with pytest.raises(InvalidSetting, match="this is MultiInputPolicy"):
        SB3Policy.from_model(DQN("MultiInputPolicy", env, buffer_size=10), env)
    apart = A2C("MultiInputPolicy", env, policy_kwargs={"share_features_extractor": False})
    with pytest.raises(InvalidSetting, match="without an extractor of its own"):
        SB3Policy.from_model(apart, env)


# -- foreign and broken files ------------------------------------------------------------------------------------


class Malicious:
    """Runs a command where it is unpickled."""

    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (self.sign,)  # type: ignore[return-value]


def test_the_malicious_file_of_these_tests_would_act(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Malicious(tmp_path / "sign")))
    assert (tmp_path / "sign").exists()


def test_arrays_of_objects_are_not_unpickled(folder: Path, tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    with np.load(folder / "network.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays[next(iter(arrays))] = np.array([Malicious(sign)], dtype=object)
    np.savez(folder / "network.npz", **arrays)
    with pytest.raises(BadRecord, match="is truncated or no file of arrays"):
        SB3Policy.from_pretrained(folder)
    (folder / "network.npz").write_bytes(pickle.dumps(Malicious(sign)))
    with pytest.raises(BadRecord):
        SB3Policy.from_pretrained(folder)
    assert not sign.exists()


def test_a_file_of_sb3_is_not_opened(corridor: Make, models: Models, tmp_path: Path) -> None:
    sign, path = tmp_path / "sign", tmp_path / "model.zip"
    models("a2c", corridor()).save(path)
    with zipfile.ZipFile(path, "a") as packed, pytest.warns(UserWarning, match="Duplicate name"):
        packed.writestr("data", pickle.dumps(Malicious(sign)))
    with pytest.raises(MissingData, match="holds pickles, which are not read"):
        SB3Policy.from_pretrained(path)
    assert not sign.exists()


def test_a_missing_folder_or_file_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"it has no config\.json"):
        SB3Policy.from_pretrained(tmp_path / "nowhere")
    (folder / "network.npz").unlink()
    with pytest.raises(MissingData, match=r"it has no network\.npz"):
        SB3Policy.from_pretrained(folder)


@pytest.mark.parametrize("file", ["config.json", "network.npz"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file_is_told(folder: Path, file: str, share: float) -> None:
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(BadRecord, match=file):
        SB3Policy.from_pretrained(folder)


def _changed(folder: Path, **changes: Any) -> Path:
    config = json.loads((folder / "config.json").read_text())
    for key, value in changes.items():
        if isinstance(value, dict):
            config[key].update(value)
        else:
            config[key] = value
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"kind": "webshop-match"}, DataMismatch, "kind 'webshop-match', not 'sb3'"),
        ({"format": 99}, DataMismatch, "format 99"),
        ({"indexed": 3}, BadRecord, "no settings of IndexedActions"),
        ({"indexed": {"k": 0}}, BadRecord, "k must be"),
        ({"indexed": {"k": 10**9}}, BadRecord, "k must be"),
        ({"indexed": {"dimensions": 10**9}}, BadRecord, "dimensions must be"),
        ({"indexed": {"encoder": "os.system"}}, BadRecord, "Unknown encoder"),
        ({"indexed": {"dimensions": 17}}, DataMismatch, "do not fit"),
        ({"shape": {"policy_layers": [9]}}, DataMismatch, "do not fit"),
        ({"shape": {"policy_layers": [16_384]}}, DataMismatch, "do not fit"),
        (
            {"shape": {"kind": "multi-input", "policy_layers": [16_384]}, "indexed": {"k": 9999}},
            DataMismatch,
            "not fit",
        ),
        ({"shape": {"policy_layers": [10**9]}}, BadRecord, "Layers are"),
        ({"shape": {"policy_layers": 3}}, BadRecord, "config.json"),
        ({"shape": {"kind": "multi-input", "activation": "Module"}}, BadRecord, "no network of kind"),
        ({"shape": {"kind": []}}, BadRecord, "config.json"),
        ({"shape": None}, BadRecord, "no shape of a network"),
    ],
)
def test_settings_that_cannot_be_are_refused(folder: Path, changes: dict[str, Any], error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        SB3Policy.from_pretrained(_changed(folder, **changes))


def test_weights_that_are_no_numbers_are_refused(folder: Path) -> None:
    with np.load(folder / "network.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = next(iter(arrays))
    for broken in (np.full_like(arrays[name], np.nan), arrays[name].astype(np.float64), arrays[name].astype("S4")):
        np.savez(folder / "network.npz", **{**arrays, name: broken})
        with pytest.raises(BadRecord, match="finite numbers in single precision"):
            SB3Policy.from_pretrained(folder)


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(folder: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("a.npy", "w") as member:
        for _ in range(205):
            member.write(bytes(1_000_000))
    assert len(content.getvalue()) < 1_000_000
    (folder / "network.npz").write_bytes(content.getvalue())
    with pytest.raises(BadRecord, match="it unpacks to 205000000 bytes"):
        SB3Policy.from_pretrained(folder)


def test_a_folder_that_is_taken_is_not_written_over(policy: SB3Policy, folder: Path) -> None:
    before = (folder / "network.npz").read_bytes()
    with pytest.raises(LLMGymError, match="exists already"):
        policy.save_pretrained(folder)
    assert (folder / "network.npz").read_bytes() == before
