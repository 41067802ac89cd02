"""How the choice model compares an action with a state, token by token."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class BiAttention(nn.Module):
    """What every token of an action finds in the state, and what the state finds in the action.

    With action tokens a_i and memory tokens s_j of width D (∘ is the product of entries):

        att_ij = w1·a_i + w2·s_j + (a_i ∘ w3)·s_j
        u_i    = Σ_j softmax_j(att_ij) s_j
        v      = Σ_i softmax_i(max_j att_ij) a_i
        out_i  = [a_i; u_i; a_i ∘ u_i; v ∘ u_i]

    j runs over the real tokens of the memory, i over the real tokens of the action. In the original i runs over the
    padding as well, so that a score depends on the longest action of its batch; `legacy=True` does that again.

    Args:
        width: D.
        legacy: whether padding of an action takes part in `v`.
    """

    def __init__(self, width: int, legacy: bool = False) -> None:
        super().__init__()
        self.action_weight = nn.Linear(width, 1, bias=False)
        self.memory_weight = nn.Linear(width, 1, bias=False)
        self.dot_scale = nn.Parameter(torch.empty(width).uniform_(width**-0.5, 1))
        self.legacy = legacy

    def forward(self, actions: Tensor, action_mask: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Features of every token of the actions of one state.

        Axes: A actions, T tokens of an action, M tokens of the memory, D width.

        Args:
            actions: (A, T, D).
            action_mask: (A, T), True where there is a token.
            memory: (M, D).
            memory_mask: (M,), True where there is a token; one at least.

        Returns:
            (A, T, 4·D); what stands at padding means nothing.
        """
        attention = self.action_weight(actions) + self.memory_weight(memory).squeeze(-1)  # (A, T, 1) + (M,)
        attention = attention + (actions * self.dot_scale) @ memory.T  # (A, T, M)
        nothing = torch.finfo(attention.dtype).min
        attention = attention.masked_fill(~memory_mask, nothing)
        found = attention.softmax(-1) @ memory  # u: (A, T, M) @ (M, D) → (A, T, D)
        peaks = attention.max(-1).values  # (A, T)
        if not self.legacy:
            peaks = peaks.masked_fill(~action_mask, nothing)
        gist = peaks.softmax(-1).unsqueeze(-2) @ actions  # v: (A, 1, T) @ (A, T, D) → (A, 1, D)
        return torch.cat([actions, found, actions * found, gist * found], dim=-1)
