"""The matching expert of WebShop: trees that judge products and options by matches with the instruction.

It learns from demonstrations that succeeded, of people, the demonstrator, the oracle or any other policy.
`pip install "llm-gym[train]"` brings LightGBM; what is trained needs NumPy only.

    llm-gym demos record WebShop --policy demonstrator --set split=train -n all --success --out demos.jsonl
    python train/webshop_match.py --demonstrations demos.jsonl --out match

The model that comes with the package learned from the demonstrator and the oracle in the embedded catalogue
(docs/policies.md has the commands): right are of the held-out decisions 77 % of the picks among results, 83 % of the
options, 96 % of the purchases and 95 % of the ways back.

The model is in OUT/model; losses of both forests and their curves are in OUT/options and OUT/products. A training takes
a few minutes; one that was interrupted begins anew.
"""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import gymnasium as gym

from llm_gym.data import sha256_of, write_atomically
from llm_gym.demonstrations import Demonstration, Header, read_demonstrations, record
from llm_gym.envs.base import panel_of
from llm_gym.envs.webshop.goals import parse_task_id
from llm_gym.envs.webshop.panels import product_fraction
from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.demonstrator import DemonstratorPolicy
from llm_gym.policies.matching.forest import Forest
from llm_gym.policies.matching.model import MatchModel
from llm_gym.policies.matching.option_features import OPTION_FEATURES
from llm_gym.policies.matching.product_features import PRODUCT_FEATURES
from llm_gym.training.curves import draw_curves
from llm_gym.training.log import HELD_OUT, LOG, Log
from llm_gym.training.match_accuracy import accuracies
from llm_gym.training.match_examples import Examples, option_examples, product_examples
from llm_gym.training.match_shelf import Shelf, Wish, telling_words, wishes_of
from llm_gym.training.schedule import LOSS
from llm_gym.training.script import run
from llm_gym.training.trees import Growth, Told, grow

MODEL, ACCURACIES = "model", "accuracies.json"
_HELD_OUT = 0.1
"""Share of the products whose demonstrations are held out where there are no files of them."""
_JUDGED = 500
"""So many held-out demonstrations are judged in the end."""
_TRIED_TASKS, _TRIED_ROUNDS = 40, 10

_logger = logging.getLogger(__name__)

Shop = tuple[list[Wish], Shelf]
File = tuple[str, list[Demonstration]]
"""Which shop, and the demonstrations there."""


@dataclass(frozen=True)
class Args:
    """What is learned from, and how many trees are grown."""

    demonstrations: tuple[Path, ...] = ()
    """Files of demonstrations to learn from."""
    out: Path = Path("webshop_match")
    """Folder of the training; the model is put into OUT/model."""
    held_out: tuple[Path, ...] = ()
    """Files of demonstrations with other products, to choose the number of trees by; else those of a tenth of the
    products."""
    rounds: int = 300
    """Trees of each forest, at most."""
    leaves: int = 15
    """Of a tree, at most."""
    learning_rate: float = 0.08
    """How much of what is still wrong a tree corrects."""
    seed: int = 0
    threads: int = 1
    """Of the CPU, for growing trees."""
    smoke: bool = False
    """Try the whole way in seconds, with demonstrations of its own where none are given."""


def main(args: Args) -> Path:
    """Train a matching expert.

    Returns:
        The folder of the model, `OUT/model`, which `MatchPolicy.from_pretrained` reads.

    Raises:
        LLMGymError: something is missing or wrong.
    """
    if args.smoke:
        args = replace(args, rounds=min(args.rounds, _TRIED_ROUNDS))
    require("lightgbm", "train")
    plan = _plan(args)
    folder = args.out / MODEL
    if folder.exists():
        return _same(folder, plan)
    training, held_out = _files(args)
    shops, others = _shops(training), _shops(held_out)
    if not shops or not others:
        raise BadRecord("Nothing to learn: no demonstration, or none that is held out, ends with a purchase.")
    bought = sum(len(wishes) for wishes, _ in shops), sum(len(wishes) for wishes, _ in others)
    _logger.info("%d instructions to learn from, %d held out", *bought)
    model = _trained(args, shops, others, plan)
    judged = list(chain.from_iterable(demonstrations for _, demonstrations in held_out))
    drawn = random.Random(args.seed).sample(judged, min(_JUDGED, len(judged)))
    right = {kind: round(value, 3) for kind, value in accuracies(model, drawn).items()}
    _logger.info("held out: %s", ", ".join(f"{kind} {value:.3f}" for kind, value in right.items()))
    write_atomically(args.out / ACCURACIES, (json.dumps(right, indent=1) + "\n").encode())
    model.write(folder)
    return folder


def _trained(args: Args, shops: Sequence[Shop], others: Sequence[Shop], plan: dict[str, Any]) -> MatchModel:
    """The forest of options first: what fits is evidence for the products."""
    growth = Growth(args.rounds, args.leaves, args.learning_rate, args.seed, args.threads)
    model = MatchModel(Forest.empty(), Forest.empty(), telling_words(shops), plan)

    def grown(name: str, features: Sequence[str], make: Callable[[Shop], Examples]) -> Forest:
        training, held_out = _together(map(make, shops)), _together(map(make, others))
        _logger.info("%s: %d rows to learn from, %d held out", name, len(training.rows), len(held_out.rows))
        folder = args.out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LOG).unlink(missing_ok=True)
        log = Log(folder, 0)
        forest = grow(training, held_out, len(features), growth, _telling(log))
        draw_curves(folder, log.rows)
        return forest

    rng = random.Random(args.seed)
    options = grown("options", OPTION_FEATURES, lambda shop: option_examples(*shop, rng))
    model = replace(model, options=options)
    products = grown("products", PRODUCT_FEATURES, lambda shop: product_examples(*shop, model, rng))
    return replace(model, products=products)


def _telling(log: Log) -> Told:
    def told(number: int, loss: float, held_out: float) -> None:
        log.write(number, {LOSS: loss, HELD_OUT: {LOSS: held_out}})

    return told


def _together(parts: Iterable[Examples]) -> Examples:
    whole = Examples()
    for part in parts:
        whole.extend(part)
    return whole


def _shops(files: Sequence[File]) -> list[Shop]:
    """The demonstrations of each shop: its products are known by their ids, which mean nothing elsewhere."""
    by_shop: dict[str, list[Demonstration]] = {}
    for name, demonstrations in files:
        by_shop.setdefault(name, []).extend(demonstrations)
    wishes = map(wishes_of, by_shop.values())
    return [(found, Shelf(found)) for found in wishes if found]


def _files(args: Args) -> tuple[list[File], list[File]]:
    """To learn from, and held out: no product is in both."""
    if args.smoke and not args.demonstrations:
        return _parted([("tried", _played())])
    if not args.demonstrations:
        raise InvalidSetting("Nothing to learn from: give --demonstrations FILE, which `llm-gym demos record` makes.")
    training = [_read(path) for path in args.demonstrations]
    return (training, [_read(path) for path in args.held_out]) if args.held_out else _parted(training)


def _read(path: Path) -> File:
    demonstrations = read_demonstrations(path)
    return _shop_of(demonstrations.header) or str(path), list(demonstrations)


def _shop_of(header: Header) -> str:
    return str(header.description.get("catalogue_digest", ""))


def _parted(files: Sequence[File]) -> tuple[list[File], list[File]]:
    training: list[File] = []
    held_out: list[File] = []
    for shop, demonstrations in files:
        last = [product_fraction(_product(one)) >= 1 - _HELD_OUT for one in demonstrations]
        training.append((shop, [one for one, late in zip(demonstrations, last, strict=True) if not late]))
        held_out.append((shop, [one for one, late in zip(demonstrations, last, strict=True) if late]))
    return training, held_out


def _product(demonstration: Demonstration) -> str:
    parsed = parse_task_id(demonstration.task_id)
    return parsed[0] if parsed else demonstration.task_id


def _played() -> list[Demonstration]:
    """A few demonstrations of the embedded shop."""
    env = gym.make("llm_gym/WebShop-v1", split="train")
    played = record(env, DemonstratorPolicy(), panel_of(env)[:_TRIED_TASKS], repeats=2)
    return [one.demonstration for one in played if one.demonstration is not None]


def _plan(args: Args) -> dict[str, Any]:
    """What the result depends on, files by their content."""
    files = {"demonstrations": args.demonstrations, "held_out": args.held_out}
    told = {name: [sha256_of(path)[:16] for path in paths if path.is_file()] for name, paths in files.items()}
    return {name: value for name, value in vars(args).items() if name not in ("out", "threads", *files)} | told


def _same(folder: Path, plan: dict[str, Any]) -> Path:
    if MatchModel.read(folder).training != plan:
        raise InvalidSetting(f"{folder} holds a model of another training. Remove it, or train into another folder.")
    _logger.info("%s is trained already", folder)
    return folder


if __name__ == "__main__":
    run(main, Args, __doc__)
