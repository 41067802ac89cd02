"""The choice model of the WebShop paper: which click comes next on a page (its section 5.1 and appendix B).

    python train/webshop_choice.py --demonstrations train.jsonl --held-out dev.jsonl --max-states 8000 --out choice

So a small model learns in less than an hour on one core: the first two of MiniLM's six layers, 6,000 pieces of its
vocabulary, once through 8,000 clicks. The paper's model, which needs a graphics card, is trained by

    --encoder bert-base-uncased --layers None --vocabulary None --frozen -1 --dropout None --head-tokens 0
    --epochs 10 --learning-rate 2e-5 --warmup 0 --batch 1 --accumulate 32

The model is in OUT/model; docs/training.md tells what else is in OUT, how a training goes on after a kill, and what the
models reach.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from llm_gym.data import sha256_of
from llm_gym.demonstrations import Demonstration, read_demonstrations, record
from llm_gym.envs.base import panel_of
from llm_gym.envs.webshop.image_features import EMBEDDED_IMAGES, FeatureStore
from llm_gym.errors import DataMismatch, InvalidSetting
from llm_gym.extras import require
from llm_gym.llm.minilm import packaged_weights
from llm_gym.policies.demonstrator import DemonstratorPolicy
from llm_gym.policies.imitation.checkpoint import Precision
from llm_gym.policies.imitation.choice_batch import ChoiceExample, Collator
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_scorer import ChoiceScorer
from llm_gym.policies.imitation.choice_tokens import tokenizer_of
from llm_gym.policies.imitation.text import process
from llm_gym.training.choice_examples import accuracies, choice_examples
from llm_gym.training.division import by_product
from llm_gym.training.fit import fit
from llm_gym.training.schedule import Schedule
from llm_gym.training.script import is_first_process, run
from llm_gym.training.vocabulary import pruned

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import nn

    from llm_gym.policies.imitation.choice_model import ChoiceModel

MINILM = "minilm"
MODEL = "model"

_TINY = {
    "model_type": "bert",
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
}
"""The encoder of a try."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Args:
    """What is learned from, which model learns, and for how long."""

    demonstrations: tuple[Path, ...] = ()
    """Files of demonstrations to learn from."""
    out: Path = Path("webshop_choice")
    """Folder of the training, which can be continued there; the model is put into OUT/model."""
    held_out: tuple[Path, ...] = ()
    """Files of demonstrations with other products, to choose the weights by; else those of a tenth of the products."""
    features: Path | None = None
    """Folder of image features; None: those of the embedded catalogue."""
    image: bool = True
    """Whether the model looks at pictures."""
    encoder: str = MINILM
    """"minilm", which comes in a package; else a folder or a name on the hub, such as bert-base-uncased."""
    layers: int | None = 2
    """The first so many layers of the encoder; None: all."""
    vocabulary: int | None = 6000
    """Pieces of the encoder's vocabulary that are kept; None: all."""
    pretrained: bool = True
    """Whether the encoder begins with its weights, or without language pre-training."""
    frozen: int = 1
    """The word vectors and the first so many layers keep their pretrained weights; -1: all is trained."""
    dropout: float | None = 0.0
    """Of the encoder; None: as it was pretrained."""
    legacy: bool = False
    """Keep the original's defect: scores depend on padding."""
    observations: int = 0
    """Earlier pages before the page."""
    actions: int = 0
    """Earlier actions before the page."""
    state_tokens: int = 512
    """Longer states lose their beginning."""
    head_tokens: int = 64
    """But so many of the beginning stay, where the instruction stands; the paper's is 0."""
    action_tokens: int = 128
    """Longer actions lose their beginning."""
    epochs: int = 1
    """The paper's is 10."""
    batch: int = 8
    """States that are computed at once."""
    accumulate: int = 4
    """Batches of an update; the paper's update has 32 states."""
    learning_rate: float = 3e-4
    """The paper's is 2e-5, for BERT-base."""
    warmup: int = 20
    """Updates in which the learning rate rises."""
    evaluate_every: int | None = None
    """Updates between two looks at the held-out clicks; None: an epoch."""
    patience: int | None = None
    """Stop after so many looks that found nothing better."""
    max_states: int | None = None
    """Learn from so many clicks, drawn at random; None: from all."""
    max_held_out: int | None = 2000
    """Look at so many held-out clicks, drawn at random; None: at all."""
    precision: Precision = "float16"
    """Of the weights in OUT/model."""
    seed: int = 0
    threads: int = 1
    """Of the CPU. Where other work is done beside it, one is fastest."""
    smoke: bool = False
    """Try the whole way in seconds, with a tiny encoder."""


def main(args: Args) -> Path:
    """Train a choice model, or go on with it.

    Returns:
        The folder of the model, `OUT/model`, which `ChoiceScorer.from_pretrained` and `ILPolicy(choice=…)` read.

    Raises:
        LLMGymError: something is missing or wrong.
        KeyboardInterrupt: Ctrl-C; the same command goes on.
    """
    if args.smoke:
        args = _small(args)
    schedule = _schedule(args)
    settings = ChoiceConfig(
        image=args.image,
        legacy=args.legacy,
        state_tokens=args.state_tokens,
        head_tokens=args.head_tokens,
        action_tokens=args.action_tokens,
        observations=args.observations,
        actions=args.actions,
    )
    training, held_out = _examples(args, settings)
    require("torch", "torch").set_num_threads(args.threads)
    from llm_gym.policies.imitation.choice_model import ChoiceModel

    encoder = packaged_weights() if args.encoder == MINILM else args.encoder
    tokenizer, kept = _tokenizer(args, encoder, training)
    model = ChoiceModel.create(
        _TINY if args.smoke else encoder,
        settings,
        tokenizer,
        pretrained=args.pretrained,
        layers=args.layers,
        kept=kept,
        seed=args.seed,
    )
    _freeze(model, args)
    collate = Collator(tokenizer, model.settings)
    fitted = fit(
        model,
        training,
        held_out,
        collate,
        schedule,
        args.out,
        accuracies,
        length=lambda example: collate.state_length(example.state),
        settings=_plan(args, tokenizer),
    )
    told = ", ".join(f"{name} {value:.3f}" for name, value in fitted.measures.items())
    _logger.info("best after %d of %d updates (%.0f s): %s", fitted.best, fitted.updates, fitted.seconds, told)
    folder = args.out / MODEL
    if is_first_process() and not folder.exists():
        ChoiceScorer(model, tokenizer).save(folder, args.precision)
    return folder


def _freeze(model: ChoiceModel, args: Args) -> None:
    from torch import nn

    for module in model.encoder.modules():
        if isinstance(module, nn.Dropout) and args.dropout is not None:
            module.p = args.dropout
    if args.pretrained and args.frozen >= 0:
        kept = [model.encoder.get_input_embeddings(), *_layers_of(model.encoder)[: args.frozen]]
        for module in kept:
            module.requires_grad_(False)


def _layers_of(encoder: nn.Module) -> Sequence[nn.Module]:
    """The encoder's layers, first to last: the longest list of modules in it."""
    from torch import nn

    lists: list[Sequence[nn.Module]] = [list(part) for part in encoder.modules() if isinstance(part, nn.ModuleList)]
    return max(lists, key=len, default=[])


def _schedule(args: Args) -> Schedule:
    return Schedule(
        epochs=args.epochs,
        batch_size=args.batch,
        accumulate=args.accumulate,
        learning_rate=args.learning_rate,
        warmup_steps=args.warmup,
        evaluate_every=args.evaluate_every,
        best_by="accuracy",
        patience=args.patience,
        seed=args.seed,
    )


def _plan(args: Args, tokenizer: Tokenizer) -> dict[str, Any]:
    """What the result depends on, files by their content."""
    words = {"tokenizer": hashlib.sha256(tokenizer.to_str().encode()).hexdigest()[:16]}
    files = {"demonstrations": args.demonstrations, "held_out": args.held_out}
    told = {name: [sha256_of(path)[:16] for path in paths] for name, paths in files.items()}
    features = {"features": FeatureStore.open(args.features or EMBEDDED_IMAGES).digest if args.image else None}
    elsewhere = {"out", "threads", *files, *features}
    return {name: value for name, value in vars(args).items() if name not in elsewhere} | told | features | words


def _tokenizer(
    args: Args, encoder: str | Path, training: Sequence[ChoiceExample]
) -> tuple[Tokenizer, list[int] | None]:
    whole = tokenizer_of(encoder)
    if args.vocabulary is None:
        return whole, None
    texts = {text for example in training for text in (example.state, *example.actions)}
    lines = {line for text in texts for line in process(text).splitlines()}
    return pruned(whole, lines, args.vocabulary)


def _examples(args: Args, settings: ChoiceConfig) -> tuple[list[ChoiceExample], list[ChoiceExample]]:
    """To learn from, and held out: no product is in both."""
    features = FeatureStore.open(args.features or EMBEDDED_IMAGES) if args.image else None
    if args.smoke and not args.demonstrations:
        training, held_out = by_product(_played())
    elif args.held_out:
        training, held_out = _read(args.demonstrations), _read(args.held_out)
    else:
        training, held_out = by_product(_read(args.demonstrations))
    _check_pictures(args, features, [*training, *held_out])
    examples = list(choice_examples(training, settings, features, args.seed))
    others = list(choice_examples(held_out, settings, features, args.seed))
    counts = len(training), len(examples), len(held_out), len(others)
    _logger.info("%d demonstrations with %d clicks, %d held out with %d", *counts)
    return _drawn(examples, args.max_states, args.seed), _drawn(others, args.max_held_out, args.seed)


def _read(paths: Sequence[Path]) -> list[Demonstration]:
    if not paths:
        raise InvalidSetting("Nothing to learn from: give --demonstrations FILE, which `llm-gym demos record` makes.")
    return [demonstration for path in paths for demonstration in read_demonstrations(path)]


def _check_pictures(args: Args, features: FeatureStore | None, demonstrations: Sequence[Demonstration]) -> None:
    if features is None:
        return
    named = {step.image for demonstration in demonstrations for step in demonstration.steps} - {None}
    if not any(features.find(image) is not None for image in named if image):
        raise DataMismatch(
            f"{features.folder} has features of none of the {len(named)} pictures that the demonstrations name: they "
            "belong to another catalogue. Give its features (--features FOLDER), or train without (--no-image)."
        )


def _drawn(examples: list[ChoiceExample], most: int | None, seed: int) -> list[ChoiceExample]:
    """At most so many of them, in their order."""
    if most is None or len(examples) <= most:
        return examples
    chosen = np.random.default_rng(seed).choice(len(examples), most, replace=False)
    return [examples[place] for place in sorted(chosen.tolist())]


def _small(args: Args) -> Args:
    return replace(args, pretrained=False, layers=None, vocabulary=4000, epochs=1, max_states=64, max_held_out=16)


def _played() -> list[Demonstration]:
    """A few demonstrations in the embedded shop."""
    env = gym.make("llm_gym/WebShop-v1", split="train")
    with closing(env):
        tasks = panel_of(env)[:20]
        return [made.demonstration for made in record(env, DemonstratorPolicy(), tasks) if made.demonstration]


if __name__ == "__main__":
    run(main, Args, __doc__)
