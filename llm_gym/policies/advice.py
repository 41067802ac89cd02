"""Asking an expert: when, how many opinions, and which of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, cast, get_args

import gymnasium as gym
import numpy as np

from llm_gym.core import Info, Opinion, derive_seed
from llm_gym.envs.base import MAX_ACTION_CHARS
from llm_gym.errors import FATAL, ExpertFailed, InvalidSetting, UnknownName
from llm_gym.policies.base import Policy

Draw = Literal["argmax", "sample", "sample_without_replacement", "beam"]
When = Literal["always", "uncertain", "after_failure"]
Control = Literal["random"]

CANDIDATES = 100
"""Opinions that an expert is asked for when some of them are drawn; it may give fewer."""


class _Seen(NamedTuple):
    """A page that the expert was shown, without the opinions of others."""

    observation: str
    info: Info


class Advice:
    """An expert beside somebody who plays: it is shown every page, and what was done there.

    It is asked on every page of an episode, also on those where its opinions are held back, since what it remembers of
    a page it may need on the next. It sees the page as the world made it, and no opinions of others.

    Args:
        expert: whose opinions.
        top_k: how many opinions at most.
        draw: which. "argmax": its best, the most confident first. "beam": its best in its own order, which differs
            where it does not rank by confidence. "sample": of all its candidates, with replacement and in proportion to
            their confidence; if one has none, all have the same chance. "sample_without_replacement": the same, none
            twice.
        when: on which pages. "uncertain": where its most confident opinion is below the threshold, or says nothing
            about its confidence. "after_failure": where the last action was impossible or left the page as it was.
        threshold: for "uncertain", a confidence.
        control: "random": as many random admissible actions instead, on the same pages; they tell an opinion's content
            from its presence.

    Raises:
        InvalidSetting, UnknownName: an argument that cannot work.
    """

    def __init__(
        self, expert: Policy, *, top_k: int, draw: Draw, when: When, threshold: float, control: Control | None
    ) -> None:
        if not isinstance(expert, Policy):
            raise InvalidSetting(f"An expert is a policy, such as LexicalPolicy(), not {expert!r}.")
        if top_k < 1:
            raise InvalidSetting(f"top_k must be 1 opinion at least, got {top_k}.")
        if not 0 < threshold <= 1:
            raise InvalidSetting(f"threshold must lie above 0 and not above 1, got {threshold}.")
        for kind, value, known in (("draw", draw, Draw), ("when", when, When), ("control", control, Control)):
            if value not in get_args(known) and (kind, value) != ("control", None):
                raise UnknownName(kind, value, get_args(known))
        self.expert, self.top_k, self.draw, self.when = expert, top_k, draw, when
        self.threshold, self.control = threshold, control
        self._random = np.random.default_rng()
        self._seen: _Seen | None = None

    def settings(self) -> dict[str, Any]:
        """As JSON, the expert's own included."""
        return {
            "expert": told(self.expert),
            "top_k": self.top_k,
            "draw": self.draw,
            "when": self.when,
            "threshold": self.threshold,
            "control": self.control,
        }

    def watch(self, world: gym.Env[str, str]) -> None:
        """Show the expert the innermost environment, before an episode; only an oracle heeds it."""
        with self._named():
            self.expert.watch(world)

    def begin(self, seed: int | None, place: int = 0) -> None:
        """Begin an episode.

        Args:
            seed: of expert and drawing, which have streams of their own; None draws one.
            place: number of experts before this one, so that two equal ones have streams of their own as well.
        """
        if seed is None:
            seed = int(self._random.integers(2**62))
        self._random = np.random.default_rng(derive_seed(seed, "opinions", place, "draw"))
        self._seen = None
        with self._named():
            self.expert.reset(derive_seed(seed, "opinions", place, "expert"))

    def opinions(self, observation: str, info: Info) -> list[Opinion]:
        """What is to be shown on this page.

        Raises:
            ExpertFailed: the expert raised, or gave what is no opinion.
        """
        seen = _Seen(info.get("page", observation), _without_opinions(info))
        failed = "invalid_action" in info or (self._seen is not None and self._seen.observation == seen.observation)
        self._seen = seen
        asked = self._asked(seen)
        if not asked or not self._wanted(asked, failed):
            return []
        chosen = drawn(asked, self.top_k, self.draw, self._random)
        return chosen if self.control is None else random_opinions(info, len(chosen), self._random)

    def note(self, action: str) -> None:
        """Tell the expert what was done on the page it was asked about last."""
        if self._seen is not None and isinstance(action, str):
            with self._named():
                self.expert.note(*self._seen, action)

    def _asked(self, seen: _Seen) -> list[Opinion]:
        k = self.top_k if self.draw in ("argmax", "beam") else max(CANDIDATES, self.top_k)
        with self._named():
            return [_checked(opinion) for opinion in self.expert.advise(*seen, k)[:k]]

    def _wanted(self, asked: Sequence[Opinion], failed: bool) -> bool:
        match self.when:
            case "always":
                return True
            case "after_failure":
                return failed
            case "uncertain":
                known = [opinion.confidence for opinion in asked if opinion.confidence is not None]
                return len(known) < len(asked) or max(known) < self.threshold

    @contextmanager
    def _named(self) -> Iterator[None]:
        """An exception of the expert says whose it is."""
        try:
            yield
        except FATAL:
            raise
        except Exception as error:
            raise ExpertFailed(f"The expert {self.expert.name!r} failed: {type(error).__name__}: {error}") from error


def drawn(asked: Sequence[Opinion], top_k: int, draw: Draw, random: np.random.Generator) -> list[Opinion]:
    """Some of the opinions that an expert gave, see `Advice`; those of confidence 0 are drawn only if all are."""
    if draw == "beam":
        return list(asked[:top_k])
    confidences = [opinion.confidence for opinion in asked]
    known = [confidence for confidence in confidences if confidence is not None]
    told_all = len(known) == len(asked)
    if draw == "argmax":
        best = sorted(asked, key=lambda opinion: -(opinion.confidence or 0.0)) if told_all else asked
        return list(best[:top_k])
    weights = np.array(known) if told_all and sum(known) > 0 else np.ones(len(asked))
    again = draw == "sample"
    size = top_k if again else min(top_k, int(np.count_nonzero(weights)))
    picks = random.choice(len(asked), size=size, replace=again, p=weights / weights.sum())
    return [asked[int(pick)] for pick in picks]


def random_opinions(info: Info, number: int, random: np.random.Generator) -> list[Opinion]:
    """Different admissible actions, each as likely as the others; none where the world lists none."""
    actions = info.get("admissible_actions") or []
    picks = random.permutation(len(actions))[:number]
    return [Opinion(actions[int(pick)], 1 / len(actions), "random") for pick in picks]


def told(policy: Policy) -> dict[str, Any]:
    """A policy inside another's settings."""
    return {"name": policy.name, "settings": policy.settings()}


def _without_opinions(info: Info) -> Info:
    return cast(Info, {key: value for key, value in info.items() if key != "opinions"})


def _checked(opinion: Opinion) -> Opinion:
    """The opinion itself; what is none raises, as an expert's own exception would."""
    if not isinstance(opinion, Opinion) or not isinstance(opinion.action, str):
        raise TypeError(f"an opinion is an Opinion with an action in words, not {opinion!r:.100}")
    if len(opinion.action) > MAX_ACTION_CHARS:
        raise ValueError(f"an action has at most {MAX_ACTION_CHARS:,} characters, not {len(opinion.action):,}")
    if opinion.confidence is not None and not 0 <= opinion.confidence <= 1:
        raise ValueError(f"a confidence lies between 0 and 1, it is {opinion.confidence}")
    return opinion
