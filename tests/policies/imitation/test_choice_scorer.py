"""The scorer: the scores of the plain forward, from a folder, whatever else is asked at the same time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra torch")

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData  # noqa: E402
from llm_gym.policies.imitation.checkpoint import CONFIG, TOKENIZER, WEIGHTS, Precision  # noqa: E402
from llm_gym.policies.imitation.choice_batch import ChoiceExample, Collator  # noqa: E402
from llm_gym.policies.imitation.choice_model import ChoiceModel  # noqa: E402
from llm_gym.policies.imitation.choice_scorer import ChoiceScorer  # noqa: E402

pytestmark = pytest.mark.torch

WORDS = st.sampled_from(["red", "blue", "shoe", "size", "[button]", "small", "buy", "[", "]", "zebra", "click"])
TEXTS = st.lists(WORDS, max_size=15).map(" ".join)
STATE, ACTIONS = "red shoe [button] buy now [button_]", ("click[buy now]", "click[item - red shoe]", "click[x]", "x")


@pytest.fixture(scope="module")
def model(make_model: Callable[..., ChoiceModel]) -> ChoiceModel:
    return make_model(image_width=4)


@pytest.fixture(scope="module")
def scorer(model: ChoiceModel, tokenizer: Any) -> ChoiceScorer:
    return ChoiceScorer(model, tokenizer, kept=8)


@pytest.fixture(scope="module")
def saved(scorer: ChoiceScorer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("choice") / "model"
    scorer.save(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    shutil.copytree(saved, tmp_path / "model")
    return tmp_path / "model"


def plain(model: ChoiceModel, tokenizer: Any, state: str, actions: Sequence[str], image: Any = None) -> Any:
    """Log-probabilities as training sees them: everything in one batch."""
    batch = Collator(tokenizer, model.settings)([ChoiceExample(state, tuple(actions), 0, image)])
    with torch.no_grad():
        return model(**batch)["logits"][0].log_softmax(-1).numpy()


@given(state=TEXTS, actions=st.lists(TEXTS, min_size=1, max_size=12), pictured=st.booleans())
@settings(max_examples=12)
def test_scores_are_those_of_the_plain_forward(
    scorer: ChoiceScorer, tokenizer: Any, state: str, actions: list[str], pictured: bool
) -> None:
    image = np.array([1, -1, 0.5, 2], np.float32) if pictured else None
    expected = plain(scorer.model, tokenizer, state, actions, image)
    assert scorer.scores(state, actions, image) == pytest.approx(expected, abs=1e-5)
    assert scorer.scores(state, actions, image) == pytest.approx(expected, abs=1e-5)  # from what was kept


def test_scores_of_a_legacy_model_are_those_of_the_plain_forward(
    make_model: Callable[..., ChoiceModel], tokenizer: Any
) -> None:
    legacy = make_model(legacy=True, image=False)
    expected = plain(legacy, tokenizer, STATE, ACTIONS)
    assert ChoiceScorer(legacy, tokenizer).scores(STATE, ACTIONS) == pytest.approx(expected, abs=1e-6)


def test_probabilities_sum_to_one_and_equal_actions_have_equal_ones(scorer: ChoiceScorer) -> None:
    scores = scorer.scores(STATE, [*ACTIONS, "Click[X]"])
    assert np.exp(scores).sum() == pytest.approx(1, abs=1e-5)
    assert scores[2] == scores[4]


@pytest.mark.parametrize("count", [1, 400])
def test_a_state_of_50_000_tokens_is_scored_with_one_action_and_with_400(scorer: ChoiceScorer, count: int) -> None:
    actions = [f"click[{'red ' * (number % 40)}shoe]" for number in range(count)]
    scores = scorer.scores("blue " * 50_000, actions)
    assert scores.shape == (count,)
    assert np.exp(scores).sum() == pytest.approx(1, abs=1e-4)


def test_what_was_read_lately_is_not_encoded_again(
    make_model: Callable[..., ChoiceModel], tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(image=False)
    read: list[int] = []
    encode = model.encode

    def counted(ids: Any, mask: Any) -> Any:
        read.append(len(ids))
        return encode(ids, mask)

    monkeypatch.setattr(model, "encode", counted)
    scorer = ChoiceScorer(model, tokenizer, kept=4)
    scorer.scores("red", ["buy", "x", "buy"])
    scorer.scores("blue", ["x", "shoe"])
    scorer.scores("Blue", ["x", "buy", "shoe"])
    # The state "red", its "buy" and "x", the state "blue" and "shoe"; the third time all is known.
    assert read == [1, 2, 1, 1]
    scorer.scores("red", [f"size {word}" for word in ("red", "blue", "x", "buy", "now")])
    read.clear()
    scorer.scores("red", ["size now", "x"])  # four are kept: "x" had to make room
    assert read == [1]


def test_threads_do_not_disturb_each_other(scorer: ChoiceScorer, tokenizer: Any) -> None:
    words = ["red", "blue", "shoe", "size", "small", "buy", "now", "back"]
    asked = [(" ".join(words[: number % 8]), [f"click[{word} {number % 5}]" for word in words]) for number in range(16)]
    expected = [plain(scorer.model, tokenizer, *question) for question in asked]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda question: scorer.scores(*question), asked))
    for answer, wanted in zip(answers, expected, strict=True):
        assert answer == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(("precision", "off_by"), [("float32", 0), ("float16", 0.05), ("int8", 0.5)])
def test_a_model_that_was_saved_scores_as_before(
    scorer: ChoiceScorer, tmp_path: Path, precision: Precision, off_by: float
) -> None:
    scorer.save(tmp_path / "model", precision)
    again = ChoiceScorer.from_pretrained(tmp_path / "model")
    assert again.config == scorer.config
    image = np.ones(4, np.float32)
    expected = scorer.scores(STATE, ACTIONS, image)
    assert again.scores(STATE, ACTIONS, image) == pytest.approx(expected, abs=off_by + 1e-6)


def test_reading_a_model_leaves_torchs_random_numbers_alone(saved: Path) -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    ChoiceScorer.from_pretrained(saved)
    assert torch.equal(torch.rand(1), expected)


def test_questions_that_cannot_be_answered_are_told(
    scorer: ChoiceScorer, make_model: Callable[..., ChoiceModel], tokenizer: Any
) -> None:
    with pytest.raises(InvalidSetting, match="no action to choose among"):
        scorer.scores(STATE, [])
    with pytest.raises(InvalidSetting, match="reads 4 numbers a picture"):
        scorer.scores(STATE, ACTIONS, np.zeros(512, np.float32))
    with pytest.raises(InvalidSetting, match="reads text only"):
        ChoiceScorer(make_model(image=False), tokenizer).scores(STATE, ACTIONS, np.zeros(4, np.float32))


def test_a_model_that_reads_pictures_is_not_taken_for_one_that_does_not(saved: Path) -> None:
    assert ChoiceScorer.from_pretrained(saved, image=True).config.image
    with pytest.raises(DataMismatch, match="reads pictures; wanted was one that reads text only"):
        ChoiceScorer.from_pretrained(saved, image=False)


def test_a_missing_file_is_told(folder: Path) -> None:
    (folder / TOKENIZER).unlink()
    with pytest.raises(MissingData, match=TOKENIZER):
        ChoiceScorer.from_pretrained(folder)


def test_a_truncated_file_of_weights_is_told(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: len(content) // 2])
    with pytest.raises(BadRecord, match="truncated"):
        ChoiceScorer.from_pretrained(folder)


def test_a_truncated_tokenizer_is_told(folder: Path) -> None:
    (folder / TOKENIZER).write_text((folder / TOKENIZER).read_text()[:100])
    with pytest.raises(BadRecord, match="is no tokenizer"):
        ChoiceScorer.from_pretrained(folder)


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"kind": "webshop-search"}, DataMismatch, "kind 'webshop-search'"),
        ({"image": False}, DataMismatch, "its config.json is of a model of"),
        ({"image_width": 10**12}, DataMismatch, "its config.json is of a model of"),
        ({"legacy": 1}, BadRecord, "'legacy' should be true or false, is 1"),
        ({"image_width": True}, BadRecord, "'image_width' should be a whole number"),
        ({"encoder": []}, BadRecord, "'encoder' should be an object"),
        ({"state_tokens": None}, BadRecord, "'state_tokens' should be a whole number"),
        ({"state_tokens": 1}, BadRecord, "state_tokens must be at least 3"),
        ({"state_tokens": 1000}, DataMismatch, "the encoder reads 512"),
        ({"heads": 3}, DataMismatch, "knows no setting 'heads'"),
        ({"encoder": {"model_type": "no such encoder"}}, DataMismatch, "none of transformers'"),
        ({"encoder": {"model_type": "bert", "_attn_implementation": "a/b"}}, DataMismatch, "names its code"),
    ],
    ids=str,
)
def test_a_configuration_of_another_model_is_told(
    folder: Path, changes: dict[str, Any], error: type[LLMGymError], told: str
) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, **changes}))
    with pytest.raises(error, match=told):
        ChoiceScorer.from_pretrained(folder)


def test_weights_of_another_encoder_are_told(folder: Path) -> None:
    """As many weights in all, but of another shape: half as wide heads do not show, a wider first half does."""
    config = json.loads((folder / CONFIG).read_text())
    encoder = config["encoder"]
    positions, kinds = encoder["max_position_embeddings"], encoder["type_vocab_size"]
    config["encoder"] = {**encoder, "max_position_embeddings": positions + 1, "type_vocab_size": kinds - 1}
    (folder / CONFIG).write_text(json.dumps(config))
    with pytest.raises(DataMismatch, match="do not fit the model"):
        ChoiceScorer.from_pretrained(folder)
