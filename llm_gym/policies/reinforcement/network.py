"""What an actor-critic network is, whatever is inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor, nn

    from llm_gym.policies.imitation.checkpoint import Precision


BERT, RNN = "webshop-a2c-bert", "webshop-a2c-rnn"
"""Kinds of checkpoints."""


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """What an agent has before it decides."""

    goal: str
    """The instruction."""
    page: str
    actions: tuple[str, ...]
    """Those that it may choose among, as the network reads them; at least one."""
    image: npt.NDArray[np.float32] | None = None
    """What describes the picture on the page; None where there is none."""


class Judgement(NamedTuple):
    """What a network makes of B situations, of which the one with most actions has A."""

    log_probabilities: Tensor
    """(B, A); -inf beyond a situation's own actions."""
    values: Tensor
    """(B,): the return that is expected from here, discounted, in units of the reward that training saw."""


class ActorCritic(Protocol):
    """A network with a policy and a value; torch's own modules fulfil the rest."""

    kind: str
    """Of its checkpoints, e.g. "webshop-a2c-bert"."""

    @property
    def value(self) -> nn.Module:
        """The part that nothing but the value depends on."""

    def judge(self, situations: Sequence[Situation]) -> Judgement:
        """One forward pass; with a gradient unless the caller forbids it."""

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Any: ...

    def eval(self) -> Any: ...

    def save(self, folder: Path, precision: Precision = "float32") -> None:
        """Write the network; the loader of its kind reads it back."""
