"""An actor-critic in WebShop: the imitation model learns on by acting, as in section 5.2 of the paper.

    python train/webshop_a2c.py --out a2c

From the shipped imitation model, on the embedded catalogue, with the encoder frozen so that one core is enough. The
paper's network, which needs a graphics card, all of it trained, for 100,000 steps in each of 4 environments, is trained
by

    --choice CHOICE --frozen -1 --learning-rate 1e-5 --updates 12500 --value-first 0 --queries 10

with CHOICE of `train/webshop_choice.py --encoder bert-base-uncased …`. Its ablations: `--begin pretrained` knows the
language but was not shown what to do, `--begin random` does not know the language either; `--network rnn` is the
recurrent baseline.

The network is in OUT/model, for `A2CPolicy` or `RNNPolicy`; docs/reinforcement.md tells what else is in OUT.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, get_args

import gymnasium as gym

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.envs.base import panel_of
from llm_gym.envs.webshop.catalogue import EMBEDDED
from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.extras import require
from llm_gym.llm.minilm import packaged_weights
from llm_gym.policies.imitation import il
from llm_gym.policies.imitation.checkpoint import Precision
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_tokens import tokenizer_of
from llm_gym.policies.imitation.text import process
from llm_gym.policies.reinforcement.candidates import Queries, instruction_only
from llm_gym.policies.reinforcement.policy import INSTRUCTION, QUERIES, A2CPolicy, digest, queries_of
from llm_gym.policies.shopper import search_action
from llm_gym.rollout import play
from llm_gym.training.a2c.settings import A2CSettings, Exploration
from llm_gym.training.script import run
from llm_gym.training.vocabulary import pruned

if TYPE_CHECKING:
    from llm_gym.policies.reinforcement.bert import BertActorCritic
    from llm_gym.policies.reinforcement.network import ActorCritic

Network = Literal["bert", "rnn"]
Begin = Literal["imitation", "pretrained", "random"]

MINILM, MODEL = "minilm", "model"

_TINY = {
    "model_type": "bert",
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
}
"""The encoder of a try."""
_HEAD = 64
"""So many tokens of a page's beginning stay, where the instruction stands."""
_PAGES = 300
"""So many pages say which pieces of a vocabulary are kept."""
_STEPS_READ = 1500
"""So many random actions show which words are frequent."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Args:
    """Which network learns, where, and for how long."""

    out: Path = Path("webshop_a2c")
    """Folder of the training, which can be continued there; the network is put into OUT/model."""
    network: Network = "bert"
    """The choice model with a value, or the recurrent baseline, which begins with random weights."""
    begin: Begin = "imitation"
    """With what "bert" begins: a choice model, an encoder that knows the language, or random weights."""
    choice: Path | None = None
    """Folder of the choice model to begin with; None: the shipped one."""
    encoder: str = MINILM
    """Of "pretrained" and "random": "minilm", which comes in a package; else a folder or a name on the hub."""
    layers: int | None = 2
    """Of "pretrained" and "random": the first so many layers of the encoder; None: all."""
    vocabulary: int | None = 6000
    """Pieces that are known, of the encoder's vocabulary with "pretrained" and "random", and of the most frequent words
    with "rnn"; None: all."""
    width: int = 48
    """Of "rnn": numbers of a word, and of a GRU in each direction; the paper's is 512."""
    frozen: int = 2
    """The word vectors and the first so many layers keep their weights; -1: all is trained, as with "random"."""
    state_tokens: int = 384
    """Of "pretrained" and "random": longer pages lose what follows their beginning."""
    catalogue: str = "embedded"
    """"embedded", a folder of official files, or a store that `llm-gym build webshop` made."""
    goals: str | None = None
    """Kind of goals; None: the catalogue's own."""
    split: str = "train"
    """The tasks to learn from; of official files, "training_products"."""
    held_out: str = "dev"
    """The tasks to choose the weights by; of official files, "validation_products"."""
    max_held_out: int | None = 60
    """The first so many of them; None: all."""
    image_features: Path | None = None
    """Folder of features of the catalogue's pictures; None: those that come with the embedded one."""
    search: str | None = None
    """Folder of the model that writes queries; "instruction": the instruction is the only one; None: the shipped."""
    queries: int = QUERIES
    """So many of its queries are candidates, beside the instruction; the paper's number is 10."""
    step_limit: int = 100
    """Actions of an episode."""
    updates: int = 160
    environments: int = 4
    steps: int = 8
    """Decisions in each environment before an update."""
    discount: float = 0.9
    reward_scale: float = 10.0
    learning_rate: float = 5e-5
    """The paper's is 1e-5 for all of BERT, 5e-4 for the recurrent network."""
    value_learning_rate: float | None = 1e-3
    """Of the weights that only the value depends on; None: the same, as in the paper."""
    largest_gradient: float = 10.0
    policy_weight: float = 1.0
    value_weight: float = 1.0
    entropy_weight: float = 1.0
    imitation_weight: float = 0.0
    value_first: int = 20
    """Updates at the beginning in which nothing but the value loss counts; the paper's number is 0."""
    exploration: Exploration = "softmax"
    epsilon: float = 0.1
    """Of the exploration "epsilon"."""
    evaluate_every: int = 40
    """Updates between two looks at the held-out tasks, each with a checkpoint."""
    draw: Literal["best", "argmax"] = "best"
    """How a look decides: "argmax" as the paper, "best" takes no action twice on the same page."""
    precision: Precision = "int8"
    """Of the weights in OUT/model."""
    seed: int = 0
    threads: int = 1
    """Of the CPU."""
    smoke: bool = False
    """Try the whole way in seconds, with a tiny network."""


def main(args: Args) -> Path:
    """Train an actor-critic, or go on with it.

    Returns:
        The folder of the network, `OUT/model`, which `A2CPolicy(folder)` or `RNNPolicy(folder)` reads.

    Raises:
        LLMGymError: something is missing or wrong.
        KeyboardInterrupt: Ctrl-C; the same command goes on.
    """
    if args.smoke:
        args = _small(args)
    settings = _settings(args)
    torch = require("torch", "torch")
    require("transformers", "torch")
    torch.set_num_threads(args.threads)
    from llm_gym.training.a2c.episodes import Course
    from llm_gym.training.a2c.loop import train

    searcher = il.SHIPPED / il.SEARCH if args.search is None else Path(args.search)
    queries = instruction_only if args.search == INSTRUCTION else queries_of(searcher, args.queries)
    with closing(_world(args, args.split)) as learned_from, closing(_world(args, args.held_out)) as held_out:
        network, origin = _begun(args, learned_from)
        plan = {
            "network": args.network,
            "begin": origin,
            "frozen": args.frozen,
            "search": INSTRUCTION if args.search == INSTRUCTION else digest(searcher),
            "queries": args.queries,
            "learned_from": _described(learned_from),
            "held_out": _described(held_out) | {"played": args.max_held_out, "draw": args.draw},
            "step_limit": args.step_limit,
        }
        trained = train(
            network,
            Course(lambda: _world(args, args.split), list(panel_of(learned_from))),
            _look(held_out, queries, args),
            settings,
            args.out,
            queries=queries,
            plan=plan,
        )
    told = ", ".join(f"{name} {value:.3f}" for name, value in trained.measures.items())
    _logger.info("best after %d of %d updates (%.0f s): %s", trained.best, trained.updates, trained.seconds, told)
    folder = args.out / MODEL
    if not folder.exists():
        network.save(folder, args.precision)
    return folder


def _settings(args: Args) -> A2CSettings:
    names = [field.name for field in fields(A2CSettings)]
    return A2CSettings(**{name: getattr(args, name) for name in names})


def _world(args: Args, split: str) -> gym.Env[str, str]:
    if args.step_limit < 1:
        raise InvalidSetting(f"step_limit must be 1 or more, got {args.step_limit}.")
    return gym.make(
        "llm_gym/WebShop-v1",
        max_episode_steps=args.step_limit,
        catalogue=args.catalogue,
        goals=args.goals,
        split=split,
        image_features=args.image_features,
    )


def _described(world: gym.Env[str, str]) -> dict[str, Any]:
    description: dict[str, Any] = world.unwrapped.description()  # type: ignore[attr-defined]
    return description


def _look(world: gym.Env[str, str], queries: Queries, args: Args) -> Callable[[ActorCritic], Mapping[str, float]]:
    """Plays the held-out tasks; what became of them on average."""
    tasks = panel_of(world)[: args.max_held_out]
    if not tasks:
        raise InvalidSetting(f"max_held_out must be 1 or more, got {args.max_held_out}.")

    def look(network: ActorCritic) -> Mapping[str, float]:
        policy = A2CPolicy.of(network, queries, args.draw)
        episodes = [play(world, policy, task) for task in tasks]
        return {
            "score": fmean(episode.total_reward for episode in episodes),
            "success": fmean(episode.success for episode in episodes),
            "steps": fmean(len(episode.steps) for episode in episodes),
        }

    return look


# -- the network before the training -------------------------------------------------------------------------------


def _begun(args: Args, world: gym.Env[str, str]) -> tuple[ActorCritic, str]:
    """The network, and what its weights depend on in words."""
    for name, value, known in (("network", args.network, Network), ("begin", args.begin, Begin)):
        if value not in get_args(known):
            raise UnknownName(name, value, get_args(known))
    if args.network == "rnn":
        return _recurrent(args, world)
    network, origin = _imitated(args) if args.begin == "imitation" else _untaught(args, world)
    network.freeze(-1 if args.begin == "random" else args.frozen)
    return network, origin


def _recurrent(args: Args, world: gym.Env[str, str]) -> tuple[ActorCritic, str]:
    from llm_gym.policies.reinforcement.rnn import RecurrentActorCritic
    from llm_gym.policies.reinforcement.rnn_config import RecurrentConfig
    from llm_gym.training.a2c.episodes import Course
    from llm_gym.training.a2c.words import texts_of, word_tokenizer

    course = Course(lambda: _world(args, args.split), list(panel_of(world)))
    tokenizer = word_tokenizer(texts_of(course, instruction_only, _STEPS_READ, args.seed), args.vocabulary)
    config = RecurrentConfig(words=args.width, width=args.width, image=_has_pictures(args))
    words = hashlib.sha256(tokenizer.to_str().encode()).hexdigest()[:16]
    return RecurrentActorCritic.create(config, tokenizer, args.seed), f"random, width {args.width}, vocabulary {words}"


def _imitated(args: Args) -> tuple[BertActorCritic, str]:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer
    from llm_gym.policies.reinforcement.bert import BertActorCritic

    folder = args.choice or il.SHIPPED / (il.CHOICE if _has_pictures(args) else il.CHOICE_TEXT)
    scorer = ChoiceScorer.from_pretrained(folder)
    return BertActorCritic(scorer.model, scorer.tokenizer, args.seed), f"imitation {digest(folder)}"


def _untaught(args: Args, world: gym.Env[str, str]) -> tuple[BertActorCritic, str]:
    from llm_gym.policies.imitation.choice_model import ChoiceModel
    from llm_gym.policies.reinforcement.bert import BertActorCritic

    encoder = packaged_weights() if args.encoder == MINILM else args.encoder
    tokenizer, kept = tokenizer_of(encoder), None
    if args.vocabulary is not None:
        tokenizer, kept = pruned(tokenizer, _texts(world), args.vocabulary)
    config = ChoiceConfig(image=_has_pictures(args), state_tokens=args.state_tokens, head_tokens=_HEAD)
    model = ChoiceModel.create(
        _TINY if args.smoke else encoder,
        config,
        tokenizer,
        pretrained=args.begin == "pretrained",
        layers=args.layers,
        kept=kept,
        seed=args.seed,
    )
    words = hashlib.sha256(tokenizer.to_str().encode()).hexdigest()[:16]
    layers = f"{args.layers} layers, {args.state_tokens} tokens a page, vocabulary {words}"
    return BertActorCritic(model, tokenizer, args.seed), f"{args.begin} {args.encoder}, {layers}"


def _texts(world: gym.Env[str, str]) -> Sequence[str]:
    """Pages of the shop: the first results of the first instructions."""
    pages = []
    for task in panel_of(world)[:_PAGES]:
        _, info = world.reset(options={"task": task})
        pages.append(process(world.step(search_action(info["goal"]))[0]))
    return [line for page in pages for line in page.splitlines()]


def _has_pictures(args: Args) -> bool:
    return args.catalogue == EMBEDDED or args.image_features is not None


def _small(args: Args) -> Args:
    begin: Begin = "random" if args.network == "bert" else args.begin
    small = replace(args, begin=begin, layers=None, vocabulary=3000, state_tokens=128, search=INSTRUCTION, step_limit=8)
    return replace(small, updates=4, evaluate_every=2, value_first=1, max_held_out=4)


if __name__ == "__main__":
    run(main, Args, __doc__)
