"""The words that BUTLER's text agent knows: those of the training games, with frozen embeddings of another model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.wording import CURRENT, reworded
from llm_gym.errors import MissingData
from llm_gym.extras import require
from llm_gym.llm.minilm import packaged_weights
from llm_gym.policies.butler.observation import RESTART
from llm_gym.policies.butler.tokens import ButlerTokens
from llm_gym.training.vocabulary import pruned

MINILM = "minilm"
_EXTRA = "torch"
_WITHIN = "##"
_WORD = re.compile("[a-z]+")
_OFTEN = 20
"""So often a word stands in the texts before it becomes a token."""


def texts_of(games: GameStore, split: str) -> Iterator[str]:
    """What games say and are told when they are played as their makers played them, and what people call their goals.

    Args:
        games: in a store.
        split: of them.
    """
    engine = NativeEngine()
    yield RESTART
    for entry in games.entries(split):
        game = games.game(split, entry.task_id)
        reply = engine.begin(game, game.goal, CURRENT)
        yield from (reply.text, *game.annotations, *engine.house.object_names)
        for step in game.walkthrough or ():
            command = reworded(step, CURRENT)
            yield command
            yield engine.respond(command).text


def vocabulary(texts: Iterable[str], size: int, encoder: str | Path = MINILM) -> tuple[ButlerTokens, torch.Tensor]:
    """A small tokenizer for such texts, and an embedding of each of its tokens.

    A word that the encoder knows in pieces only ("counter", "##top") becomes a token of its own, whose embedding is the
    mean of its pieces': texts and commands are a third shorter so. Characters beyond ASCII are given up, which no text
    of ALFWorld has; other words are spelled in pieces.

    Args:
        texts: each counts once for every time that it is given.
        size: tokens that are kept, the most used ones.
        encoder: "minilm", which comes in a package; else a folder or a name on the hub, such as
            distilbert-base-cased, whose embeddings the paper takes.

    Returns:
        The tokenizer, and (V, embedding width).

    Raises:
        MissingData: there is no such encoder.
        InvalidSetting: its tokenizer is no WordPiece tokenizer, or `size` is too small.
    """
    transformers, tokenizers = require("transformers", _EXTRA), require("tokenizers", _EXTRA)
    source = str(packaged_weights() if encoder == MINILM else encoder)
    try:
        whole = transformers.AutoTokenizer.from_pretrained(source, use_fast=True).backend_tokenizer
        model = transformers.AutoModel.from_pretrained(source, use_safetensors=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split())[:300]
        raise MissingData(f"{encoder} is no encoder that transformers can load: {told}") from error
    whole.no_padding()
    given = list(texts)
    used = Counter(word for text in given for word in _WORD.findall(text.lower()))
    pieces = {word: whole.encode(word, add_special_tokens=False).ids for word in sorted(used)}
    joined = [word for word, ids in pieces.items() if len(ids) > 1 and used[word] >= _OFTEN]
    plain = tokenizers.Tokenizer.from_str(_without_foreign_characters(whole.to_str()))
    small, places = pruned(plain, given, size - len(joined))
    names = [plain.id_to_token(place) for place in places]
    table = model.get_input_embeddings().weight.detach()
    rows = [table[whole.token_to_id(name)] for name in names] + [table[pieces[word]].mean(0) for word in joined]
    return ButlerTokens(_with_words(small.to_str(), joined)), torch.stack(rows)


def _with_words(tokenizer: str, words: Sequence[str]) -> str:
    """A WordPiece tokenizer, as JSON, that knows these words whole; their ids come after all others."""
    content: dict[str, Any] = json.loads(tokenizer)
    pieces: dict[str, int] = content["model"]["vocab"]
    beyond = max(pieces.values()) + 1
    pieces |= {word: beyond + place for place, word in enumerate(words)}
    return json.dumps(content)


def _without_foreign_characters(tokenizer: str) -> str:
    """A tokenizer, as JSON, whose only single characters are those of ASCII; its ids are new."""
    content: dict[str, Any] = json.loads(tokenizer)
    pieces: Any = content["model"].get("vocab", {})
    if not isinstance(pieces, dict):
        return tokenizer  # no WordPiece, which `pruned` says
    kept = [piece for piece in sorted(pieces, key=pieces.__getitem__) if piece.isascii() or _is_longer(piece)]
    content["model"]["vocab"] = {piece: place for place, piece in enumerate(kept)}
    for token in content["added_tokens"]:
        token["id"] = content["model"]["vocab"].get(token["content"], token["id"])
    return json.dumps(content)


def _is_longer(piece: str) -> bool:
    return len(piece.removeprefix(_WITHIN)) > 1
