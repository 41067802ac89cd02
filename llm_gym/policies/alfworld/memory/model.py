"""The scorer of the memory student: NumPy only, read from a folder of plain arrays.

Axes: B states, A commands of a state, R commands of all states together, H hidden units.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.policies.alfworld.memory.command import VERBS
from llm_gym.policies.alfworld.memory.features import (
    COMMAND_FLAGS,
    NOUNS,
    STATE_FLAGS,
    Choices,
    Vocabulary,
)
from llm_gym.policies.stored_arrays import Floats, read_arrays, read_config

KIND: Final = "alfworld-memory"
CONFIG, WEIGHTS = "config.json", "scorer.npz"
SHIPPED: Final = Path(__file__).parents[2] / "weights" / "alfworld_memory"
EMBEDDED: Final = 24
"""Numbers of a word or verb."""
AFFINITIES: Final = (4, 8)
"""Terms in which a noun may go with a place, and the numbers that each multiplies."""
HIDDEN: Final = (128, 64)
_FORMAT: Final = 1


def shapes(words: int) -> dict[str, tuple[int, ...]]:
    """Name of each array → its shape, for a vocabulary of so many."""
    terms, width = AFFINITIES
    of_command = 3 * EMBEDDED + len(COMMAND_FLAGS) + len(NOUNS) * terms
    of_state = len(NOUNS) * EMBEDDED + len(STATE_FLAGS)
    first, second = HIDDEN
    return {
        "verb_vectors": (len(VERBS), EMBEDDED),
        "word_vectors": (words, EMBEDDED),
        "noun_factors": (words, terms * width),
        "place_factors": (words, terms * width),
        "command_weights": (of_command, first),
        "state_weights": (of_state, first),
        "first_bias": (first,),
        "second_weights": (first, second),
        "second_bias": (second,),
        "last_weights": (second,),
    }


@dataclass(frozen=True)
class MemoryModel:
    """Trained arrays, and what is known of their training."""

    vocabulary: Vocabulary
    arrays: Mapping[str, Floats]
    """By the names of `shapes`."""
    remembers: bool = True
    """Whether the belief grows over an episode, or is made anew from each observation."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Of what and how it was trained, as JSON; for people."""

    @classmethod
    def create(cls, vocabulary: Vocabulary, seed: int, *, remembers: bool = True) -> Self:
        """Untrained: weights are drawn with a deviation of 1 / √inputs, embeddings of 0.3; biases are 0."""
        rng = np.random.default_rng(seed)
        arrays = {}
        for name, shape in shapes(len(vocabulary)).items():
            deviation = 0.0 if name.endswith("bias") else shape[0] ** -0.5 if name.endswith("weights") else 0.3
            arrays[name] = (deviation * rng.standard_normal(shape)).astype(np.float32)
        return cls(vocabulary, arrays, remembers)

    def scores(self, choices: Choices) -> Floats:
        """Of each command, (A,); the differences are what counts."""
        array = self.arrays
        words = array["word_vectors"]
        command = np.concatenate(
            [
                array["verb_vectors"][choices.verbs],
                words[choices.things],
                words[choices.places],
                choices.flags,
                self._affinities(choices),
            ],
            axis=1,
        )
        state = np.concatenate([words[choices.nouns].ravel(), choices.state])
        first = command @ array["command_weights"] + (state @ array["state_weights"] + array["first_bias"])
        second = np.maximum(first, 0) @ array["second_weights"] + array["second_bias"]
        scores: Floats = np.maximum(second, 0) @ array["last_weights"]
        return scores

    def _affinities(self, choices: Choices) -> Floats:
        """How each noun of the state goes with each command's place, in several terms: (A, N · terms)."""
        nouns = self.arrays["noun_factors"][choices.nouns].reshape(1, len(NOUNS), *AFFINITIES)
        places = self.arrays["place_factors"][choices.places].reshape(-1, 1, *AFFINITIES)
        terms: Floats = (nouns * places).sum(axis=-1)
        return terms.reshape(len(choices.places), -1)

    def probabilities(self, choices: Choices) -> Floats:
        """Of each command, (A,); they sum to 1."""
        scores = self.scores(choices)
        raised = np.exp(scores - scores.max())
        probabilities: Floats = raised / raised.sum()
        return probabilities

    @cached_property
    def digest(self) -> str:
        """Of all that decides, hexadecimal."""
        total = hashlib.sha256(json.dumps([self.remembers, self.vocabulary.words]).encode())
        for name, array in sorted(self.arrays.items()):
            total.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Make a folder; it appears when it is whole.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        config = {"format": _FORMAT, "kind": KIND, "inputs": _INPUTS, "remembers": self.remembers}
        config |= {"words": self.vocabulary.words, "training": self.training}
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
                    f"{folder} is no trained memory student: it has no {name}. Give a folder that training made."
                )
        config = read_config(folder / CONFIG)
        if config.get("kind") != KIND:
            raise DataMismatch(f"{folder} holds a model of kind {config.get('kind')!r}, not {KIND!r}.")
        if config.get("format") != _FORMAT or config.get("inputs") != _INPUTS:
            raise DataMismatch(f"{folder} was trained by another version, for other inputs. Train it again.")
        words, remembers, training = (config.get(key) for key in ("words", "remembers", "training"))
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BadRecord(f'{folder / CONFIG}: "words" should be a list of words.')
        if not isinstance(remembers, bool) or not isinstance(training, dict):
            raise BadRecord(f'{folder / CONFIG}: "remembers" should be true or false, and "training" an object.')
        vocabulary = Vocabulary(words)
        return cls(vocabulary, read_arrays(folder / WEIGHTS, shapes(len(vocabulary))), remembers, training)


_INPUTS: Final = {
    "verbs": list(VERBS),
    "nouns": list(NOUNS),
    "command_flags": list(COMMAND_FLAGS),
    "state_flags": list(STATE_FLAGS),
}
