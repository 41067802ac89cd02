"""What BUTLER's text agent is taught by: the teacher's command, smoothed. Axes: B states, T tokens, V vocabulary."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from llm_gym.policies.butler.model import logarithms

Smoothing = Literal["standard", "original"]


def smoothed_loss(shares: Tensor, targets: Tensor, mask: Tensor, smoothing: float, kind: Smoothing) -> Tensor:
    """The loss of each state, summed over the tokens of its command; (B,).

    The wanted token weighs 1 - smoothing, every other one smoothing / (V - 1).

    Args:
        shares: probabilities, (B, T, V).
        targets: the wanted tokens, (B, T).
        mask: 1 where there is a token, (B, T).
        smoothing: weight of all the other tokens together.
        kind: "standard": cross-entropy with these weights; "original": minus the logarithm of the weighted mean of the
            probabilities, as the code of arXiv:2010.03768 has it, which punishes no token that is too sure.
    """
    other = smoothing / (shares.shape[-1] - 1)
    values = logarithms(shares) if kind == "standard" else shares
    wanted = values.gather(2, targets[:, :, None])[:, :, 0]  # (B, T)
    weighted = (1 - smoothing - other) * wanted + other * values.sum(2)
    losses = -(weighted if kind == "standard" else logarithms(weighted))
    summed: Tensor = (losses * mask).sum(1)
    return summed
