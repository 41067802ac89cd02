"""A small vocabulary for a small model: most weights of a small encoder are for words that its task never uses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from llm_gym.errors import InvalidSetting
from llm_gym.extras import require

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WITHIN = "##"
"""Before a piece that does not begin a word."""


def pruned(tokenizer: Tokenizer, texts: Iterable[str], size: int) -> tuple[Tokenizer, list[int]]:
    """A WordPiece tokenizer with fewer pieces, which divides a text of kept pieces as before.

    Kept are added tokens, every single character, at the beginning of a word and within one, so that no word of known
    characters becomes unknown, then the pieces that the texts use most, then those that come first in the vocabulary,
    which in a pretrained one are the frequent ones.

    Args:
        tokenizer: is left as it is.
        texts: of the task; each counts once for every time that it is given.
        size: pieces and added tokens afterwards.

    Returns:
        The tokenizer, and for each of its ids the id that the same token had before.

    Raises:
        InvalidSetting: it is no WordPiece tokenizer, or `size` leaves no room for what has to be kept.
    """
    content: dict[str, Any] = json.loads(tokenizer.to_str())
    if content["model"].get("type") != "WordPiece":
        raise InvalidSetting(f"Only WordPiece vocabularies can be pruned, not {content['model'].get('type')}.")
    vocabulary: dict[str, int] = content["model"]["vocab"]
    added = {token["content"]: token["id"] for token in content["added_tokens"]}
    needed = {piece for piece in vocabulary if piece in added or len(piece.removeprefix(_WITHIN)) == 1}
    needed.add(content["model"]["unk_token"])
    beyond = [token for token in added if token not in vocabulary]
    room = size - len(needed) - len(beyond)
    if room < 0:
        raise InvalidSetting(f"A vocabulary of {size} has no room for the {len(needed) + len(beyond)} tokens it needs.")
    used = _used(tokenizer, texts)
    others = sorted(vocabulary.keys() - needed, key=lambda piece: (-used[vocabulary[piece]], vocabulary[piece]))
    kept = sorted([*needed, *others[:room]], key=vocabulary.__getitem__) + sorted(beyond, key=added.__getitem__)
    places = {piece: place for place, piece in enumerate(kept)}
    content["model"]["vocab"] = {piece: place for piece, place in places.items() if piece in vocabulary}
    for token in content["added_tokens"]:
        token["id"] = places[token["content"]]
    content["post_processor"] = _renumbered(content["post_processor"], places)
    content["padding"] = None
    smaller: Tokenizer = require("tokenizers", "torch").Tokenizer.from_str(json.dumps(content))
    return smaller, [vocabulary.get(piece, added.get(piece, -1)) for piece in kept]


def _used(tokenizer: Tokenizer, texts: Iterable[str]) -> Counter[int]:
    """How often each id stands in the texts, whole as they are."""
    plain = require("tokenizers", "torch").Tokenizer.from_str(tokenizer.to_str())
    plain.no_truncation()
    plain.no_padding()
    used = Counter[int]()
    for encoding in plain.encode_batch(list(texts), add_special_tokens=False):
        used.update(encoding.ids)
    return used


def _renumbered(processor: Any, places: dict[str, int]) -> Any:
    """What frames a text, with the new ids: as BERT's own processor, or as a template."""
    if processor is None:
        return None
    if processor["type"] == "BertProcessing":
        return {**processor, **{end: [processor[end][0], places[processor[end][0]]] for end in ("sep", "cls")}}
    if processor["type"] != "TemplateProcessing":
        raise InvalidSetting(f"A tokenizer that ends with {processor['type']} cannot be pruned.")
    special = {
        name: {**token, "ids": [places[piece] for piece in token["tokens"]]}
        for name, token in processor["special_tokens"].items()
    }
    return {**processor, "special_tokens": special}
