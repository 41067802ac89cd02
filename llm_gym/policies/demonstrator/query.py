"""Writing a query as people do, and another one where the last found nothing fit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence, Set

from llm_gym.envs.webshop.reward import COLORS
from llm_gym.envs.webshop.search.tokens import STOP_WORDS
from llm_gym.policies.demonstrator.spelling import abbreviated, inflected, other_word
from llm_gym.policies.demonstrator.wish import FRAME, Wish
from llm_gym.policies.lexical_match import words

Tokens = tuple[str, ...]

_RELATIONS = {"span": 0.40, "subset": 0.16, "re-ordered": 0.16, "inflected": 0.05, "new words": 0.23}
"""How a first query relates to its instruction: shares among 1,506 goals of people."""
_STEPS = {"swap": 0.30, "drop": 0.23, "add": 0.19, "rewrite": 0.20, "re-order": 0.08}
"""How a query relates to the one before: shares among 691 steps of people."""
_KEPT = {"free": 0.75, "high": 0.72, "with": 0.35, "size": 0.46, "color": 0.42, "colored": 0.42, "for": 0.2}
_KEPT |= {"easy": 0.38, "quality": 0.34}
_KEPT_COLOR, _KEPT_DIGITS, _KEPT_CONTENT, _KEPT_STOP = 0.9, 0.85, 0.78, 0.06
"""How often a word of the instruction comes into a query."""
_RESTARTS = frozenset(("i", "i'd", "i'm", "it", "also", "please", "pick", "choose", "get"))
"""Words with which an instruction begins anew."""
_SPAN = (0.7, 1.2)
"""Least and greatest share of its words that a piece of the wish keeps; all of them from 1 on."""
_BEFORE_A_RESTART = 2
"""Words at least that stand before a new sentence."""
_IN_FRONT = 0.3
"""How often words that were missing are put in front rather than behind."""
_IN_SHORT = 0.7
"""How often a unit, a size or a number is put in short where it can be, instead of another word for something."""
_COLORS = frozenset(COLORS)
_ATTEMPTS = 8
_EDGES = ",.;:!?()\"'"


def first_query(wish: Wish, priced: float, stream: random.Random) -> str:
    """A query for an instruction, which names the price limit with the chance `priced`."""
    return _priced(_written(wish, stream), wish, priced, stream)


def next_query(wish: Wish, earlier: Sequence[str], priced: float, stream: random.Random) -> str:
    """A query after one or more others, different from all of them if one can be thought of."""
    said = _said(wish)
    last = tuple(token for token in _tokens(earlier[-1]) if token in said) or said
    query = said
    for _ in range(_ATTEMPTS):
        step = stream.choices(list(_STEPS), list(_STEPS.values()))[0]
        query = _written(wish, stream) if step == "rewrite" else _changed(last, wish, step, stream)
        if query and " ".join(query) not in earlier:
            break
    return _priced(query or said, wish, priced, stream)


def _said(wish: Wish) -> Tokens:
    """The words of a wish as they stand there."""
    return _tokens(wish.text) or ("product",)


def _tokens(text: str) -> Tokens:
    return tuple(token for token in (part.strip(_EDGES) for part in text.lower().split()) if token)


def _priced(query: Tokens, wish: Wish, chance: float, stream: random.Random) -> str:
    if wish.limit is not None and stream.random() < chance:
        amount = f"${wish.limit:.0f}"
        query += stream.choice((("less", "than", amount), ("under", amount), ("up", "to", amount)))
    return " ".join(query)


# -- from the instruction ----------------------------------------------------------------------------------------


def _written(wish: Wish, stream: random.Random) -> Tokens:
    tokens = _said(wish)
    relation = stream.choices(list(_RELATIONS), list(_RELATIONS.values()))[0]
    if relation == "span":
        return _span(tokens, stream)
    kept = _subset(tokens, wish, stream)
    match relation:
        case "re-ordered":
            return _reordered(kept, stream)
        case "inflected":
            return _with_one(kept, inflected, stream)
        case "new words":
            return _with_new_words(kept, wish, stream)
        case _:
            return kept


def _span(tokens: Tokens, stream: random.Random) -> Tokens:
    """A piece of the instruction up to where a new sentence begins, more often without its end than its beginning."""
    first = next((at for at, token in enumerate(tokens) if token in _RESTARTS and at > _BEFORE_A_RESTART), len(tokens))
    tokens = tokens[:first]
    length = max(1, min(len(tokens), round(len(tokens) * stream.uniform(*_SPAN))))
    start = min(stream.choice((0, 0, 0, 0, 1)), len(tokens) - length)
    piece = list(tokens[start : start + length])
    while len(piece) > 1 and _is_filler(piece[-1]):
        piece.pop()
    while len(piece) > 1 and _is_filler(piece[0]):
        piece.pop(0)
    return tuple(piece)


def _subset(tokens: Tokens, wish: Wish, stream: random.Random) -> Tokens:
    """Words kept one by one; the word for the thing always."""
    kept = tuple(token for token in tokens if _is_head(token, wish) or stream.random() < _chance(token))
    return kept or tokens


def _chance(token: str) -> float:
    if token in _KEPT:
        return _KEPT[token]
    if any(character.isdigit() for character in token):
        return _KEPT_DIGITS
    if not _COLORS.isdisjoint(re.split(r"\W+", token)):
        return _KEPT_COLOR
    return _KEPT_STOP if _is_filler(token) else _KEPT_CONTENT


def _is_filler(token: str) -> bool:
    return token in STOP_WORDS or token in FRAME


def _is_head(token: str, wish: Wish) -> bool:
    return not wish.heads.isdisjoint(words(token))


def _reordered(tokens: Tokens, stream: random.Random) -> Tokens:
    """The end first, as in `red shoe with laces` → `laces red shoe`."""
    content = tuple(token for token in tokens if not _is_filler(token)) or tokens
    if len(content) < 2:
        return content
    cut = stream.randrange(1, len(content))
    return content[cut:] + content[:cut]


def _with_one(tokens: Tokens, change: Callable[[str], str], stream: random.Random) -> Tokens:
    """One word changed, of those that a change has an effect on."""
    places = [at for at, token in enumerate(tokens) if change(token) != token and not _is_filler(token)]
    if not places:
        return tokens
    at = stream.choice(places)
    return (*tokens[:at], change(tokens[at]), *tokens[at + 1 :])


def _with_new_words(tokens: Tokens, wish: Wish, stream: random.Random) -> Tokens:
    """Words of the shopper's own: units and sizes in short, figures, another name for the thing."""
    shorter = tuple(abbreviated(token) for token in tokens)
    if shorter != tokens and stream.random() < _IN_SHORT:
        return shorter
    return _with_one(shorter, lambda token: other_word(token) if _is_head(token, wish) else token, stream)


# -- from the query before ---------------------------------------------------------------------------------------


def _changed(last: Tokens, wish: Wish, step: str, stream: random.Random) -> Tokens:
    if step == "re-order":
        return _reordered(last, stream)
    query = last
    if step in ("drop", "swap"):
        query = _without_some(query, wish, stream)
    if step in ("add", "swap"):
        query = _with_some(query, wish, set(last), stream)
    return query


def _without_some(query: Tokens, wish: Wish, stream: random.Random) -> Tokens:
    """One or two words fewer; the word for the thing stays."""
    droppable = [at for at, token in enumerate(query) if not _is_head(token, wish)]
    dropped = set(stream.sample(droppable, min(len(droppable), stream.choice((1, 1, 2)))))
    return tuple(token for at, token in enumerate(query) if at not in dropped)


def _with_some(query: Tokens, wish: Wish, last: Set[str], stream: random.Random) -> Tokens:
    """One or two words of the instruction that the last query lacked, in front or behind."""
    lacking = [token for token in _said(wish) if token not in last and not _is_filler(token)]
    number = min(len(lacking), stream.choice((1, 1, 2)))
    added = tuple(lacking[at] for at in sorted(stream.sample(range(len(lacking)), number)))
    return added + query if stream.random() < _IN_FRONT else query + added
