"""Goals of ALFWorld in people's own words: what they may mean, best guess first.

A reading by rules and a list of phrases. Words such as "table" or "bottle" mean several kinds of things; a player who
has done what one reading asks for, and sees the game go on, takes the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise, product
from typing import Final, NamedTuple

from llm_gym.policies.alfworld.goals import Errand, Look, Put, Treatment
from llm_gym.policies.alfworld.places import known_places, probability

_WORD = re.compile(r"[a-z0-9]+")
_IRREGULAR: Final = {"knives": "knife", "loaves": "loaf", "shelves": "shelf", "glass": "glass", "glasses": "glass"}
_PLURAL_ES: Final = ("xes", "ches", "shes", "oes", "sses")
_LIGHTS: Final = frozenset({"lamp", "light", "lamplight", "lit", "desklamp", "floorlamp"})
_LAMP: Final = "desklamp"
_LAMP_KINDS: Final = {"floor": "floorlamp", "tall": "floorlamp", "standing": "floorlamp"}
_LOOKING: Final = frozenset({"examine", "look", "inspect", "view", "read", "study", "turn", "see", "observe", "hold"})
_PUTTING: Final = frozenset({"put", "place", "move", "set", "throw", "bring", "leave", "store", "stick", "drop"})
_TWICE: Final = frozenset({"two", "2", "both", "pair", "couple", "another"})
_TREATING: Final[dict[Treatment, tuple[str, ...]]] = {
    "clean": ("clean", "wash", "rins", "wet", "damp", "soak", "scrub", "fill"),
    "heat": ("heat", "hot", "warm", "cook", "microwave", "bake", "reheat", "boil"),
    "cool": ("cool", "chill", "cold", "refrigerate", "frozen", "freez", "ice"),
}
"""How words begin that ask for a treatment."""
_TREATED_AT: Final[dict[str, Treatment]] = {"sinkbasin": "clean", "microwave": "heat", "fridge": "cool"}
_BESIDE: Final = frozenset(
    {"beside", "near", "by", "left", "right", "behind", "above", "below", "under", "underneath", "front", "across"}
    | {"from", "off", "with", "opposite", "between", "next", "against", "over"}
)
"""A place named after one of these is a landmark, not where the thing goes …"""
_PARTS: Final = frozenset({"side", "edge", "top", "corner", "middle", "center", "back", "end", "part"})
"""… unless the word belongs to one of these: "on the right side of the counter"."""
_WITHIN: Final = frozenset({"of", "in", "on", "at"})
"""One of these between two places begins the whole of a part: "the drawer of the desk"."""
_ONWARDS: Final = frozenset({"and", "then", *_PUTTING})
"""Words after which something else is spoken of."""
_AWAY: Final = frozenset({"throw", "discard", "dispose", "trash"})
_SETS: Final = frozenset({"key", "tissue"})
"""Named in the plural also when there is one."""


class Mention(NamedTuple):
    """A phrase of a sentence that names a thing or place.

    Attributes:
        begins, ends: its words are those from `begins` up to `ends`.
        kinds: what it may mean.
    """

    begins: int
    ends: int
    kinds: tuple[str, ...]


def readings(sentence: str, places: Collection[str]) -> list[Errand]:
    """What a sentence may ask for in a household with these kinds of places; nothing if it names no thing.

    Where it names no place, the thing may belong where such things mostly are.
    """
    spoken = _WORD.findall(sentence.lower())
    words = [_singular(word) for word in spoken]
    mentions = list(_mentions(words))
    thing = _thing(mentions)
    if thing is None:
        return []
    if _is_look(words):
        lamp = next((lamp for word, lamp in _LAMP_KINDS.items() if word in words), _LAMP)
        return [Look(kind, lamp) for kind in thing.kinds]
    goals = _goals(words, [mention for mention in mentions if mention.begins >= thing.begins])
    several = not _TWICE.isdisjoint(words) or (spoken[thing.ends - 1] != words[thing.ends - 1] not in _SETS)
    treatment = _spoken_treatment(words, mentions)
    if treatment is None and not several:
        treatment = next((_TREATED_AT[goal.kinds[0]] for goal in goals[:-1] if goal.kinds[0] in _TREATED_AT), None)
    count = 2 if several and treatment is None else 1
    kinds = _targets(words, goals, treatment, places) or _usual(thing.kinds[0], places)
    return [Put(kind, place, count, treatment) for kind, place in product(thing.kinds, kinds)]


def _thing(mentions: list[Mention]) -> Mention | None:
    """The thing that is named first; of two in a row the second: a glass bowl is a bowl."""
    things = [mention for mention in mentions if mention.kinds[0] not in known_places()]
    if len(things) > 1 and things[0].ends == things[1].begins:
        return things[1]
    return things[0] if things else None


def _goals(words: list[str], mentions: list[Mention]) -> list[Mention]:
    """The places where the thing goes, in order: those that are neither landmarks nor the whole of a part."""
    goals: list[Mention] = []
    for previous, mention in pairwise(mentions):
        between = words[previous.ends : mention.begins]
        onwards = max((at for at, word in enumerate(between, 1) if word in _ONWARDS), default=0)
        nearest = between[onwards:]
        beside = not _BESIDE.isdisjoint(nearest) and _PARTS.isdisjoint(nearest)
        whole = previous in goals and not onwards and between[:1] and between[0] in _WITHIN and "to" not in between
        if mention.kinds[0] in known_places() and not beside and not whole:
            goals.append(mention)
    return goals


def _targets(
    words: list[str], goals: list[Mention], treatment: Treatment | None, places: Collection[str]
) -> tuple[str, ...]:
    """What the last place may mean, of the kinds that are here; nothing if it only says where to treat the thing."""
    if goals:
        only_treats = treatment is not None and _TREATED_AT.get(goals[-1].kinds[0]) == treatment
        if not only_treats or not _PUTTING.isdisjoint(words):
            return tuple(kind for kind in goals[-1].kinds if kind in places)
    return ("garbagecan",) if not _AWAY.isdisjoint(words) and "garbagecan" in places else ()


def _usual(thing: str, places: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(places, key=lambda place: (-probability(thing, place), place)))


def _is_look(words: list[str]) -> bool:
    return not _LOOKING.isdisjoint(words) and (not _LIGHTS.isdisjoint(words) or _PUTTING.isdisjoint(words))


def _spoken_treatment(words: list[str], mentions: list[Mention]) -> Treatment | None:
    """What a word outside the names asks for, or the first one: "microwave an egg"."""
    named = {at for mention in mentions for at in range(mention.begins, mention.ends)}
    others = [word for at, word in enumerate(words) if at == 0 or at not in named]
    for treatment, stems in _TREATING.items():
        if any(word.startswith(stems) for word in others):
            return treatment
    return "clean" if "water" in others else None


def _mentions(words: list[str]) -> Iterator[Mention]:
    """From left to right, of overlapping phrases the longest."""
    phrases = _phrases()
    longest = max(map(len, phrases))
    begins = 0
    while begins < len(words):
        for ends in range(min(begins + longest, len(words)), begins, -1):
            if kinds := phrases.get(tuple(words[begins:ends])):
                yield Mention(begins, ends, kinds)
                begins = ends
                break
        else:
            begins += 1


@cache
def _phrases() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Phrase → the kinds it may mean, the one of which it is the commoner name first."""
    table: dict[str, list[str]] = json.loads((files(__package__) / "phrases.json").read_text(encoding="utf-8"))
    meanings: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for kind, phrases in table.items():
        for rank, phrase in enumerate([kind, *phrases]):
            meanings.setdefault(tuple(map(_singular, phrase.split())), []).append((rank, kind))
    return {phrase: tuple(dict.fromkeys(kind for _, kind in sorted(ranked))) for phrase, ranked in meanings.items()}


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(_PLURAL_ES):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word
