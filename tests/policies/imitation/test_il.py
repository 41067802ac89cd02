"""The imitation policy around small models that have learned nothing, and the shipped ones."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import numpy as np
import pytest

from llm_gym.core import Info
from llm_gym.errors import InvalidSetting, MissingData, MissingDependency, UnknownName
from llm_gym.policies import ILPolicy
from llm_gym.policies.imitation import il
from llm_gym.rollout import play
from llm_gym.wrappers import HistoryWrapper, ItemTitles

pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra torch")

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789$.,-<>[]/&()"
ENCODER = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 64,
}
TASK = 3
"""Of the embedded test panel."""


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    from llm_gym.policies.imitation.choice_tokens import with_markers

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    made = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return with_markers(made)


def choice_folder(folder: Path, **settings: Any) -> Path:
    from llm_gym.policies.imitation.choice_config import ChoiceConfig
    from llm_gym.policies.imitation.choice_model import ChoiceModel
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer

    config = ChoiceConfig(state_tokens=64, action_tokens=32, **settings)
    model = ChoiceModel.create(ENCODER, config, tokenizer(), pretrained=False, seed=1)
    ChoiceScorer(model, tokenizer()).save(folder)
    return folder


@pytest.fixture(scope="module")
def text_choice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_folder(tmp_path_factory.mktemp("text") / "choice", image=False)


@pytest.fixture
def env(make_env: Callable[..., gym.Env[str, str]]) -> gym.Env[str, str]:
    return make_env("llm_gym/WebShop-v1", split="test", max_episode_steps=15)


def on_results(env: gym.Env[str, str]) -> tuple[str, Info]:
    env.reset(options={"task": env.unwrapped.panel[TASK]})  # type: ignore[attr-defined]
    observation, *_, info = env.step("search[red shoe]")
    return observation, cast(Info, info)


def test_the_choice_is_the_scorers_best_of_the_actions_named_by_title(
    env: gym.Env[str, str], text_choice: Path
) -> None:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer

    observation, info = on_results(env)
    policy = ILPolicy(choice=text_choice, search="instruction")
    titled = ItemTitles(env)
    titled.reset(options={"task": env.unwrapped.panel[TASK]})  # type: ignore[attr-defined]
    *_, names = titled.step("search[red shoe]")
    scores = ChoiceScorer.from_pretrained(text_choice).scores(observation, names["admissible_actions"])
    actions = info["admissible_actions"]
    assert actions is not None
    assert policy.act(observation, info).action == actions[int(np.argmax(scores))]
    advised = policy.advise(observation, info, k=3)
    assert [opinion.action for opinion in advised] == [actions[at] for at in np.argsort(-scores, kind="stable")[:3]]
    assert [opinion.confidence for opinion in advised] == pytest.approx(np.sort(np.exp(scores))[::-1][:3], abs=1e-5)


def test_no_action_is_taken_twice_on_a_page_until_all_were(env: gym.Env[str, str], text_choice: Path) -> None:
    observation, info = on_results(env)
    policy = ILPolicy(choice=text_choice, search="instruction")
    actions = info["admissible_actions"]
    assert actions is not None
    taken = [policy.act(observation, info).action for _ in actions]
    assert sorted(map(str, taken)) == sorted(actions)
    assert policy.act(observation, info).action == taken[0]


def test_what_somebody_else_did_is_not_repeated_either(env: gym.Env[str, str], text_choice: Path) -> None:
    observation, info = on_results(env)
    policy = ILPolicy(choice=text_choice, search="instruction")
    first, second, *_ = (opinion.action for opinion in policy.advise(observation, info, k=2))
    policy.note(observation, info, first)
    assert policy.act(observation, info).action == second


def test_sampling_follows_the_probabilities_and_the_seed(env: gym.Env[str, str], text_choice: Path) -> None:
    observation, info = on_results(env)
    policy = ILPolicy(choice=text_choice, search="instruction", draw="sample")
    shares = {opinion.action: opinion.confidence for opinion in policy.advise(observation, info, k=100)}
    policy.reset(seed=4)
    drawn = [policy.act(observation, info).action for _ in range(400)]
    for action, share in shares.items():
        assert drawn.count(action) / 400 == pytest.approx(share, abs=0.1)  # 4 standard errors
    policy.reset(seed=4)
    assert [policy.act(observation, info).action for _ in range(50)] == drawn[:50]


def test_top_k_draws_among_the_five_best_only(env: gym.Env[str, str], text_choice: Path) -> None:
    observation, info = on_results(env)
    policy = ILPolicy(choice=text_choice, search="instruction", draw="top_k")
    best = {opinion.action for opinion in policy.advise(observation, info, k=5)}
    policy.reset(seed=0)
    assert {policy.act(observation, info).action for _ in range(100)} == best


def test_without_a_search_model_the_instruction_is_searched(env: gym.Env[str, str], text_choice: Path) -> None:
    observation, info = env.reset(options={"task": env.unwrapped.panel[TASK]})  # type: ignore[attr-defined]
    decision = ILPolicy(choice=text_choice, search="instruction").act(observation, cast(Info, info))
    assert decision.action == f"search[{' '.join(info['goal'].split())}]"


def test_a_model_with_history_reads_what_the_history_wrapper_shows(
    env: gym.Env[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer

    folder = choice_folder(tmp_path / "choice", image=False, observations=1, actions=5)
    read: list[str] = []
    original = ChoiceScorer.scores

    def listening(self: ChoiceScorer, state: str, *rest: Any) -> Any:
        read.append(state)
        return original(self, state, *rest)

    monkeypatch.setattr(ChoiceScorer, "scores", listening)
    policy = ILPolicy(choice=folder, search="instruction")
    policy.reset(seed=0)
    shown: list[str] = []
    wrapped = HistoryWrapper(ItemTitles(env), observations=1, actions=5)
    observation, info = wrapped.reset(options={"task": env.unwrapped.panel[TASK]})  # type: ignore[attr-defined]
    for _ in range(4):
        action = policy.act(observation, cast(Info, info)).action
        assert action is not None
        shown.append(observation)
        observation, *_, info = wrapped.step(action)
    assert read == shown[1:]  # the search page is not scored


def test_pictures_are_shown_to_a_model_that_reads_them(
    env: gym.Env[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer

    folder = choice_folder(tmp_path / "choice", image=True)
    images: list[Any] = []
    original = ChoiceScorer.scores

    def listening(self: ChoiceScorer, state: str, actions: Any, image: Any) -> Any:
        images.append(image)
        return original(self, state, actions, image)

    monkeypatch.setattr(ChoiceScorer, "scores", listening)
    policy = ILPolicy(choice=folder, search="instruction")
    observation, info = on_results(env)
    policy.act(observation, info)
    observation, *_, following = env.step(next(a for a in info["admissible_actions"] or () if a.startswith("click[b0")))
    policy.act(observation, cast(Info, following))
    assert images[0] is None
    assert np.array_equal(images[1], following["image_features"])


def test_wrong_settings_are_answered(text_choice: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'sample'"):
        ILPolicy(draw="samples")  # type: ignore[arg-type]
    with pytest.raises(InvalidSetting, match="does not look at pictures"):
        ILPolicy(choice=text_choice, search="instruction", image=True).advise("page", {"admissible_actions": ["a"]})
    with pytest.raises(MissingData, match=r"has no config\.json"):
        ILPolicy(choice=tmp_path).settings()
    with pytest.raises(MissingData, match="no folder 'choice'"):
        ILPolicy.from_pretrained(tmp_path)


def test_without_torch_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_gym.extras.installed", lambda module: module != "torch")
    il._scorer.cache_clear()
    with pytest.raises(MissingDependency, match=r'pip install "llm-gym\[torch\]"'):
        ILPolicy().advise("page", {"admissible_actions": ["click[a]"]})


def test_it_is_saved_loaded_and_sent_to_other_processes(
    env: gym.Env[str, str], text_choice: Path, tmp_path: Path
) -> None:
    policy = ILPolicy(choice=text_choice, search="instruction")
    task = env.unwrapped.panel[TASK]  # type: ignore[attr-defined]
    played = play(env, policy, task)
    policy.save_pretrained(tmp_path / "expert")
    again = ILPolicy.from_pretrained(tmp_path / "expert")
    assert again.settings() == policy.settings()
    assert play(env, again, task).steps == played.steps
    assert play(env, pickle.loads(pickle.dumps(policy)), task).steps == played.steps
    with pytest.raises(InvalidSetting, match="exists already"):
        policy.save_pretrained(tmp_path / "expert")


def test_a_page_without_actions_ends_the_episode(text_choice: Path) -> None:
    assert ILPolicy(choice=text_choice, search="instruction").act("", {"admissible_actions": []}).action is None
