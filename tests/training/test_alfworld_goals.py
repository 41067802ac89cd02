"""The goal reader's training: its network, and the script, in a tiny size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_gym.envs.alfworld.games import open_games
from llm_gym.errors import InvalidSetting, MissingData
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.goal_reader.model import GoalModel, Names
from llm_gym.policies.alfworld.goal_reader.tokens import tokens
from llm_gym.policies.alfworld.goals import Errand, Look, Put
from llm_gym.training.goal_examples import GoalExample, goal_examples, vocabulary

torch = pytest.importorskip("torch", reason="needs the extra torch")
pytestmark = pytest.mark.torch

from llm_gym.training.goal_network import (  # noqa: E402 - it needs torch
    GoalNetwork,
    Learning,
    learn,
    measure,
    sentences_of,
)

SCRIPT = Path(__file__).parents[2] / "train" / "alfworld_goals.py"
ROOM = frozenset({"bed", "desk", "drawer", "shelf"})
MADE_UP = {"blip": Put("pen", "desk"), "blop": Put("pen", "shelf", 1, "clean"), "zork": Put("cup", "desk", 2)}
MADE_UP_LOOK: dict[str, Errand] = {"fnord": Look("cup", "desklamp")}
"""Words that no rule knows → what they mean."""
QUICK = Learning(width=8, passes=30, batch=8, learning_rate=0.02, unread=0.0, dropout=0.0)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def made_up(count: int = 10) -> list[GoalExample]:
    meanings = {**MADE_UP, **MADE_UP_LOOK}
    return [
        GoalExample(f"{word}-{at}", f"{word} w{at}", ROOM, errand)
        for word, errand in meanings.items()
        for at in range(count)
    ]


def names_of(examples: list[GoalExample]) -> Names:
    read = vocabulary((tokens(example.sentence, example.places) for example in examples), 2)
    return Names(read, ("cup", "pen"), ("bed", "desk", "desklamp", "shelf"), ("desklamp",))


def trained(learning: Learning = QUICK) -> tuple[GoalNetwork, Names]:
    examples = made_up()
    names = names_of(examples)
    return learn(sentences_of(examples, names), names, learning, lambda *_: True), names


def test_what_was_learned_is_understood_in_new_sentences_and_runs_without_torch() -> None:
    network, names = trained()
    model = GoalModel(names, network.numbers())
    for word, errand in {**MADE_UP, **MADE_UP_LOOK}.items():
        example = GoalExample("", f"{word} never seen", ROOM, errand)
        assert measure(network, sentences_of([example], names)).right == 1
        probabilities = model.probabilities(tokens(example.sentence, ROOM), ROOM)
        ours = probabilities.ravel()[sentences_of([example], names).label.item()]
        assert ours == probabilities.max() > 0.5


def test_numpy_computes_what_torch_does() -> None:
    examples = made_up(3)
    names = names_of(examples)
    network = GoalNetwork(names, QUICK).eval()
    with torch.no_grad():
        for array in network.parameters():
            array.copy_(torch.randn(array.shape).half().float())  # as `numbers` rounds
    sentences = sentences_of(examples, names)
    model = GoalModel(names, network.numbers())
    expected = torch.softmax(network(sentences.rows, sentences.possible), 1).detach().numpy()
    for row, example in zip(expected, examples, strict=True):
        found = model.probabilities(tokens(example.sentence, example.places), example.places)
        np.testing.assert_allclose(found.ravel(), row, rtol=1e-4, atol=1e-7)


def test_the_loss_is_minus_the_log_of_what_was_meant() -> None:
    examples = made_up(2)
    names = names_of(examples)
    network = GoalNetwork(names, QUICK).eval()
    sentences = sentences_of(examples, names)
    model = GoalModel(names, {name: array.detach().numpy() for name, array in network.arrays.items()})
    logs = [
        -np.log(model.probabilities(tokens(one.sentence, one.places), one.places).ravel()[label])
        for one, label in zip(examples, sentences.label.tolist(), strict=True)
    ]
    assert measure(network, sentences, batch=3).loss == pytest.approx(np.mean(logs), rel=1e-4)


def test_gradients_reach_every_array() -> None:
    examples = made_up(2)
    names = names_of(examples)
    network = GoalNetwork(names, QUICK)
    sentences = sentences_of(examples, names)
    scores = network(sentences.rows, sentences.possible)
    torch.nn.functional.cross_entropy(scores, sentences.label).backward()
    moved = {name for name, array in network.arrays.items() if array.grad is not None and array.grad.abs().sum() > 0}
    assert moved == set(names.shapes(8))


def test_the_same_seed_gives_the_same_weights_and_another_others() -> None:
    learning = Learning(width=4, passes=2, batch=8)
    first, again, other = (trained(one)[0].numbers() for one in (learning, learning, Learning(4, 2, 8, seed=1)))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["vectors"], other["vectors"])


def test_a_training_ends_when_it_is_told_to() -> None:
    examples, passes = made_up(2), []
    names = names_of(examples)

    def told(number: int, loss: float, network: GoalNetwork) -> bool:
        passes.append(number)
        assert loss > 0
        assert not network.training
        return number < 3

    learn(sentences_of(examples, names), names, QUICK, told)
    assert passes == [1, 2, 3]


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    with pytest.raises(InvalidSetting, match=r"The loss of pass \d+ is (nan|inf)"):
        trained(Learning(width=4, passes=5, learning_rate=1e30))


def test_an_errand_that_the_names_lack_counts_as_read_wrong() -> None:
    network, names = trained(Learning(width=4, passes=1))
    unknown = sentences_of([GoalExample("", "blip", ROOM, Put("throne", "desk"))], names)
    assert unknown.label.tolist() == [-1]
    assert measure(network, unknown) == (0.0, 0.0)


# -- examples ------------------------------------------------------------------------------------------------------


def test_the_sentences_of_games_come_with_what_they_mean() -> None:
    store = open_games()
    examples = goal_examples(store, "valid_seen", templated=True)
    assert len(examples) == len(store.entries("valid_seen"))
    for example in examples[:20]:
        assert isinstance(example.errand, Look) or example.errand.place in example.places
        assert example.errand.thing in example.sentence


def test_games_that_nobody_described_teach_nothing() -> None:
    with pytest.raises(MissingData, match="no goals that people wrote"):
        goal_examples(open_games(), "train")
    with pytest.raises(MissingData, match="split 'holiday'"):
        goal_examples(open_games(), "holiday", templated=True)


def test_a_vocabulary_is_what_several_parts_hold() -> None:
    assert vocabulary([["b", "a", "a"], ["b"], ["c", "b", "a"]], 2) == ("a", "b")


# -- the script ----------------------------------------------------------------------------------------------------


def test_the_script_goes_the_whole_way(script: Any, tmp_path: Path) -> None:
    args = script.Args(out=tmp_path / "new", smoke=True, passes=1, width=4)
    folder = script.main(args)
    assert GoalReader.from_pretrained(folder).model.training["passes"] == 1
    rows = [json.loads(line) for line in (tmp_path / "new" / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1]
    assert json.loads((tmp_path / "new" / "held_out.json").read_text()).keys() == {"loss", "right"}
    with pytest.raises(InvalidSetting, match="holds a reader already"):
        script.main(args)


@pytest.mark.parametrize("wrong", [{"passes": 0}, {"width": 0}, {"learning_rate": -1.0}])
def test_senseless_settings_are_refused(script: Any, tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting, match="must be"):
        script.main(script.Args(out=tmp_path, smoke=True, **wrong))


def test_people_s_goals_are_needed_without_smoke(script: Any, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="no goals that people wrote"):
        script.main(script.Args(out=tmp_path, games="embedded"))
