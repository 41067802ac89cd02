"""The goal reader of ALFWorld: what people ask for in their own words.

It learns from what people wrote about the training games, which `llm-gym download alfworld` brings.
`pip install "llm-gym[train]"` brings PyTorch; what is trained needs NumPy only.

    python train/alfworld_goals.py --out goals

The pass after which held-out rooms are read best is found first (split `heldout_scenes`: 20 of the 108 rooms); then the
reader learns from all rooms for as many passes. The reader is in OUT/model, how well held-out rooms were read in
OUT/log.jsonl and OUT/held_out.json. A training takes two minutes of one core; one that was interrupted begins anew.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_gym.data import write_atomically
from llm_gym.envs.alfworld.games import EMBEDDED, OFFICIAL, open_games
from llm_gym.envs.alfworld.scenes import DIVIDED, SCENE_SPLITS
from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.alfworld.goal_reader.model import GoalModel, Names
from llm_gym.policies.alfworld.goal_reader.tokens import target_of, tokens
from llm_gym.policies.alfworld.goals import Look
from llm_gym.training.goal_examples import GoalExample, goal_examples, vocabulary
from llm_gym.training.log import HELD_OUT, LOG, Log
from llm_gym.training.schedule import LOSS
from llm_gym.training.script import run

MODEL, MEASURES = "model", "held_out.json"
_LEAST = 2
"""A token is known that so many sentences hold."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Args:
    """What is learned from, and for how long."""

    out: Path = Path("alfworld_goals")
    """Folder of the training; the reader is put into OUT/model."""
    games: str = OFFICIAL
    """A store of games with goals in people's words."""
    width: int = 64
    """Numbers of a token's vector."""
    passes: int = 6
    """Over all sentences, at most."""
    learning_rate: float = 3e-3
    seed: int = 0
    smoke: bool = False
    """Try the whole way in seconds, with the invented games and their own sentences."""


def main(args: Args) -> Path:
    """Train a goal reader.

    Returns:
        The folder of the reader, `OUT/model`, which `GoalReader.from_pretrained` reads.

    Raises:
        LLMGymError: something is missing or wrong.
    """
    torch: Any = require("torch", "torch")
    torch.set_num_threads(1)
    if args.passes < 1 or args.width < 1 or not 0 < args.learning_rate < 1:
        raise InvalidSetting(
            "passes and width must be 1 at least, and the learning rate between 0 and 1; got "
            f"{args.passes}, {args.width} and {args.learning_rate}."
        )
    folder = args.out / MODEL
    if folder.exists():
        raise InvalidSetting(f"{folder} holds a reader already. Remove it, or train into another folder.")
    store = open_games(EMBEDDED if args.smoke else args.games)
    fitted, held_out = (goal_examples(store, split, templated=args.smoke) for split in SCENE_SPLITS)
    _logger.info("%d sentences to learn from, %d of held-out rooms", len(fitted), len(held_out))
    args.out.mkdir(parents=True, exist_ok=True)
    passes, measures = _best_passes(args, fitted, held_out)
    write_atomically(args.out / MEASURES, (json.dumps(measures, indent=1) + "\n").encode())
    everything = goal_examples(store, DIVIDED, templated=args.smoke)
    _logger.info("learning from all %d sentences in %d passes", len(everything), passes)
    plan = {"games": store.digest, "passes_of": args.passes, "passes": passes, "held_out": measures}
    plan |= {"width": args.width, "learning_rate": args.learning_rate, "seed": args.seed}
    _trained(args, everything, passes, plan).write(folder)
    return folder


def _best_passes(args: Args, fitted: list[GoalExample], held_out: list[GoalExample]) -> tuple[int, dict[str, float]]:
    """After how many passes the held-out rooms are read with the smallest loss, and how well."""
    from llm_gym.training.goal_network import GoalNetwork, Measures, learn, measure, sentences_of

    (args.out / LOG).unlink(missing_ok=True)
    log = Log(args.out, 0)
    names = names_of(fitted)
    unseen = sentences_of(held_out, names)
    found: list[Measures] = []

    def told(number: int, loss: float, network: GoalNetwork) -> bool:
        found.append(measure(network, unseen))
        log.write(number, {LOSS: loss, HELD_OUT: found[-1]._asdict()})
        _logger.info("pass %d: loss %.3f; held out %.3f, %.3f read right", number, loss, *found[-1])
        return True

    learn(sentences_of(fitted, names), names, _learning(args), told)
    best = min(range(len(found)), key=lambda at: found[at].loss)
    return best + 1, {name: round(value, 4) for name, value in found[best]._asdict().items()}


def _trained(args: Args, examples: list[GoalExample], passes: int, plan: dict[str, Any]) -> GoalModel:
    from llm_gym.training.goal_network import learn, sentences_of

    names = names_of(examples)
    network = learn(sentences_of(examples, names), names, _learning(args), lambda number, *_: number < passes)
    return GoalModel(names, network.numbers(), plan)


def _learning(args: Args) -> Any:
    from llm_gym.training.goal_network import Learning

    return Learning(args.width, args.passes, learning_rate=args.learning_rate, seed=args.seed)


def names_of(examples: list[GoalExample]) -> Names:
    """What can be read and found after learning from these."""
    read = vocabulary((tokens(example.sentence, example.places) for example in examples), _LEAST)
    errands = [example.errand for example in examples]
    lamps = vocabulary(([errand.lamp] for errand in errands if isinstance(errand, Look)), 1)
    things, targets = (
        vocabulary(([part] for part in parts), 1)
        for parts in ((errand.thing for errand in errands), map(target_of, errands))
    )
    return Names(read, things, targets, lamps)


if __name__ == "__main__":
    run(main, Args, __doc__)
