"""The imitation expert of the WebShop paper (section 5.1): a model that writes queries, one that chooses clicks."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from llm_gym.core import Decision, Info, Opinion, derive_seed
from llm_gym.data import new_folder
from llm_gym.envs.history import last, with_history
from llm_gym.envs.webshop.item_names import item_names
from llm_gym.errors import InvalidSetting, MissingData, UnknownName
from llm_gym.extras import require
from llm_gym.policies.base import Policy
from llm_gym.policies.imitation.checkpoint import CONFIG, TOKENIZER, WEIGHTS
from llm_gym.policies.shopper import ShopPage, search_action

if TYPE_CHECKING:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer
    from llm_gym.policies.imitation.search_model import SearchModel

Draw = Literal["best", "top_k", "sample"]

TOP_K = 5
"""Queries that the beam search gives, and actions that "top_k" draws among."""
INSTRUCTION = "instruction"
SHIPPED = Path(__file__).parent.parent / "weights" / "webshop_il"
SEARCH, CHOICE, CHOICE_TEXT = "search", "choice", "choice_text"
_EXTRA = "torch"


class ILPolicy(Policy):
    """The imitation expert: a sequence-to-sequence model searches, a cross-attention scorer chooses among the clicks.

    What it reads is the page without what wrappers added, and the results by their titles. Outside a shop it chooses
    among the admissible actions as well, without having learned what they mean.

    Args:
        choice: folder of a choice model, as `train/webshop_choice.py` writes it; None: the shipped one.
        search: folder of a search model, as `train/webshop_search.py` writes it; "instruction": the whole instruction
            is the query, as in the paper's ablation; None: the shipped one.
        image: whether the choice model looks at pictures. None: if it can. Of the shipped models, False means the one
            that was trained without.
        query: which of the five best queries. "best"; "top_k": each with the same chance, as in the paper; "sample": in
            proportion to their probability.
        draw: which action. "best": the most probable that was not yet taken on the same page; "sample": in proportion
            to its probability, as in the paper; "top_k": the same, among the five best.

    Raises:
        UnknownName: `query` or `draw` is none of these.
    """

    name = "il"

    def __init__(
        self,
        choice: str | Path | None = None,
        search: str | Path | None = None,
        image: bool | None = None,
        query: Draw = "best",
        draw: Draw = "best",
    ) -> None:
        for kind, value in (("query", query), ("draw", draw)):
            if value not in get_args(Draw):
                raise UnknownName(kind, value, get_args(Draw))
        self.choice, self.search, self.image = choice, search, image
        self.query, self.draw = query, draw
        self.reset()

    # -- trained models ----------------------------------------------------------------------------------------

    @classmethod
    def pretrained(cls) -> ILPolicy:
        """The shipped expert, trained on the embedded catalogue."""
        policy = cls()
        policy._load()
        return policy

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> ILPolicy:
        """The expert of a folder that `save_pretrained` made, or that holds a `choice` and perhaps a `search`.

        Raises:
            MissingData, BadRecord, DataMismatch: the folder holds no such models, or broken ones.
        """
        folder = Path(folder)
        if not (folder / CHOICE).is_dir():
            raise MissingData(f"{folder} holds no expert: it has no folder {CHOICE!r}.")
        search = folder / SEARCH if (folder / SEARCH).is_dir() else INSTRUCTION
        policy = cls(choice=folder / CHOICE, search=search)
        policy._load()
        return policy

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the models into a new folder.

        Raises:
            InvalidSetting: there is something in it already.
        """
        with new_folder(Path(folder)) as workshop:
            shutil.copytree(self._choice_folder, workshop / CHOICE)
            if self._search_folder is not None:
                shutil.copytree(self._search_folder, workshop / SEARCH)

    def settings(self) -> dict[str, Any]:
        return {
            "choice": _digest(self._choice_folder),
            "search": INSTRUCTION if self._search_folder is None else _digest(self._search_folder),
            "image": self.image,
            "query": self.query,
            "draw": self.draw,
        }

    @property
    def _choice_folder(self) -> Path:
        if self.choice is not None:
            return Path(self.choice)
        return SHIPPED / (CHOICE_TEXT if self.image is False else CHOICE)

    @property
    def _search_folder(self) -> Path | None:
        if self.search == INSTRUCTION:
            return None
        return SHIPPED / SEARCH if self.search is None else Path(self.search)

    def _load(self) -> tuple[ChoiceScorer, SearchModel | None]:
        require("torch", _EXTRA)
        require("transformers", _EXTRA)
        scorer = _scorer(self._choice_folder)
        if self.image is not None and self.image != scorer.config.image:
            can = "looks at pictures" if scorer.config.image else "does not look at pictures"
            raise InvalidSetting(f"image={self.image}, but the choice model in {self._choice_folder} {can}.")
        return scorer, None if self._search_folder is None else _searcher(self._search_folder)

    # -- the policy --------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._random = np.random.default_rng(None if seed is None else derive_seed(seed, "il"))
        self._pages: list[str] = []
        self._actions: list[str] = []
        self._taken: set[tuple[str, str]] = set()
        """Pages and actions of this episode."""

    def act(self, observation: str, info: Info) -> Decision:
        action = self._chosen(observation, info)
        if action is not None:
            self._remember(observation, info, action)
        return Decision(action)

    def note(self, observation: str, info: Info, action: str) -> None:
        self._remember(observation, info, action)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """The `k` best queries, in the order of the beam, or the `k` most probable actions."""
        if _is_search(info):
            return [Opinion(search_action(query), _share(share), self.name) for query, share in self._queries(info, k)]
        actions, shares = self._shares(observation, info)
        best = np.argsort(-shares, kind="stable")[:k]
        return [Opinion(actions[at], _share(float(shares[at])), self.name) for at in best]

    def _chosen(self, observation: str, info: Info) -> str | None:
        if _is_search(info):
            queries = self._queries(info, TOP_K)
            shares = np.array([share for _, share in queries])
            return search_action(queries[self._pick(shares, self.query, uniform=self.query == "top_k")][0])
        actions, shares = self._shares(observation, info)
        if not actions:
            return None
        if self.draw == "best":
            page = _page(observation, info)
            fresh = np.array([(page, action) not in self._taken for action in actions])
            shares = np.where(fresh, shares, shares * 1e-9)  # where all are taken, the best again
        return actions[self._pick(shares, self.draw)]

    def _pick(self, shares: npt.NDArray[np.float64], draw: Draw, uniform: bool = False) -> int:
        if draw == "best":
            return int(np.argmax(shares))
        among = np.argsort(-shares, kind="stable")[: TOP_K if draw == "top_k" else None]
        weights = np.ones(len(among)) if uniform else shares[among]
        return int(self._random.choice(among, p=weights / weights.sum()))

    def _queries(self, info: Info, k: int) -> list[tuple[str, float]]:
        _, searcher = self._load()
        goal = info.get("goal", "")
        return [(goal, 1.0)][:k] if searcher is None else searcher.queries(goal, max(k, TOP_K))[:k]

    def _shares(self, observation: str, info: Info) -> tuple[list[str], npt.NDArray[np.float64]]:
        """The admissible actions and the probability of each."""
        actions = list(info.get("admissible_actions") or [])
        if not actions:
            return [], np.zeros(0)
        scorer, _ = self._load()
        config = scorer.config
        page = _page(observation, info)
        past = last(self._pages, config.observations), last(self._actions, config.actions)
        image = cast("dict[str, Any]", info).get("image_features") if config.image else None
        logarithms = scorer.scores(with_history(*past, page), _titled(info, actions), image)
        return actions, np.exp(np.asarray(logarithms, np.float64))

    def _remember(self, observation: str, info: Info, action: str) -> None:
        page = _page(observation, info)
        self._taken.add((page, action))
        self._pages.append(page)
        self._actions.append(_titled(info, [action])[0])


def _is_search(info: Info) -> bool:
    page = ShopPage.read(info)
    return page is not None and page.screen == "search"


def _page(observation: str, info: Info) -> str:
    return info.get("page", observation)


def _titled(info: Info, actions: Sequence[str]) -> list[str]:
    """The actions with results named by their titles, as in the demonstrations."""
    page = ShopPage.read(info)
    if page is None or not page.results:
        return list(actions)
    names = item_names([(result.asin, result.title) for result in page.results])
    titles = {plain: f"click[{name}]" for name, plain in names.items()}
    return [titles.get(action, action) for action in actions]


def _share(probability: float) -> float:
    """A probability whose last digit may have been rounded above 1."""
    return min(max(probability, 0.0), 1.0)


def _digest(folder: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of what a folder holds."""
    missing: Sequence[str] = [name for name in (CONFIG, TOKENIZER, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise MissingData(f"{folder} is no trained model: it has no {missing[0]}. Give a folder that training made.")
    sha = hashlib.sha256()
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        sha.update((folder / name).read_bytes())
    return sha.hexdigest()[:16]


@lru_cache(maxsize=4)
def _scorer(folder: Path) -> ChoiceScorer:
    from llm_gym.policies.imitation.choice_scorer import ChoiceScorer

    return ChoiceScorer.from_pretrained(folder)


@lru_cache(maxsize=4)
def _searcher(folder: Path) -> SearchModel:
    from llm_gym.policies.imitation.search_model import SearchModel

    return SearchModel.from_pretrained(folder)
