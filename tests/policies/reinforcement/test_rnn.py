"""The recurrent actor-critic: what its judgements depend on, and what is read back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData  # noqa: E402
from llm_gym.policies.reinforcement.loading import load_network  # noqa: E402
from llm_gym.policies.reinforcement.network import Situation  # noqa: E402
from llm_gym.policies.reinforcement.rnn import RecurrentActorCritic  # noqa: E402
from llm_gym.policies.reinforcement.rnn_config import RecurrentConfig  # noqa: E402
from llm_gym.training.a2c.words import word_tokenizer  # noqa: E402

pytestmark = pytest.mark.torch

GOAL = "i need a red shoe"
PAGE = "Instruction:\ni need a red shoe\n[button] Red [button_]\n[button] Blue [button_]\nShoe of leather"
SMALL = RecurrentConfig(words=6, width=5, image_width=4)


def situation(
    page: str = PAGE, actions: tuple[str, ...] = ("click[red]", "click[buy now]", "click[blue]")
) -> Situation:
    return Situation(GOAL, page, actions, np.arange(4, dtype=np.float32))


def network(config: RecurrentConfig = SMALL, seed: int = 0) -> RecurrentActorCritic:
    return RecurrentActorCritic.create(config, word_tokenizer([PAGE, GOAL, "click[buy now]"], None), seed)


LONG = situation(PAGE * 3, ("search[a long way to say that red shoes are wanted]",))
OTHERS = (LONG, Situation("go", "room", ("left", "right", "open", "close", "a", "b")), situation())


def test_a_judgement_does_not_depend_on_what_else_is_in_the_batch() -> None:
    model = network().double()
    alone = model.judge([situation()])
    for batch in ([situation(), *OTHERS], [*OTHERS, situation()]):
        place = 0 if batch[0].page == PAGE else len(OTHERS)
        among = model.judge(batch)
        torch.testing.assert_close(among.log_probabilities[place, :3], alone.log_probabilities[0], atol=1e-12, rtol=0)
        torch.testing.assert_close(among.values[place], alone.values[0], atol=1e-12, rtol=0)


def test_probabilities_are_of_the_own_actions_only() -> None:
    logarithms = network().judge([situation(), *OTHERS]).log_probabilities
    assert logarithms.shape == (4, 6)
    assert torch.isneginf(logarithms).sum(1).tolist() == [3, 5, 0, 3]
    torch.testing.assert_close(logarithms.exp().sum(1), torch.ones(4))


def test_equal_actions_are_as_probable_wherever_they_stand() -> None:
    logarithms = network().judge([situation(actions=("click[red]", "click[blue]", "click[red]"))]).log_probabilities[0]
    assert logarithms[0] == logarithms[2] != logarithms[1]
    turned = network().judge([situation(actions=("click[blue]", "click[red]", "click[red]"))]).log_probabilities[0]
    torch.testing.assert_close(turned, logarithms[[1, 0, 2]])


def test_an_answer_depends_on_page_goal_actions_and_picture() -> None:
    model = network()
    first = situation()
    others = [
        Situation(GOAL, PAGE.replace("leather", "red"), first.actions, first.image),
        Situation(GOAL.replace("red", "shoe"), PAGE, first.actions, first.image),
        Situation(GOAL, PAGE, first.actions, None),
    ]
    judgement = model.judge([first, *others])
    for other in range(1, 4):
        assert judgement.values[0] != judgement.values[other]
        assert (judgement.log_probabilities[0] != judgement.log_probabilities[other]).any()


def test_a_page_without_a_picture_is_read_as_one_of_zeros() -> None:
    blank = Situation(GOAL, PAGE, ("click[red]",), np.zeros(4, np.float32))
    values = network().judge([blank, Situation(GOAL, PAGE, ("click[red]",))]).values
    assert values[0] == values[1]


def test_a_network_that_reads_no_pictures_passes_over_them() -> None:
    model = network(RecurrentConfig(words=6, width=5, image=False))
    values = model.judge([situation(), Situation(GOAL, PAGE, situation().actions)]).values
    assert values[0] == values[1]


def test_texts_that_are_empty_or_unknown_are_judged() -> None:
    judgement = network().judge([Situation("", "", ("", "Ω")), situation()])
    assert torch.isfinite(judgement.values).all()
    assert torch.isfinite(judgement.log_probabilities[0, :2]).all()


@pytest.mark.parametrize("of_values", [True, False])
def test_gradients_reach_every_weight_that_should_move_and_no_other(of_values: bool) -> None:
    model = network().double()
    judgement = model.judge([situation(), LONG])
    torch.autograd.backward(judgement.values.sum() if of_values else judgement.log_probabilities[0, 0])
    everything = dict(model.named_parameters())
    moved = {name for name, weight in everything.items() if weight.grad is not None and weight.grad.abs().max() > 1e-12}
    still = {name for name in everything if name.partition(".")[0] in (OF_SCORES if of_values else OF_VALUES)}
    if not of_values:
        still.add("score.3.bias")  # what is added to every score changes no probability
    perhaps = {"score.1.bias"}  # moves only where one action switches on what another leaves off
    assert moved | perhaps == (everything.keys() - still) | perhaps


OF_SCORES, OF_VALUES = ("action_to_state", "action_to_goal", "action", "score"), ("value",)


def test_the_same_seed_gives_the_same_weights_and_leaves_the_generator_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, two, other = network(seed=1), network(seed=1), network(seed=2)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one.words.weight, other.words.weight)


# -- folders ---------------------------------------------------------------------------------------------------


def test_what_is_read_back_judges_alike(tmp_path: Path) -> None:
    model = network()
    model.save(tmp_path / "model")
    again = load_network(tmp_path / "model")
    assert isinstance(again, RecurrentActorCritic)
    assert again.config == SMALL
    expected, found = model.judge([situation(), *OTHERS]), again.judge([situation(), *OTHERS])
    assert torch.equal(found.values, expected.values)
    assert torch.equal(found.log_probabilities, expected.log_probabilities)


def test_half_precision_changes_probabilities_a_little(tmp_path: Path) -> None:
    model = network()
    model.save(tmp_path / "model", "float16")
    found = load_network(tmp_path / "model").judge([situation()]).log_probabilities
    torch.testing.assert_close(found, model.judge([situation()]).log_probabilities, atol=1e-2, rtol=0)


def changed(folder: Path, **values: object) -> Path:
    path = folder / "config.json"
    config = json.loads(path.read_text()) | values
    path.write_text(json.dumps({name: value for name, value in config.items() if value is not None}))
    return folder


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"kind": "webshop-choice"}, DataMismatch, "webshop-choice"),
        ({"width": 6}, DataMismatch, "weights"),
        ({"width": 10**4}, DataMismatch, "weights"),
        ({"width": "5"}, BadRecord, "'width' should be a whole number, is '5'"),
        ({"image": 1}, BadRecord, "'image' should be true or false, is 1"),
        ({"words": None}, BadRecord, "'words' should be a whole number, is None"),
        ({"width": 10**9}, BadRecord, "width of a recurrent network must be from 1 to 100,000, got 1000000000"),
        ({"words": 0}, BadRecord, "words of a recurrent network must be from 1 to 100,000, got 0"),
        ({"layers": 2}, DataMismatch, "no setting 'layers'"),
    ],
)
def test_a_checkpoint_that_is_none_or_another_is_refused(
    tmp_path: Path, values: dict[str, object], error: type[Exception], said: str
) -> None:
    network().save(tmp_path / "model")
    with pytest.raises(error, match=said):
        load_network(changed(tmp_path / "model", **values))


def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    network().save(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(MissingData, match=r"it has no model\.safetensors"):
        load_network(tmp_path / "model")


def test_a_tokenizer_of_another_size_is_refused(tmp_path: Path) -> None:
    network().save(tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text(
        word_tokenizer(["more words than before, and others"], None).to_str()
    )
    with pytest.raises(DataMismatch, match="weights"):
        load_network(tmp_path / "model")


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="width of a recurrent network must be from 1 to 100,000, got 0"):
        RecurrentConfig(width=0)
    with pytest.raises(InvalidSetting, match="head_tokens must be below page_tokens, 10, got 10"):
        RecurrentConfig(page_tokens=10, head_tokens=10)


def test_a_picture_of_another_width_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="reads 4 numbers"):
        network().judge([Situation(GOAL, PAGE, ("click[red]",), np.zeros(3, np.float32))])
