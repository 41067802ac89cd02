"""An actor-critic network as a policy."""

from __future__ import annotations

import hashlib
import shutil
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from llm_gym.core import Decision, Info, Opinion, derive_seed
from llm_gym.data import new_folder
from llm_gym.errors import DataMismatch, InvalidSetting, UnknownName
from llm_gym.extras import require
from llm_gym.policies.base import Policy
from llm_gym.policies.imitation import il
from llm_gym.policies.reinforcement.candidates import Candidates, Queries, candidates, instruction_only
from llm_gym.policies.reinforcement.loading import kind_of, load_network
from llm_gym.policies.reinforcement.network import BERT, ActorCritic

if TYPE_CHECKING:
    from llm_gym.policies.imitation.search_model import SearchModel

Draw = Literal["best", "argmax", "sample"]

INSTRUCTION = "instruction"
QUERIES = 5
"""So many queries of the search model are candidates, beside the instruction."""
SHIPPED = Path(__file__).parent.parent / "weights"
_EXTRA = "torch"
_TAKEN = 1e-9
"""What is left of the probability of an action that was taken on the same page."""


class A2CPolicy(Policy):
    """A network that learned by acting: on the search page it chooses among queries, elsewhere among the actions.

    It reads the page without what wrappers added, and the results by their titles. Outside a shop it chooses among the
    admissible actions as well, without having learned what they mean, unless its network was trained there.

    Args:
        folder: of a network, as `train/webshop_a2c.py` writes it; None: the shipped one.
        search: folder of a search model, whose best queries are the candidates; "instruction": the instruction is the
            only one; None: the shipped one.
        draw: which action. "best": the most probable that was not yet taken on the same page; "argmax": the most
            probable, as in the paper, which may go round in circles; "sample": in proportion to its probability.

    Raises:
        UnknownName: `draw` is none of these.
    """

    name = "a2c"
    kind: ClassVar[str] = BERT
    """Of the checkpoints it reads."""
    shipped: ClassVar[Path] = SHIPPED / "webshop_a2c"

    def __init__(self, folder: str | Path | None = None, search: str | Path | None = None, draw: Draw = "best") -> None:
        if draw not in get_args(Draw):
            raise UnknownName("draw", draw, get_args(Draw))
        self.folder, self.search, self.draw = folder, search, draw
        self._network: ActorCritic | None = None
        self._queries: Queries | None = None
        self.reset()

    # -- trained networks --------------------------------------------------------------------------------------

    @classmethod
    def pretrained(cls) -> Self:
        """With the shipped network, trained on the embedded catalogue."""
        return cls.from_pretrained(cls.shipped)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """With the network of a folder that `save_pretrained` or training made; read and checked at once.

        Raises:
            MissingData, BadRecord, DataMismatch: the folder holds no such network, or a broken one.
        """
        policy = cls(folder)
        policy._loaded()
        return policy

    @classmethod
    def of(cls, network: ActorCritic, queries: Queries, draw: Draw = "best") -> Self:
        """With a network that is in memory, for training to look at; has no settings and cannot be sent elsewhere."""
        policy = cls(draw=draw)
        policy._network, policy._queries = network, queries
        return policy

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the network into a new folder.

        Raises:
            InvalidSetting: there is something in it already.
        """
        with new_folder(Path(folder)) as workshop:
            shutil.copytree(self._folder, workshop, dirs_exist_ok=True)

    def settings(self) -> dict[str, Any]:
        search = self._search_folder
        return {
            "weights": digest(self._folder),
            "search": INSTRUCTION if search is None else digest(search),
            "draw": self.draw,
        }

    def __getstate__(self) -> dict[str, Any]:
        """The network is read anew where the policy goes."""
        return self.__dict__ | {"_network": None, "_queries": None}

    @property
    def _folder(self) -> Path:
        return self.shipped if self.folder is None else Path(self.folder)

    @property
    def _search_folder(self) -> Path | None:
        if self.search == INSTRUCTION:
            return None
        return il.SHIPPED / il.SEARCH if self.search is None else Path(self.search)

    def _loaded(self) -> tuple[ActorCritic, Queries]:
        require("torch", _EXTRA)
        if self._network is None:
            found = kind_of(self._folder)
            if found != self.kind:
                raise DataMismatch(f"{self._folder} holds a network of kind {found!r}, not {self.kind!r}.")
            self._network = _network(self._folder)
        if self._queries is None:
            self._queries = queries_of(self._search_folder)
        return self._network, self._queries

    # -- the policy --------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._random = np.random.default_rng(None if seed is None else derive_seed(seed, self.name))
        self._taken: set[tuple[str, str]] = set()
        """Pages and actions of this episode."""

    def act(self, observation: str, info: Info) -> Decision:
        found, shares = self._judged(observation, info)
        if found is None:
            return Decision(None)
        page = found.situation.page
        if self.draw == "sample":
            place = int(self._random.choice(len(shares), p=shares / shares.sum()))
        elif self.draw == "best":
            fresh = np.array([(page, action) not in self._taken for action in found.actions])
            place = int(np.argmax(np.where(fresh, shares, shares * _TAKEN)))  # where all are taken, the best again
        else:
            place = int(np.argmax(shares))
        self._taken.add((page, found.actions[place]))
        return Decision(found.actions[place])

    def note(self, observation: str, info: Info, action: str) -> None:
        self._taken.add((info.get("page", observation), action))

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """The `k` most probable actions, each with its probability."""
        found, shares = self._judged(observation, info)
        if found is None:
            return []
        best = np.argsort(-shares, kind="stable")[:k]
        return [Opinion(found.actions[at], float(min(shares[at], 1.0)), self.name) for at in best]

    def _judged(self, observation: str, info: Info) -> tuple[Candidates | None, npt.NDArray[np.float64]]:
        """The candidates and the probability of each; (A,)."""
        network, queries = self._loaded()
        found = candidates(observation, info, queries)
        if found is None:
            return None, np.zeros(0)
        with require("torch", _EXTRA).no_grad():
            logarithms = network.judge([found.situation]).log_probabilities[0]
        return found, np.exp(logarithms.double().numpy())


def queries_of(search: Path | None, count: int = QUERIES) -> Queries:
    """The best queries of a search model's folder; without one, none but the instruction.

    Raises:
        InvalidSetting: `count` is below 1.
        MissingData, BadRecord, DataMismatch: the folder holds no search model, or a broken one.
    """
    if count < 1:
        raise InvalidSetting(f"There must be 1 query at least, got {count}; without a search model there is one.")
    if search is None:
        return instruction_only
    model = _searcher(search)
    return lambda goal: [query for query, _ in model.queries(goal, count)]


def digest(folder: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the files of a checkpoint; the kind is checked on the way.

    Raises:
        MissingData: there is none.
    """
    kind_of(folder)
    sha = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        sha.update(path.name.encode() + b"\n" + path.read_bytes())
    return sha.hexdigest()[:16]


@lru_cache(maxsize=4)
def _network(folder: Path) -> ActorCritic:
    network = load_network(folder)
    for weight in network.parameters():
        weight.requires_grad_(False)
    return network


@lru_cache(maxsize=4)
def _searcher(folder: Path) -> SearchModel:
    require("transformers", _EXTRA)
    from llm_gym.policies.imitation.search_model import SearchModel

    return SearchModel.from_pretrained(folder)
