"""The network of `HistoryPolicy` in torch, over whole episodes.

Axes: T states of the longest episode, B episodes, S = T · B states; G, E, R words of goals, events and commands of all
states together, U of these commands that differ, A commands of one state.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from llm_gym.policies.alfworld.raw_history.model import HistoryModel
from llm_gym.policies.stored_arrays import Floats

_GATES = {
    "gates_in": "weight_ih_l0",
    "gates_again": "weight_hh_l0",
    "gates_in_bias": "bias_ih_l0",
    "gates_again_bias": "bias_hh_l0",
}
"""What torch calls them."""


class Lessons(NamedTuple):
    """Episodes side by side, state by state; the number of a state is `time · episodes + episode`."""

    times: int
    episodes: int
    goals: Tensor
    """(G,)"""
    goal_of: Tensor
    """(G,): the episode to which a word belongs."""
    events: Tensor
    """(E, ROW)"""
    event_of: Tensor
    """(E,): the state."""
    commands: Tensor
    """(U, ROW): those that differ."""
    command: Tensor
    """(R,): which of these."""
    command_of: Tensor
    """(R,): the state."""
    position: Tensor
    """(R,): its number there."""
    counts: Tensor
    """(R,)"""
    labels: Tensor
    """(R,): whether the teacher would have given it."""


class HistoryNetwork(nn.Module):
    """`HistoryModel` with gradients. It begins with the model's arrays; `arrays` are views of those it has now."""

    def __init__(self, model: HistoryModel) -> None:
        super().__init__()
        self.counts, self.sizes = model.counts, model.sizes
        self.rest = nn.ParameterDict(
            {name: nn.Parameter(torch.tensor(one)) for name, one in model.arrays.items() if name not in _GATES}
        )
        self.unit = nn.GRU(model.sizes.hidden + model.sizes.goal, model.sizes.memory)
        for name, of_torch in _GATES.items():
            getattr(self.unit, of_torch).data = torch.tensor(model.arrays[name])

    def arrays(self) -> dict[str, Floats]:
        """What a `HistoryModel` needs; it changes when the network learns."""
        gates = {name: getattr(self.unit, of_torch) for name, of_torch in _GATES.items()}
        return {name: one.detach().numpy() for name, one in {**self.rest, **gates}.items()}

    def forward(self, lessons: Lessons) -> Tensor:
        """Scores, (S, A); -inf beyond a state's own commands."""
        array, states = self.rest, lessons.times * lessons.episodes
        words = _summed(_rows(array["word_vectors"], lessons.goals), lessons.goal_of, lessons.episodes)
        goal = (words @ array["goal_weights"] + array["goal_bias"]).relu()
        each = (self._vectors(lessons.events) @ array["event_weights"] + array["event_bias"]).relu()
        told = (_summed(each, lessons.event_of, states) @ array["told_weights"]).relu()
        goals = goal.repeat(lessons.times, 1)
        heard = torch.cat([told, goals], 1).view(lessons.times, lessons.episodes, -1)
        memory = self.unit(heard)[0].reshape(states, -1)
        scores = self._scores(lessons, torch.cat([memory, goals], 1))
        padded = scores.new_full((states, int(lessons.position.max()) + 1), -math.inf)
        return padded.index_put((lessons.command_of, lessons.position), scores)

    def _vectors(self, rows: Tensor) -> Tensor:
        """Of events or commands, (E or R, event)."""
        array = self.rest
        kind, thing, thing_number, place, place_number = rows.unbind(1)
        named = [_rows(array["word_vectors"], thing), _rows(array["number_vectors"], thing_number)]
        named += [_rows(array["word_vectors"], place), _rows(array["number_vectors"], place_number)]
        return torch.cat([_rows(array["kind_vectors"], kind), *named], 1)

    def _scores(self, lessons: Lessons, state: Tensor) -> Tensor:
        """Of each command, (R,)."""
        array, of = self.rest, lessons.command_of
        command = (self._vectors(lessons.commands) @ array["command_weights"] + array["command_bias"]).relu()
        of_state = state @ array["state_weights"] + array["first_bias"]
        first = _rows(command @ array["first_weights"], lessons.command) + _rows(of_state, of)
        if self.counts:
            first = first + lessons.counts.float().log1p()[:, None] * array["count_weights"]
        every_fit = (state @ array["demand_weights"]) @ (command @ array["offer_weights"]).T  # (S, U)
        fit = every_fit[of, lessons.command] / math.sqrt(self.sizes.fit)
        scores: Tensor = first.relu() @ array["last_weights"] + fit
        return scores


def _rows(table: Tensor, numbers: Tensor) -> Tensor:
    """Rows of a table; as an embedding, whose gradient is quicker than that of an index."""
    return nn.functional.embedding(numbers, table)


def _summed(rows: Tensor, of: Tensor, states: int) -> Tensor:
    """The sum of the rows of each state, (states, ·)."""
    return rows.new_zeros(states, rows.shape[1]).index_add(0, of, rows)
