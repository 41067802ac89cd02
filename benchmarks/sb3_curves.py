"""Learning curves of stable-baselines3 on both worlds, and each result against random on tasks it never saw.

    python benchmarks/sb3_curves.py --out runs/sb3

Trains SB3's A2C and sb3-contrib's MaskablePPO with the network over candidates, and A2C as SB3 comes, with its
`MultiInputPolicy` and without a mask. Curves are in `curves.png`, the table in `table.md`; a training whose network is
in `--out` already is not done again, so that parts can be run one by one (`--worlds`, `--algorithms`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.data import write_atomically
from llm_gym.errors import LLMGymError, UnknownName
from llm_gym.evaluation import Evaluation
from llm_gym.evaluation.tables import Table
from llm_gym.policies import RandomPolicy, SB3Policy
from llm_gym.policies.indexed.network import CandidatePolicy, MaskableCandidatePolicy
from llm_gym.wrappers import IndexedActions


@dataclass(frozen=True)
class World:
    """Where is trained and where is played."""

    name: str
    training: Mapping[str, Any]
    indexed: Mapping[str, Any]
    playing: Mapping[str, Any]
    repeats: int
    """Of every task, so that there are 200 episodes at least."""
    steps: int


WORLDS = {
    "webshop": World(
        "llm_gym/WebShop-v1",
        training={"split": "train", "max_episode_steps": 25},
        indexed={"k": 40},
        playing={"split": "test"},
        repeats=1,
        steps=40_000,
    ),
    "alfworld": World(
        "llm_gym/ALFWorld-v1",
        training={"split": "train", "task_types": ("pick", "look")},
        indexed={"k": 56, "progress": 0.5},
        playing={"split": "valid_unseen"},
        repeats=2,
        steps=24_000,
    ),
}
"""A house rewards nothing but success, which random play has in one game of a hundred: the two kinds of tasks that it
solves now and then are learned from, with a part of the reward for progress, and all six are played."""


@dataclass(frozen=True)
class Algorithm:
    """Who learns, with what."""

    kind: Any
    network: Any
    environments: int
    settings: Mapping[str, Any]


_A2C = {"n_steps": 5, "learning_rate": 1e-3, "gae_lambda": 0.95, "normalize_advantage": True, "use_rms_prop": False}
_PPO = {"n_steps": 128, "batch_size": 256, "n_epochs": 4, "learning_rate": 1e-3, "normalize_advantage": False}
COMMON: Mapping[str, Any] = {"gamma": 0.97, "ent_coef": 0.01}
ALGORITHMS = {
    "a2c": Algorithm(A2C, CandidatePolicy, 8, _A2C),
    "maskable-ppo": Algorithm(MaskablePPO, MaskableCandidatePolicy, 8, _PPO),
    "a2c-plain": Algorithm(A2C, "MultiInputPolicy", 8, _A2C),
}
_SMOOTHED = 100
"""Episodes that a point of a curve averages."""


@dataclass(frozen=True)
class Args:
    """Learning curves of stable-baselines3."""

    out: Path
    """Folder of networks, curves and table."""
    worlds: tuple[str, ...] = tuple(WORLDS)
    algorithms: tuple[str, ...] = tuple(ALGORITHMS)
    steps: int | None = None
    """Of a training; None: 40,000 in the shop, 24,000 in the house."""
    n: int | None = None
    """Tasks to play afterwards; None: all of the panel."""
    seed: int = 0


class Curve(BaseCallback):
    """Keeps step, return and success of every episode, and the network of now and then."""

    def __init__(self, folder: Path, every: int) -> None:
        super().__init__()
        self.folder, self.every = folder, every
        self.episodes: list[tuple[int, float, bool]] = []
        self.began = time.process_time()

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                self.episodes.append((self.num_timesteps, float(info["episode"]["r"]), bool(info["success"])))
        if self.num_timesteps % self.every < self.training_env.num_envs:
            self.save()
        return True

    def save(self) -> None:
        content = {"episodes": self.episodes, "cpu_s": time.process_time() - self.began, "steps": self.num_timesteps}
        write_atomically(self.folder / "curve.json", json.dumps(content).encode())
        network = self.folder / f"network-{self.num_timesteps}"
        if not network.exists():
            SB3Policy.from_model(self.model, self.training_env).save_pretrained(network)


def training_world(world: World) -> IndexedActions:
    return IndexedActions(gym.make(world.name, **world.training), **world.indexed)


def train(world: World, algorithm: str, folder: Path, args: Args) -> SB3Policy:
    """The last network of a folder; made where there is none."""
    if not (done := networks(folder)):
        chosen = ALGORITHMS[algorithm]
        env = make_vec_env(partial(training_world, world), chosen.environments, seed=args.seed)
        steps = args.steps or world.steps
        curve = Curve(folder, max(chosen.environments, steps // 10))
        settings = {"seed": args.seed, **COMMON, **chosen.settings}
        chosen.kind(chosen.network, env, **settings).learn(steps, callback=curve)
        curve.save()
        done = networks(folder)
    return SB3Policy.from_pretrained(done[-1], draw="sample")


def networks(folder: Path) -> list[Path]:
    """Of a training, the last one last."""
    return sorted(folder.glob("network-*"), key=lambda path: int(path.name.partition("-")[2]))


def row(world: str, algorithm: str, mine: Evaluation, random: Evaluation) -> tuple[str, ...]:
    both = mine.compare(random)
    return (
        world,
        algorithm,
        str(mine.success.n),
        f"{mine.score:.1f}",
        f"{random.score:.1f}",
        f"{both.score:+.1f}",
        f"{both.score.low:+.1f} to {both.score.high:+.1f}",
        f"{100 * mine.success:.1f} %",
        f"{100 * random.success:.1f} %",
        f"{100 * both.success.low:+.1f} to {100 * both.success.high:+.1f} %",
    )


def draw(out: Path, worlds: Sequence[str]) -> None:
    """`curves.png`: one picture a world, one line an algorithm."""
    figure = Figure(figsize=(6 * len(worlds), 4), layout="constrained")
    for axes, world in zip(np.atleast_1d(figure.subplots(1, len(worlds))), worlds, strict=True):
        for algorithm in ALGORITHMS:
            path = out / f"{world}-{algorithm}" / "curve.json"
            if path.is_file() and (episodes := json.loads(path.read_bytes())["episodes"]):
                steps, rewards, _ = np.array(episodes).T
                window = min(_SMOOTHED, len(rewards))
                smooth = np.convolve(rewards, np.ones(window) / window, "valid")
                axes.plot(steps[window - 1 :], smooth, label=algorithm)
        axes.set(title=world, xlabel="steps in training", ylabel=f"reward, mean of {_SMOOTHED} episodes")
        if axes.lines:
            axes.legend()
    figure.savefig(out / "curves.png", dpi=120)


def main(args: Args) -> None:
    """Train what is not trained yet, play, and write the table of all that is there."""
    torch.set_num_threads(1)
    for kind, names, known in (("world", args.worlds, WORLDS), ("algorithm", args.algorithms, ALGORITHMS)):
        if unknown := [name for name in names if name not in known]:
            raise UnknownName(kind, unknown[0], known)
    rows = []
    for name in args.worlds:
        world = WORLDS[name]
        playing = gym.make(world.name, **world.playing)
        play: dict[str, Any] = {"n": args.n, "repeats": world.repeats}
        random = RandomPolicy().evaluate(playing, **play)
        for algorithm in args.algorithms:
            folder = args.out / f"{name}-{algorithm}"
            policy = train(world, algorithm, folder, args)
            mine = policy.evaluate(playing, out=folder / "played", **play)
            rows.append(row(name, algorithm, mine, random))
            print(mine.compare(random))
    head = ("world", "algorithm", "n", "score", "random", "difference", "95 %", "success", "random", "95 %")
    text = Table(head, tuple(rows)).markdown() + "\n"
    print(text)
    write_atomically(args.out / "table.md", text.encode())
    draw(args.out, args.worlds)


if __name__ == "__main__":
    try:
        main(tyro.cli(Args))
    except LLMGymError as error:
        raise SystemExit(f"error: {error}") from None
