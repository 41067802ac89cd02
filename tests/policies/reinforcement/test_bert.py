"""The imitation model with a value: its judgements against its parts, what is trained, and what is read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

for package in ("torch", "transformers"):
    pytest.importorskip(package, reason="needs the extra torch")

import torch  # noqa: E402

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData  # noqa: E402
from llm_gym.policies.imitation.choice_scorer import ChoiceScorer  # noqa: E402
from llm_gym.policies.reinforcement.loading import load_network  # noqa: E402
from llm_gym.policies.reinforcement.network import Situation  # noqa: E402

if TYPE_CHECKING:
    from llm_gym.policies.reinforcement.bert import BertActorCritic

pytestmark = pytest.mark.torch

Make = Callable[..., "BertActorCritic"]

ITEM = Situation(
    "i want a red shoe",
    "i want a red shoe\n[button] small [button_]\n[button] large [button_]",
    ("click[buy now]", "click[small]", "click[large]", "click[back to search]"),
    np.array([1, -1, 0.5, 2], np.float32),
)
SEARCH = Situation("i want a blue shirt", "i want a blue shirt", ("search[blue shirt]", "search[a shirt]"))
AGAIN = Situation("i want a red shoe", ITEM.page, ("click[large]", "search[a shirt]"))


def test_the_policy_is_what_the_choice_model_makes_of_the_page(make_bert: Make) -> None:
    network = make_bert()
    judgement = network.judge([ITEM, SEARCH, AGAIN])
    scorer = ChoiceScorer(network.choice, network.tokenizer)
    for row, one in zip(judgement.log_probabilities, (ITEM, SEARCH, AGAIN), strict=True):
        expected = scorer.scores(one.page, one.actions, one.image)
        assert row[: len(one.actions)].detach().numpy() == pytest.approx(expected, abs=1e-5)
        assert torch.isneginf(row[len(one.actions) :]).all()


def test_the_value_is_read_off_the_first_token_and_the_picture_takes_no_part(make_bert: Make) -> None:
    network = make_bert()
    values = network.judge([ITEM, SEARCH]).values
    ids = torch.tensor([network.tokenizer.encode(ITEM.page).ids])
    first = network.choice.encoder(input_ids=ids).last_hidden_state[0, 0].detach().numpy()  # (D,)
    inner, outer = (
        {name: weight.detach().numpy() for name, weight in network.value[place].named_parameters()} for place in (0, 2)
    )
    hidden = inner["weight"] @ first + inner["bias"]
    expected = outer["weight"] @ np.where(hidden > 0, hidden, 0.01 * hidden) + outer["bias"]
    assert values[0].item() == pytest.approx(10 * expected[0], abs=1e-4)
    blank = Situation(ITEM.goal, ITEM.page, ITEM.actions[:1])
    assert network.judge([blank]).values[0].item() == pytest.approx(values[0].item(), abs=1e-5)


def trained(network: BertActorCritic) -> set[str]:
    """The weights that policy and value give a gradient."""
    judgement = network.judge([ITEM, SEARCH])
    (judgement.values.square().sum() - judgement.log_probabilities[:, 0].sum()).backward()
    return {name for name, weight in network.named_parameters() if weight.grad is not None and weight.grad.any()}


def test_gradients_reach_all_that_should_learn_and_nothing_else(make_bert: Make) -> None:
    everything = {name for name, _ in make_bert().named_parameters()}
    # What is added to all scores of a page alike, and to all that a head compares alike, changes no probability.
    without = {"choice.score.bias"} | {name for name in everything if name.endswith("attention.self.key.bias")}
    whole = make_bert()
    whole.freeze(-1)
    assert trained(whole) >= everything - without
    below = ("choice.encoder.embeddings.word_embeddings.", "choice.encoder.encoder.layer.0.")
    half = make_bert()
    half.freeze(1)
    assert trained(half) >= {name for name in everything - without if not name.startswith(below)}
    assert not any(name.startswith(below) for name in trained(half))
    heads = make_bert()
    heads.freeze(2)
    above = {name for name in everything if not name.startswith("choice.encoder.")}
    assert trained(heads) - without == above - without


@pytest.mark.parametrize("layers", [-2, 3])
def test_more_layers_than_there_are_cannot_be_frozen(make_bert: Make, layers: int) -> None:
    with pytest.raises(InvalidSetting, match="2 layers"):
        make_bert().freeze(layers)


def test_a_frozen_encoder_judges_as_one_that_learns(make_bert: Make) -> None:
    network = make_bert()
    learning = network.judge([ITEM, SEARCH, AGAIN])
    network.freeze(2)
    for _ in range(2):  # encoded, and kept
        frozen = network.judge([ITEM, SEARCH, AGAIN])
        torch.testing.assert_close(frozen, learning, atol=1e-5, rtol=0)


def test_what_a_frozen_encoder_makes_of_a_text_is_the_same_to_the_last_bit_whatever_came_before(
    make_bert: Make,
) -> None:
    network, other = make_bert(), make_bert()
    for one in (network, other):
        one.freeze(2)
    network.judge([SEARCH, AGAIN])
    assert torch.equal(network.judge([ITEM]).log_probabilities, other.judge([ITEM]).log_probabilities)


def test_kept_encodings_are_forgotten_where_other_weights_are_loaded(make_bert: Make) -> None:
    network, other = make_bert(), make_bert(seed=1)
    for one in (network, other):
        one.freeze(2)
    network.judge([ITEM])
    network.load_state_dict(other.state_dict())
    assert torch.equal(network.judge([ITEM]).log_probabilities, other.judge([ITEM]).log_probabilities)


@pytest.mark.parametrize("settings", [{"observations": 1}, {"actions": 2}, {"legacy": True}])
def test_a_choice_model_that_needs_more_than_a_page_is_refused(make_bert: Make, settings: dict[str, int]) -> None:
    with pytest.raises(InvalidSetting, match="one page at a time"):
        make_bert(**settings)


@pytest.mark.parametrize("image", [True, False])
def test_what_is_saved_is_read_back(make_bert: Make, tmp_path: Path, image: bool) -> None:
    network = make_bert(image=image)
    network.save(tmp_path / "model")
    read = load_network(tmp_path / "model")
    torch.testing.assert_close(read.judge([ITEM, SEARCH]), network.judge([ITEM, SEARCH]), atol=1e-6, rtol=0)


def test_eight_bits_a_weight_are_nearly_the_same(make_bert: Make, tmp_path: Path) -> None:
    network = make_bert()
    network.save(tmp_path / "whole")
    network.save(tmp_path / "small", "int8")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("small", "whole")]
    assert sizes[0] < sizes[1]
    read = load_network(tmp_path / "small").judge([ITEM])
    torch.testing.assert_close(read, network.judge([ITEM]), atol=0.2, rtol=0.1)


def test_a_folder_of_something_else_or_with_a_cut_file_is_refused(make_bert: Make, tmp_path: Path) -> None:
    network = make_bert()
    ChoiceScorer(network.choice, network.tokenizer).save(tmp_path / "choice")
    with pytest.raises(DataMismatch, match=r"'webshop-choice', no actor-critic"):
        load_network(tmp_path / "choice")
    with pytest.raises(MissingData, match=r"config\.json"):
        load_network(tmp_path)
    network.save(tmp_path / "model")
    config, weights = tmp_path / "model" / "config.json", tmp_path / "model" / "model.safetensors"
    whole = json.loads(config.read_text())
    encoder = whole["encoder"] | {"num_hidden_layers": 1000}
    config.write_text(json.dumps(whole | {"encoder": encoder}))
    with pytest.raises(DataMismatch, match="weights"):
        load_network(tmp_path / "model")
    config.write_text(json.dumps(whole))
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(BadRecord, match="truncated"):
        load_network(tmp_path / "model")
    config.write_text("[]")
    with pytest.raises(BadRecord, match="no configuration"):
        load_network(tmp_path / "model")
