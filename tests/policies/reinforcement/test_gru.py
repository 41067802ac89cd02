"""The GRU that is quick on a CPU computes what torch's does."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from llm_gym.policies.reinforcement.gru import BidirectionalGRU  # noqa: E402

pytestmark = pytest.mark.torch

LENGTHS = (5, 1, 7, 3)
WIDTH, HIDDEN = 3, 4


@pytest.fixture
def ours() -> BidirectionalGRU:
    torch.manual_seed(0)
    return BidirectionalGRU(WIDTH, HIDDEN).double()


def mask_of(lengths: tuple[int, ...]) -> Tensor:
    mask: Tensor = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return mask


def theirs(ours: BidirectionalGRU) -> nn.GRU:
    """torch's own with the same weights."""
    gru = nn.GRU(WIDTH, HIDDEN, batch_first=True, bidirectional=True).double()
    state = {}
    for direction, suffix in enumerate(("", "_reverse")):
        state[f"weight_ih_l0{suffix}"] = ours.input_weight[direction].T
        state[f"weight_hh_l0{suffix}"] = ours.hidden_weight[direction].T
        state[f"bias_ih_l0{suffix}"] = ours.input_bias[direction, 0]
        state[f"bias_hh_l0{suffix}"] = ours.hidden_bias[direction, 0]
    gru.load_state_dict({name: values.detach().clone() for name, values in state.items()})
    return gru


def test_it_computes_what_a_packed_gru_does(ours: BidirectionalGRU) -> None:
    inputs = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, dtype=torch.float64)
    packed = pack_padded_sequence(inputs, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(theirs(ours)(packed)[0], batch_first=True)
    torch.testing.assert_close(ours(inputs, mask_of(LENGTHS)), expected)


def test_its_gradients_are_those_of_small_differences(ours: BidirectionalGRU) -> None:
    inputs = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, dtype=torch.float64, requires_grad=True)
    names, weights = zip(*ours.named_parameters(), strict=True)

    def run(inputs: Tensor, *weights: Tensor) -> Tensor:
        outputs: Tensor = torch.func.functional_call(
            ours, dict(zip(names, weights, strict=True)), (inputs, mask_of(LENGTHS))
        )
        return outputs

    assert torch.autograd.gradcheck(run, (inputs, *weights))


def test_what_stands_at_padding_is_not_read(ours: BidirectionalGRU) -> None:
    inputs = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, dtype=torch.float64)
    mask = mask_of(LENGTHS)
    expected = ours(inputs, mask)
    torch.testing.assert_close(ours(inputs.masked_fill(~mask.unsqueeze(-1), 1e6), mask), expected)
    alone = ours(inputs[3:, :3], mask[3:, :3])
    torch.testing.assert_close(alone, expected[3:, :3])
    assert expected[~mask].eq(0).all()
