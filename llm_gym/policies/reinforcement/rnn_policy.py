"""The recurrent baseline as a policy."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from llm_gym.policies.reinforcement.network import RNN
from llm_gym.policies.reinforcement.policy import INSTRUCTION, SHIPPED, A2CPolicy, Draw


class RNNPolicy(A2CPolicy):
    """A recurrent network that learned by acting alone, from random weights: the paper's "RL (RNN)".

    It decides as `A2CPolicy` does. The shipped network was trained with the instruction as the only query.

    Args:
        folder: of a network, as `train/webshop_a2c.py --network rnn` writes it; None: the shipped one.
        search: folder of a search model, whose best queries are the candidates; "instruction": the instruction is the
            only one; None: the search model that comes with the package.
        draw: see `A2CPolicy`.
    """

    name = "rnn"
    kind: ClassVar[str] = RNN
    shipped: ClassVar[Path] = SHIPPED / "webshop_rnn"

    def __init__(
        self, folder: str | Path | None = None, search: str | Path | None = INSTRUCTION, draw: Draw = "best"
    ) -> None:
        super().__init__(folder, search, draw)
