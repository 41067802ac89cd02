"""The network: probabilities that are some, texts that do not disturb one another, weights that learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra torch")

import torch

from llm_gym.policies.butler.generation import Reading, alike
from llm_gym.policies.butler.layers import Convolution, positions
from llm_gym.policies.butler.model import Memory, Texts
from llm_gym.policies.butler.observation import RESTART, ObservationPool

if TYPE_CHECKING:
    from llm_gym.policies.butler.generation import Writer

pytestmark = pytest.mark.torch


def read(writer: Writer, *texts: str) -> tuple[Memory, torch.Tensor]:
    readings = [Reading(writer.tokens.ids(text), writer.tokens.ids("put a mug in desk")) for text in texts]
    return writer.look(readings, torch.zeros(len(texts), writer.model.config.width))


def test_the_pointer_softmax_sums_to_one(writer: Writer) -> None:
    memory, _ = read(writer, "you see mug 1", "on the shelf 1 you see vase 2")
    shares = writer.model.shares(memory, torch.tensor([[2, 5, 6], [2, 7, 8]]))
    assert shares.shape == (2, 3, len(writer.tokens))
    assert shares.sum(-1).detach().numpy() == pytest.approx(np.ones((2, 3)), abs=1e-5)


def test_it_copies_a_word_that_it_never_learned(writer: Writer) -> None:
    model, [vase] = writer.model, writer.tokens.ids("vase")
    with torch.no_grad():
        for layer in (model.decoder.gate_read, model.decoder.gate_written, model.decoder.gate):
            layer.weight.zero_()
            layer.bias.zero_()
        model.decoder.gate.weight.fill_(100.0)  # copies where what it is multiplied by is negative
        model.decoder.gate_read.bias.fill_(-1.0)
    with_vase, _ = read(writer, "vase vase vase")
    without, _ = read(writer, "mug mug mug")
    begin = torch.tensor([[writer.tokens.begin]])
    assert model.shares(with_vase, begin)[0, 0, vase].item() == pytest.approx(1.0, abs=1e-4)
    assert model.shares(without, begin)[0, 0, vase].item() == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("other", ["a", "you see mug 1 " * 3, "you see mug 1 " * 9, "shelf " * 60])
def test_what_is_made_of_a_text_does_not_depend_on_the_texts_beside_it(writer: Writer, other: str) -> None:
    texts = ("on the desk 1 you see mug 2", "you see mug 1 " * 10 + "vase", "go to shelf 1")
    assert [len(writer.tokens.ids(text)) for text in texts] == [8, 41, 4]  # one is beyond the longest, 40
    written = torch.tensor([[2, 5, 6, 9]])
    for text in texts:
        alone, hidden = read(writer, text)
        beside, hidden_beside = read(writer, text, other)
        first = Memory(Texts(*(part[:1] for part in beside.seen)), type(beside.opened)(*(x[:1] for x in beside.opened)))
        shares, shares_beside = (writer.model.shares(each, written).detach().numpy() for each in (alone, first))
        assert shares_beside == pytest.approx(shares, abs=2e-6)
        assert hidden_beside[:1].detach().numpy() == pytest.approx(hidden.detach().numpy(), abs=2e-6)


def test_a_convolution_is_the_sum_over_the_tokens_around(writer: Writer) -> None:
    layer = Convolution(4, 3)
    values, mask = torch.randn(1, 5, 4), torch.tensor([[1.0, 1, 1, 1, 0]])
    weights = layer.depthwise.weight.detach().numpy()[:, 0, 0]  # (D, kernel)
    shown = np.pad(values[0].numpy() * mask[0].numpy()[:, None], ((1, 1), (0, 0)))
    spread = np.array([sum(weights[:, at] * shown[place + at] for at in range(3)) for place in range(5)])
    expected = spread @ layer.pointwise.weight.detach().numpy().T + layer.pointwise.bias.detach().numpy()
    assert layer(values, mask)[0].detach().numpy() == pytest.approx(np.maximum(expected, 0), abs=1e-5)


def test_positions_are_sines_and_cosines() -> None:
    table = positions(3, 4).numpy()
    slow = 1 / 10_000
    expected = [[np.sin(at), np.sin(at * slow), np.cos(at), np.cos(at * slow)] for at in range(3)]
    assert table == pytest.approx(np.array(expected), abs=1e-6)


def test_gradients_reach_every_weight_and_not_the_embeddings(writer: Writer) -> None:
    _, hidden = read(writer, "on the desk 1 you see mug 2", "go to shelf 1")
    again, _ = writer.look(
        [Reading(writer.tokens.ids("you see mug"), writer.tokens.ids("put mug in desk"))] * 2, hidden
    )
    shares = writer.model.shares(again, torch.tensor([[2, 5, 6], [2, 7, 8]]))
    shares[:, :, 7].log().sum().backward()
    without = [name for name, weight in writer.model.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert without == []
    assert "table" not in dict(writer.model.named_parameters())
    assert not writer.model.table.requires_grad


def test_the_greedy_command_is_the_likeliest_token_each_time(writer: Writer) -> None:
    memory, _ = read(writer, "on the desk 1 you see mug 2")
    ids = [writer.tokens.begin]
    while len(ids) <= writer.model.config.target_tokens and (len(ids) == 1 or ids[-1] != writer.tokens.end):
        ids.append(int(writer.model.shares(memory, torch.tensor([ids]))[0, -1].argmax()))
    assert writer.greedy(memory) == [writer.tokens.text(ids[1:])]


def test_many_states_together_get_the_commands_that_each_gets_alone(writer: Writer) -> None:
    pools = [ObservationPool(3).after("You see a mug 1." * (number + 1), RESTART) for number in range(40)]
    readings = [writer.reading(pool, "put a mug in desk") for pool in pools]
    hidden = torch.randn(40, writer.model.config.width)
    together, after = writer.commands(readings, hidden)
    alone = [writer.commands([reading], hidden[[row]]) for row, reading in enumerate(readings)]
    assert together == [commands[0] for commands, _ in alone]
    assert after.numpy() == pytest.approx(torch.cat([one for _, one in alone]).numpy(), abs=2e-6)


def test_a_reading_is_the_pool_and_its_separators(writer: Writer) -> None:
    pool = (
        ObservationPool(3).after("You see nothing.", RESTART).after("On the desk 1, you see a mug 1.", "go to desk 1")
    )
    expected = writer.tokens.ids("You see nothing. [SEP] On the desk 1, you see mug 1. [SEP] go to desk 1")
    assert writer.reading(pool, "look").seen == expected


def test_beams_are_commands_in_the_order_of_their_keys(writer: Writer) -> None:
    with torch.no_grad():  # the likeliest token is the end
        writer.model.widen.weight.zero_()
        writer.model.widen.bias.copy_(writer.model.table[writer.tokens.end] / 10)
    memory, _ = read(writer, "on the desk 1 you see mug 2")
    found = writer.beams(memory, width=5, finished=4)
    assert len({command for command, _ in found}) == len(found) > 0
    keys = [-written.log_probability / (len(written.tokens) + 1) for _, written in found]
    assert keys == sorted(keys)


def test_groups_of_similar_length_hold_everything_once() -> None:
    groups = list(alike([5, 1, 4, 2, 3], most=2))
    assert groups == [[1, 3], [4, 2], [0]]


def test_commands_in_the_words_of_the_papers_come_back_whole(writer: Writer) -> None:
    tokens = writer.tokens
    assert tokens.text(tokens.ids("put mug 1 in/on shelf 1")) == "put mug 1 in/on shelf 1"
    assert tokens.target("go to desk 1", longest=3) == tokens.ids("go to desk")
    assert tokens.text([*tokens.ids("look"), tokens.end, *tokens.ids("mug")]) == "look"
