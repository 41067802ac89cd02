"""A training script as a module, and a small scorer of any number of actions with what it learns from."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest


@pytest.fixture(scope="module")
def script(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The script in `train/` whose path the test module names as SCRIPT."""
    path = request.module.SCRIPT
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@dataclass(frozen=True)
class Choice:
    """Actions as rows of numbers, (A, 4), and the one that was chosen."""

    actions: npt.NDArray[np.float32]
    label: int


@dataclass(frozen=True)
class Toy:
    """A task that a line solves: the chosen action is the one with the highest weighted sum."""

    training: list[Choice]
    held_out: list[Choice]
    model: Callable[[], Any]
    """Makes a scorer, with the same weights every time."""
    collate: Callable[[list[Choice]], Mapping[str, Any]]


@pytest.fixture(scope="session")
def toy() -> Toy:
    for package in ("torch", "transformers", "accelerate", "matplotlib"):
        pytest.importorskip(package, reason="needs the extra train")
    import torch

    torch.set_num_threads(1)
    return Toy(choices(22, 1), choices(9, 2), scorer, collate)


def choices(count: int, seed: int) -> list[Choice]:
    """States with two to seven actions."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        actions = rng.normal(size=(int(rng.integers(2, 8)), 4)).astype(np.float32)
        made.append(Choice(actions, int((actions @ np.array([1, -2, 3, 0.5])).argmax())))
    return made


def scorer() -> Any:
    """Two layers with dropout between them; its loss is the mean over the states of a batch."""
    import torch

    class Scorer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 8)
            self.dropout = torch.nn.Dropout(0.1)
            self.outer = torch.nn.Linear(8, 1, bias=False)  # softmax would leave it without a gradient

        def forward(self, actions: Any, counts: Any, labels: Any) -> dict[str, Any]:
            scores = self.outer(self.dropout(torch.relu(self.inner(actions)))).squeeze(-1)
            logits = torch.nn.utils.rnn.pad_sequence(scores.split(counts.tolist()), True, -torch.inf)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    torch.manual_seed(0)
    return Scorer()


def collate(examples: list[Choice]) -> Mapping[str, Any]:
    """All actions in one stack, (ΣA, 4)."""
    import torch

    return {
        "actions": torch.from_numpy(np.concatenate([example.actions for example in examples])),
        "counts": torch.tensor([len(example.actions) for example in examples]),
        "labels": torch.tensor([example.label for example in examples]),
    }
