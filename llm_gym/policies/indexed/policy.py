"""What stable-baselines3 has trained, as a policy of text worlds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from llm_gym.core import Decision, Info, Opinion, derive_seed
from llm_gym.errors import MissingData, UnknownName
from llm_gym.extras import require
from llm_gym.policies.base import Policy
from llm_gym.policies.indexed.candidates import Candidate, candidates
from llm_gym.policies.indexed.features import features
from llm_gym.policies.indexed.past import Past
from llm_gym.policies.indexed.trained import Trained

if TYPE_CHECKING:
    from stable_baselines3.common.policies import ActorCriticPolicy

Draw = Literal["best", "sample"]
_EXTRA = "sb3"


class SB3Policy(Policy):
    """A network that stable-baselines3 trained on `IndexedActions`, on the world without that wrapper.

    It sees the same arrays as in training, and chooses among the actions that have a place; without any it stops.

    Args:
        trained: the folder that `save_pretrained` made, which is read at the first decision, or what it holds. None is
            a policy that cannot play yet: no network comes with the package.
        draw: "best": the most probable action; "sample": each in proportion to its probability.

    Raises:
        UnknownName: `draw` is neither.
    """

    name = "sb3"

    def __init__(self, trained: str | Path | Trained | None = None, draw: Draw = "best") -> None:
        if draw not in get_args(Draw):
            raise UnknownName("draw", draw, get_args(Draw))
        self.trained = trained
        self.draw = draw
        self._read: Trained | None = trained if isinstance(trained, Trained) else None
        self._network: ActorCriticPolicy | None = None
        self.reset()

    @classmethod
    def from_model(cls, model: Any, env: Any, draw: Draw = "best") -> Self:
        """The policy of a model in memory; what is learned afterwards does not change it.

        Args:
            model: A2C, PPO or MaskablePPO, with `CandidatePolicy`, `MaskableCandidatePolicy` or `MultiInputPolicy`.
            env: what it was trained on, in `IndexedActions`: one environment or SB3's vector of them.
            draw: see the class.

        Raises:
            InvalidSetting: a model, a network or an environment of another kind.
        """
        _require()
        from llm_gym.policies.indexed.building import trained_from

        return cls(trained_from(model, env), draw)

    @classmethod
    def from_pretrained(cls, folder: str | Path, draw: Draw = "best") -> Self:
        """The policy of a folder that `save_pretrained` made, which is read and checked at once.

        Raises:
            MissingData: there is none; or it is a file of SB3, which holds pickles and is not read.
            BadRecord: a file of it is truncated or malformed.
            DataMismatch: it holds another kind of model, or one of another version.
        """
        policy = cls(folder, draw)
        policy._loaded()
        return policy

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the network into a new folder, for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        self._content().write(Path(folder))

    def settings(self) -> dict[str, Any]:
        content = self._content()
        return {"weights": content.digest, "algorithm": content.algorithm, "draw": self.draw}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_network": None}

    # -- the policy --------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._random = np.random.default_rng(None if seed is None else derive_seed(seed, "sb3"))
        self._past = Past()

    def act(self, observation: str, info: Info) -> Decision:
        shown, shares = self._shares(observation, info)
        if not shown:
            return Decision(None)
        at = int(np.argmax(shares)) if self.draw == "best" else int(self._random.choice(len(shown), p=shares))
        self._past.remember(observation, shown[at])
        return Decision(shown[at].action)

    def note(self, observation: str, info: Info, action: str) -> None:
        shown = {one.action: one for one in candidates(info)} if info.get("admissible_actions") else {}
        self._past.remember(observation, shown.get(action, Candidate(action, action)))

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """The `k` most probable actions with their probabilities."""
        shown, shares = self._shares(observation, info)
        best = np.argsort(-shares, kind="stable")[:k]
        return [Opinion(shown[at].action, min(1.0, float(shares[at])), self.name) for at in best]

    def _shares(self, observation: str, info: Info) -> tuple[tuple[Candidate, ...], np.ndarray[Any, Any]]:
        """The actions that have a place, and the probability of each."""
        listed = candidates(info) if info.get("admissible_actions") else ()
        if not listed:
            return (), np.zeros(0)
        network = self._loaded()
        settings = self._content().indexed
        shown = listed[: settings.k]
        from llm_gym.policies.indexed.building import probabilities

        shares = probabilities(network, features(settings, observation, info, shown, self._past))
        return shown, shares[: len(shown)]

    def _content(self) -> Trained:
        if self._read is None:
            if not isinstance(self.trained, str | Path):
                raise MissingData(
                    "SB3Policy has no network: give trained=, a folder of SB3Policy.save_pretrained, or use from_model."
                )
            self._read = Trained.read(Path(self.trained))
        return self._read

    def _loaded(self) -> ActorCriticPolicy:
        if self._network is None:
            content = self._content()
            _require()
            from llm_gym.policies.indexed.building import network_of

            self._network = network_of(content)
        return self._network


def _require() -> None:
    for module in ("torch", "stable_baselines3", "sb3_contrib"):
        require(module, _EXTRA)
