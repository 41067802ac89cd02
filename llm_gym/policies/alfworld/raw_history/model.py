"""The network of the history student: NumPy only, read from a folder of plain arrays.

Axes: B states, one of each episode; G, E, R words of goals, events and commands of all states together; A commands of
one state; M numbers of the memory. `of` gives the state to which each row belongs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.policies.alfworld.memory.features import Vocabulary
from llm_gym.policies.alfworld.raw_history.events import KINDS, NUMBERS, Integers, Moment
from llm_gym.policies.stored_arrays import Floats, read_arrays, read_config

KIND: Final = "alfworld-history"
CONFIG, WEIGHTS = "config.json", "network.npz"
SHIPPED: Final = Path(__file__).parents[2] / "weights" / "alfworld_history"
_FORMAT: Final = 1
_WIDEST: Final = 1024


@dataclass(frozen=True)
class Sizes:
    """How wide the network is."""

    word: int = 32
    kind: int = 16
    number: int = 16
    hidden: int = 128
    goal: int = 64
    memory: int = 160
    fit: int = 64

    @property
    def event(self) -> int:
        return self.kind + 2 * (self.word + self.number)

    @property
    def state(self) -> int:
        return self.memory + self.goal


def shapes(words: int, sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Name of each array → its shape, for a vocabulary of so many. The gates are in the order and layout of torch."""
    hidden, memory = sizes.hidden, sizes.memory
    return {
        "word_vectors": (words, sizes.word),
        "kind_vectors": (len(KINDS), sizes.kind),
        "number_vectors": (NUMBERS + 1, sizes.number),
        "goal_weights": (sizes.word, sizes.goal),
        "goal_bias": (sizes.goal,),
        "event_weights": (sizes.event, hidden),
        "event_bias": (hidden,),
        "told_weights": (hidden, hidden),
        "gates_in": (3 * memory, hidden + sizes.goal),
        "gates_again": (3 * memory, memory),
        "gates_in_bias": (3 * memory,),
        "gates_again_bias": (3 * memory,),
        "command_weights": (sizes.event, hidden),
        "command_bias": (hidden,),
        "offer_weights": (hidden, sizes.fit),
        "demand_weights": (sizes.state, sizes.fit),
        "first_weights": (hidden, sizes.fit),
        "state_weights": (sizes.state, sizes.fit),
        "count_weights": (1, sizes.fit),
        "first_bias": (sizes.fit,),
        "last_weights": (sizes.fit,),
    }


class Joined(NamedTuple):
    """Moments side by side, their rows one after the other."""

    states: int
    goals: Integers
    goal_of: Integers
    events: Integers
    event_of: Integers
    commands: Integers
    command_of: Integers
    counts: Integers

    @classmethod
    def of(cls, moments: Sequence[Moment]) -> Self:
        goals, events, commands = ([getattr(one, name) for one in moments] for name in ("goal", "events", "commands"))
        return cls(
            len(moments),
            *(np.concatenate(goals), _owners(goals)),
            *(np.concatenate(events), _owners(events)),
            *(np.concatenate(commands), _owners(commands)),
            np.concatenate([one.counts for one in moments]),
        )


def _owners(parts: Sequence[Integers]) -> Integers:
    return np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])


@dataclass(frozen=True)
class HistoryModel:
    """Trained arrays, and what is known of their training."""

    vocabulary: Vocabulary
    arrays: Mapping[str, Floats]
    """By the names of `shapes`."""
    sizes: Sizes = field(default_factory=Sizes)
    counts: bool = True
    """Whether it is told how often each command was taken already."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Of what and how it was trained, as JSON; for people."""

    @classmethod
    def create(cls, vocabulary: Vocabulary, seed: int, *, counts: bool = True, sizes: Sizes | None = None) -> Self:
        """Untrained: weights are drawn with a deviation of 1 / √inputs, embeddings of 0.3; biases are 0."""
        rng = np.random.default_rng(seed)
        sizes = sizes or Sizes()
        arrays = {}
        for name, shape in shapes(len(vocabulary), sizes).items():
            inputs = shape[-1] if name.startswith("gates") else shape[0]
            deviation = 0.0 if name.endswith("bias") else 0.3 if name.endswith("vectors") else inputs**-0.5
            arrays[name] = (deviation * rng.standard_normal(shape)).astype(np.float32)
        return cls(vocabulary, arrays, sizes, counts)

    def beginning(self, episodes: int = 1) -> Floats:
        """The memory of so many episodes before their first moment, (B, M)."""
        return np.zeros((episodes, self.sizes.memory), np.float32)

    def hear(self, moments: Joined, memory: Floats) -> tuple[Floats, Floats]:
        """What is remembered after a moment, (B, M), and the score of each command then, (R,).

        Args:
            moments: the next one of each episode.
            memory: (B, M), of the moments before.
        """
        goal = self._goals(moments)
        memory = self._remembered(np.concatenate([self._events(moments), goal], axis=1), memory)
        return memory, self._scores(moments, np.concatenate([memory, goal], axis=1))

    def _goals(self, moments: Joined) -> Floats:
        array = self.arrays
        words = _summed(array["word_vectors"][moments.goals], moments.goal_of, moments.states)
        goals: Floats = np.maximum(words @ array["goal_weights"] + array["goal_bias"], 0)
        return goals

    def _vectors(self, rows: Integers) -> Floats:
        """Of events or commands, (E or R, event)."""
        words, numbers = self.arrays["word_vectors"], self.arrays["number_vectors"]
        kind, thing, thing_number, place, place_number = rows.T
        parts = [words[thing], numbers[thing_number], words[place], numbers[place_number]]
        return np.concatenate([self.arrays["kind_vectors"][kind], *parts], axis=1)

    def _events(self, moments: Joined) -> Floats:
        array = self.arrays
        each = np.maximum(self._vectors(moments.events) @ array["event_weights"] + array["event_bias"], 0)
        together = _summed(each, moments.event_of, moments.states)
        told: Floats = np.maximum(together @ array["told_weights"], 0)
        return told

    def _remembered(self, told: Floats, memory: Floats) -> Floats:
        """One step of a gated recurrent unit (arXiv:1406.1078), as torch has it."""
        array = self.arrays
        in_reset, in_update, in_new = np.split(told @ array["gates_in"].T + array["gates_in_bias"], 3, axis=1)
        again = memory @ array["gates_again"].T + array["gates_again_bias"]
        again_reset, again_update, again_new = np.split(again, 3, axis=1)
        new = np.tanh(in_new + _logistic(in_reset + again_reset) * again_new)
        kept = _logistic(in_update + again_update)
        remembered: Floats = (1 - kept) * new + kept * memory
        return remembered

    def _scores(self, moments: Joined, state: Floats) -> Floats:
        array, of = self.arrays, moments.command_of
        command = np.maximum(self._vectors(moments.commands) @ array["command_weights"] + array["command_bias"], 0)
        of_state = state @ array["state_weights"] + array["first_bias"]
        first = command @ array["first_weights"] + of_state[of]
        if self.counts:
            first += np.log1p(moments.counts.astype(np.float32))[:, None] * array["count_weights"]
        demand = state @ array["demand_weights"]
        fit = (command @ array["offer_weights"] * demand[of]).sum(axis=1) / self.sizes.fit**0.5
        scores: Floats = np.maximum(first, 0) @ array["last_weights"] + fit
        return scores

    @property
    def digest(self) -> str:
        """Of all that decides, hexadecimal."""
        told = [self.counts, asdict(self.sizes), self.vocabulary.words]
        total = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        for name, array in sorted(self.arrays.items()):
            total.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Make a folder; it appears when it is whole.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        config = {"format": _FORMAT, "kind": KIND, "events": list(KINDS), "counts": self.counts}
        config |= {"sizes": asdict(self.sizes), "words": self.vocabulary.words, "training": self.training}
        with new_folder(folder) as workshop:
            (workshop / CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            np.savez_compressed(workshop / WEIGHTS, allow_pickle=False, **self.arrays)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What `write` wrote. Nothing in the files is executed or unpickled.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or one for other inputs or of a later version.
        """
        for name in (CONFIG, WEIGHTS):
            if not (folder / name).is_file():
                raise MissingData(
                    f"{folder} is no trained history student: it has no {name}. Give a folder that training made."
                )
        config = read_config(folder / CONFIG)
        if config.get("kind") != KIND:
            raise DataMismatch(f"{folder} holds a model of kind {config.get('kind')!r}, not {KIND!r}.")
        if config.get("format") != _FORMAT or config.get("events") != list(KINDS):
            raise DataMismatch(f"{folder} was trained by another version, for other inputs. Train it again.")
        words, counts, training = (config.get(key) for key in ("words", "counts", "training"))
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BadRecord(f'{folder / CONFIG}: "words" should be a list of words.')
        if not isinstance(counts, bool) or not isinstance(training, dict):
            raise BadRecord(f'{folder / CONFIG}: "counts" should be true or false, and "training" an object.')
        vocabulary, sizes = Vocabulary(words), _sizes(config, folder / CONFIG)
        arrays = read_arrays(folder / WEIGHTS, shapes(len(vocabulary), sizes))
        return cls(vocabulary, arrays, sizes, counts, training)


def _summed(rows: Floats, of: Integers, states: int) -> Floats:
    """The sum of the rows of each state, (B, ·). `of` is sorted."""
    total = np.zeros((states, rows.shape[1]), np.float32)
    np.add.at(total, of, rows)
    return total


def _logistic(values: Floats) -> Floats:
    halved: Floats = 0.5 * (1 + np.tanh(0.5 * values))
    return halved


def _sizes(config: Mapping[str, Any], path: Path) -> Sizes:
    told, names = config.get("sizes"), {one.name for one in fields(Sizes)}
    if not isinstance(told, dict) or told.keys() != names:
        raise BadRecord(f'{path}: "sizes" should give {", ".join(sorted(names))}.')
    if not all(type(size) is int and 0 < size <= _WIDEST for size in told.values()):
        raise BadRecord(f'{path}: "sizes" should be whole numbers from 1 to {_WIDEST:,}.')
    return Sizes(**told)
