"""A network that learns in a second, a world of two products, and how well a network does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.envs.webshop.build import build_store
from llm_gym.policies.reinforcement.candidates import candidates, instruction_only
from llm_gym.policies.reinforcement.network import Judgement, Situation

BUCKETS, WIDTH = 1024, 32


@cache
def bucket(word: str) -> int:
    return int(hashlib.md5(word.encode()).hexdigest(), 16) % BUCKETS


@pytest.fixture(scope="session")
def tiny_network() -> Callable[..., Any]:
    """Makes an actor-critic over bags of words at their places; the same weights every time."""
    return _tiny


def _tiny(seed: int = 0) -> Any:
    import torch

    class Tiny(torch.nn.Module):
        """Words of page and goal → a state; its product with an action is the score."""

        kind = "tiny"

        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.EmbeddingBag(BUCKETS, WIDTH, mode="sum")
            self.state = torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.Tanh(), torch.nn.Linear(64, WIDTH))
            self.action = torch.nn.EmbeddingBag(BUCKETS, WIDTH, mode="mean")
            for words in (self.words, self.action):
                torch.nn.init.normal_(words.weight, std=0.3)
            self.value = torch.nn.Sequential(torch.nn.Linear(WIDTH, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))

        def judge(self, situations: Sequence[Situation]) -> Judgement:
            rows = []
            read = self.words(*bags([places(one.page) for one in situations]))  # (B, D)
            states = self.state(read)
            for one, state in zip(situations, states, strict=True):
                rows.append((self.action(*bags([action.split() for action in one.actions])) @ state).log_softmax(0))
            padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-torch.inf)
            return Judgement(padded, self.value(read).squeeze(1))

        def save(self, folder: Path, precision: str = "float32") -> None:
            folder.mkdir(parents=True)
            torch.save(self.state_dict(), folder / "weights.pt")

    def bags(texts: list[list[str]]) -> tuple[Any, Any]:
        ids = [[bucket(word) for word in words] for words in texts]
        starts = [sum(map(len, ids[:place])) for place in range(len(ids))]
        return torch.tensor([number for row in ids for number in row]), torch.tensor(starts)

    def places(text: str) -> list[str]:
        return [f"{place}:{word}" for place, word in enumerate(text.split())]

    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Tiny()


@pytest.fixture(scope="session")
def greedy_look() -> Callable[..., Callable[[Any], Mapping[str, float]]]:
    """Makes a function that plays tasks with the most probable action and says what came of it."""

    def make(env: gym.Env[str, str], tasks: Sequence[str], queries: Any = instruction_only) -> Any:
        def look(network: Any) -> Mapping[str, float]:
            import torch

            total = 0.0
            for task in tasks:
                observation, info = env.reset(options={"task": task})
                over = False
                while not over:
                    found = candidates(observation, info, queries)  # type: ignore[arg-type]
                    assert found is not None
                    with torch.no_grad():
                        best = int(network.judge([found.situation]).log_probabilities[0].argmax())
                    observation, reward, terminated, truncated, info = env.step(found.actions[best])
                    total += float(reward)
                    over = terminated or truncated
            return {"score": total / len(tasks)}

        return look

    return make


@pytest.fixture(scope="session")
def two_products(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop that sells two shoes, each wanted once: a catalogue for `gym.make`."""
    folder = tmp_path_factory.mktemp("shop")
    files = folder / "files"
    files.mkdir()
    wanted = {"B00000RED1": ("red shoe", "rubber sole"), "B0000GREEN": ("green shoe", "machine wash")}
    products = [
        {
            "asin": asin,
            "name": name,
            "full_description": f"This is a {name}.",
            "small_description": [attribute],
            "pricing": "$15.00",
            "customization_options": {},
            "images": [f"https://images.example/{asin}.jpg"],
            "category": "home",
            "query": name.split()[1],
            "product_category": f"Things › {name}",
            "title_nouns": name.split(),
        }
        for asin, (name, attribute) in wanted.items()
    ]
    instructions = {
        asin: [
            {"instruction": f"i want a {name}.", "instruction_attributes": [attribute], "instruction_options": []},
        ]
        for asin, (name, attribute) in wanted.items()
    }
    mined = {
        asin: {"attributes": [attribute], "instruction": f"find {attribute}", "instruction_attributes": [attribute]}
        for asin, (_, attribute) in wanted.items()
    }
    for name, content in (
        ("items_shuffle.json", products),
        ("items_ins_v2.json", mined),
        ("items_human_ins.json", instructions),
    ):
        (files / name).write_text(json.dumps(content), encoding="utf-8")
    build_store(files, folder / "store")
    return folder / "store"


@pytest.fixture
def make_shop(two_products: Path) -> Callable[[], gym.Env[str, str]]:
    """Opens the shop of two products; an episode has twelve actions."""
    return lambda: gym.make(
        "llm_gym/WebShop-v1", catalogue=two_products, goals="human", split="all", max_episode_steps=12
    )
