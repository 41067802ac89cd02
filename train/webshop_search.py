r"""The search model of the WebShop paper: what to search for, given an instruction (its section 5.1).

    llm-gym demos record WebShop --policy demonstrator --set split=train -n all --repeats 6 --success --out train.jsonl
    python train/webshop_search.py --demonstrations train.jsonl train_reworded.jsonl --held-out dev.jsonl \
        --small.vocabulary 5000 --copies 5 --epochs 2 --max-updates 1200 --batch 32 --learning-rate 1e-3 --warmup 100 \
        --evaluate-every 300 --precision int8 --worlds split=dev split=test --out search
    python train/webshop_search.py --official goal_query_map.json human_goals.json --base facebook/bart-base --out bart

The second command made the shipped model; docs/imitation.md has the others that belong to it. Its first query finds the
product of 97 % of the goals of panel `test` among the 50 results, the instruction without opening and price of 99 %.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
from rich.console import Console
from rich.table import Table

from llm_gym.cli.keywords import comma_pairs
from llm_gym.cli.making import make_environment
from llm_gym.data import sha256_of, write_atomically
from llm_gym.demonstrations import Demonstration, read_demonstrations, record
from llm_gym.demonstrations.official import OfficialGoals, Split, read_goal_queries
from llm_gym.envs.base import panel_of
from llm_gym.envs.webshop.goals import query_of
from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.llm.minilm import packaged_weights
from llm_gym.policies.demonstrator import DemonstratorPolicy
from llm_gym.policies.imitation.checkpoint import Precision
from llm_gym.policies.imitation.search_checkpoint import SearchSettings
from llm_gym.policies.imitation.search_model import SearchModel
from llm_gym.training.division import by_product
from llm_gym.training.fit import fit
from llm_gym.training.schedule import Schedule
from llm_gym.training.script import is_first_process, run
from llm_gym.training.search_base import SmallBart, pretrained_base, small_base
from llm_gym.training.search_metrics import agreement, asked_in, gained, ranks
from llm_gym.training.search_pairs import (
    Pair,
    PairCollator,
    demonstrated_pairs,
    queries_by_goal,
    with_other_words,
)

MINILM = "minilm"
MODEL, METRICS = "model", "metrics.json"
INSTRUCTION = "instruction"

Rows = Mapping[str, Mapping[str, Any]]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Args:
    """What is learned from, which model learns, and for how long."""

    demonstrations: tuple[Path, ...] = ()
    """Files of demonstrations to learn from."""
    out: Path = Path("webshop_search")
    """Folder of the training, which can be continued there; the model is put into OUT/model."""
    held_out: tuple[Path, ...] = ()
    """Files of demonstrations with other products, to choose the weights by; else those of a tenth of the products."""
    official: tuple[Path, Path] | None = None
    """The published goal_query_map.json and human_goals.json: goals from place 1,500 on are learned from, the dev set
    is held out, the test set is measured. (The original learned from place 500 on, its own dev set included.)"""
    base: str | None = None
    """A model to begin with: OUT/model of another training, or a sequence-to-sequence model or an encoder by folder or
    name on the hub, such as facebook/bart-base, the paper's. None: a small BART."""
    small: SmallBart = field(default_factory=SmallBart)
    """The small BART."""
    encoder: str = MINILM
    """Whose word vectors the small BART begins with: "minilm", which comes in a package; else a folder or a name."""
    copies: int = 0
    """Of each pair, with other words in both goal and query: a small BART learns by them to copy any word."""
    epochs: int = 10
    batch: int = 4
    """Pairs of an update."""
    learning_rate: float = 5e-5
    warmup: int = 50
    """Updates in which the learning rate rises."""
    weight_decay: float = 0.01
    evaluate_every: int | None = None
    """Updates between two looks at the held-out pairs; None: an epoch."""
    max_updates: int | None = None
    """Stop there, whatever the epochs."""
    worlds: tuple[str, ...] = ("split=dev",)
    """Shops in which the ranks are measured, each as the environment's keywords: split=dev,goals=reworded."""
    precision: Precision = "float16"
    """Of the weights in OUT/model."""
    seed: int = 0
    threads: int = 1
    """Of the CPU. Where other work is done beside it, one is fastest."""
    smoke: bool = False
    """Try the whole way in seconds, with a tiny model."""


def main(args: Args) -> Path:
    """Train a search model, or go on with it, and measure it.

    Returns:
        The folder of the model, `OUT/model`, which `SearchModel.from_pretrained` and `ILPolicy(search=…)` read.
        `OUT/metrics.json` holds what was measured.

    Raises:
        LLMGymError: something is missing or wrong.
        KeyboardInterrupt: Ctrl-C; the same command goes on.
    """
    if args.smoke:
        args = _tiny(args)
    torch = require("torch", "torch")
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    pairs = _pairs(args)
    searcher = _base(args, pairs["train"])
    collate = PairCollator(searcher.tokenizer, searcher.settings)
    fitted = fit(
        searcher.model,
        _enlarged(args, pairs["train"], searcher),
        pairs["dev"],
        collate,
        _schedule(args),
        args.out,
        length=lambda pair: len(pair.goal),
        settings=_plan(args, pairs),
    )
    _logger.info("best after %d of %d updates (%.0f s)", fitted.best, fitted.updates, fitted.seconds)
    folder = args.out / MODEL
    if not is_first_process():
        return folder
    if not folder.exists():
        searcher.save(folder, args.precision)
    _report(args, SearchModel.from_pretrained(folder), pairs)
    return folder


# -- what is learned from ----------------------------------------------------------------------------------------


def _pairs(args: Args) -> dict[Split, list[Pair]]:
    """Without a goal twice in two parts."""
    parts: dict[Split, list[Pair]] = {"train": [], "dev": [], "test": []}
    if args.official:
        goals = OfficialGoals.read(args.official[1])
        for split, demonstration in (
            (one.split, one.demonstration) for one in read_goal_queries(args.official[0], goals)
        ):
            parts.setdefault(split, []).extend(demonstrated_pairs([demonstration]))
    training, held_out = _demonstrations(args)
    parts["train"] += demonstrated_pairs(training)
    parts["dev"] += demonstrated_pairs(held_out)
    told = ", ".join(f"{len(pairs)} {split}" for split, pairs in parts.items())
    _logger.info("pairs of goal and query: %s", told)
    if not parts["train"] or not parts["dev"]:
        raise InvalidSetting(
            f"There are {len(parts['train'])} pairs to learn from and {len(parts['dev'])} to choose the weights by: "
            "give --demonstrations FILE, which `llm-gym demos record` makes, or --official."
        )
    return parts


def _demonstrations(args: Args) -> tuple[list[Demonstration], list[Demonstration]]:
    if args.smoke and not args.demonstrations and not args.official:
        return by_product(_played())
    training = [demonstration for path in args.demonstrations for demonstration in read_demonstrations(path)]
    held_out = [demonstration for path in args.held_out for demonstration in read_demonstrations(path)]
    if held_out or args.official:
        return training, held_out
    return by_product(training)


def _enlarged(args: Args, pairs: Sequence[Pair], searcher: SearchModel) -> list[Pair]:
    known = {piece for piece in searcher.tokenizer.get_vocab() if piece.isalpha()}
    words = sorted(known.union(*(pair.goal.split() for pair in pairs)))
    return with_other_words(pairs, words, args.copies, args.seed)


def _plan(args: Args, pairs: dict[Split, list[Pair]]) -> dict[str, Any]:
    """What the result depends on, pairs and an own base by their content."""
    content = {split: hashlib.sha256(repr(pairs[split]).encode()).hexdigest()[:16] for split in ("train", "dev")}
    base = Path(args.base or "") / "model.safetensors"
    told = {"base": sha256_of(base)[:16] if args.base and base.is_file() else args.base}
    elsewhere = ("out", "threads", "worlds", "demonstrations", "held_out", "official")
    return {name: value for name, value in dataclasses.asdict(args).items() if name not in elsewhere} | content | told


# -- what learns -------------------------------------------------------------------------------------------------


def _base(args: Args, pairs: Sequence[Pair]) -> SearchModel:
    if args.base is not None:
        return pretrained_base(args.base, SearchSettings())
    encoder = packaged_weights() if args.encoder == MINILM else args.encoder
    return small_base(args.small, encoder, [text for pair in pairs for text in (pair.goal, pair.query)])


def _schedule(args: Args) -> Schedule:
    return Schedule(
        epochs=args.epochs,
        batch_size=args.batch,
        accumulate=1,
        learning_rate=args.learning_rate,
        warmup_steps=args.warmup,
        weight_decay=args.weight_decay,
        evaluate_every=args.evaluate_every,
        max_updates=args.max_updates,
        seed=args.seed,
    )


# -- how good it is ----------------------------------------------------------------------------------------------


def _report(args: Args, searcher: SearchModel, pairs: Mapping[Split, Sequence[Pair]]) -> None:
    """Print tables and write `metrics.json`."""
    people = {split: _agreements(searcher, pairs[split]) for split in ("dev", "test") if pairs[split]}
    worlds = {world: _ranked(searcher, world) for world in args.worlds}
    write_atomically(args.out / METRICS, json.dumps({"people": people, "worlds": worlds}, indent=1).encode() + b"\n")
    console = Console()
    for name, measures in people.items():
        console.print(_table(f"Against the queries that were written: {name}", measures))
    for name, measures in worlds.items():
        console.print(_table(f"Where the goal's product stands: {name}", measures))


def _agreements(searcher: SearchModel, pairs: Sequence[Pair]) -> Rows:
    references = queries_by_goal(pairs)
    return {"model": agreement(searcher.best, references), INSTRUCTION: agreement(query_of, references)}


def _ranked(searcher: SearchModel, world: str) -> Rows:
    with closing(make_environment("WebShop", comma_pairs(world))) as env:
        asked = asked_in(env)
        model, instruction, whole = (ranks(env, asked, write) for write in (searcher.best, query_of, str))
    return {
        "model": model.to_json(),
        INSTRUCTION: instruction.to_json(),
        "instruction with opening and price": whole.to_json(),
        "model less instruction": gained(model, instruction, asked),
        "goals": {"goals": len(asked), "products": len({one.asin for one in asked})},
    }


def _table(title: str, rows: Rows) -> Table:
    columns = list(rows["model"])
    table = Table(
        "query", *columns, title=title, caption=", ".join(f"{n} {name}" for name, n in rows.get("goals", {}).items())
    )
    for name, row in rows.items():
        if name != "goals":
            table.add_row(name, *(_told(row[column]) for column in columns))
    return table


def _told(value: float | list[float]) -> str:
    if isinstance(value, list):
        return f"{value[0]:+.3f} ({value[1]:+.3f} to {value[2]:+.3f})"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _tiny(args: Args) -> Args:
    small = SmallBart(width=32, layers=1, vocabulary=4000, goal_tokens=64, query_tokens=16)
    return replace(args, small=small, epochs=2, batch=8, max_updates=20, worlds=())


def _played() -> list[Demonstration]:
    """A few demonstrations in the embedded shop."""
    with closing(gym.make("llm_gym/WebShop-v1", split="train")) as env:
        tasks = list(panel_of(env))[:40]
        return [made.demonstration for made in record(env, DemonstratorPolicy(), tasks) if made.demonstration]


if __name__ == "__main__":
    run(main, Args, __doc__)
