"""Policies of stable-baselines3 that score every candidate with the same weights.

SB3's own `MultiInputPolicy` has weights of its own for every place, so that it must learn what an action means anew for
each place where it can stand. Here one small network reads each candidate beside the state and gives it a score; the
places without an action are closed, also for algorithms that know no mask.

B: states, K: places, D: a candidate's numbers, H: width of the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

if TYPE_CHECKING:
    _Base = ActorCriticPolicy
else:
    _Base = object

_CLOSED = -1e8
"""The score of a place without an action; finite, or the entropy would be no number."""


class CandidateFeatures(BaseFeaturesExtractor):
    """A state as the scores of its candidates and what the value is read from; B × (K + 3H).

    Args:
        observation_space: that of `IndexedActions`.
        width: H.
    """

    def __init__(self, observation_space: spaces.Dict, width: int = 64) -> None:
        self.places = int(observation_space["action_mask"].n)  # type: ignore[attr-defined]
        super().__init__(observation_space, self.places + 3 * width)
        text, actions = (observation_space[key].shape for key in ("text", "actions"))
        assert text is not None
        assert actions is not None
        self.state = nn.Sequential(nn.Linear(text[0], width), nn.Tanh())
        self.candidate = nn.Linear(actions[0] // self.places, width)
        self.beside = nn.Linear(width, width, bias=False)
        self.mixed = nn.Linear(2 * width, width)
        self.score = nn.Linear(width, 1)

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        open_ = seen["action_mask"].unsqueeze(-1)  # (B, K, 1)
        state = self.state(seen["text"])  # (B, H)
        actions = seen["actions"].view(-1, self.places, self.candidate.in_features)  # (B, K, D)
        each = self.candidate(actions)  # (B, K, H)
        each = torch.relu(each + self.beside(state).unsqueeze(1)) * open_
        mean = each.sum(1) / open_.sum(1)  # (B, H)
        most = each.amax(1)  # (B, H)
        others = mean.unsqueeze(1).expand_as(each)
        scores = self.score(torch.relu(self.mixed(torch.cat([each, others], -1)))).squeeze(-1)  # (B, K)
        scores = scores.masked_fill(seen["action_mask"] == 0, _CLOSED)
        return torch.cat([scores, state, mean, most], -1)


class ScoresAndValue(nn.Module):
    """In the place of SB3's layers behind the features: the scores are the logits, the rest goes to the value.

    Args:
        places: K.
        features: numbers of `CandidateFeatures`, the K scores among them.
        width: H.
    """

    def __init__(self, places: int, features: int, width: int) -> None:
        super().__init__()
        self.latent_dim_pi, self.latent_dim_vf = places, width
        self.value = nn.Sequential(nn.Linear(features - places, width), nn.Tanh())

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Tensor) -> Tensor:
        return features[:, : self.latent_dim_pi]

    def forward_critic(self, features: Tensor) -> Tensor:
        value: Tensor = self.value(features[:, self.latent_dim_pi :])
        return value


class _Scored(_Base):
    """What both policies below have in common; stands before a policy of SB3."""

    def __init__(self, *args: Any, width: int = 64, **kwargs: Any) -> None:
        self.width = width
        kwargs |= {"features_extractor_class": CandidateFeatures, "features_extractor_kwargs": {"width": width}}
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor: Any = ScoresAndValue(self._read.places, self._read.features_dim, self.width)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = nn.Identity()  # the scores are the logits; SB3's layer would mix the places
        nn.init.orthogonal_(self._read.score.weight, gain=0.01)  # as SB3 begins: all actions about equally likely
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    @property
    def _read(self) -> CandidateFeatures:
        extractor = self.features_extractor
        assert isinstance(extractor, CandidateFeatures)
        return extractor

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "width": self.width}


class CandidatePolicy(_Scored, ActorCriticPolicy):
    """For A2C and PPO: `A2C(CandidatePolicy, env, policy_kwargs={"width": 64})`; width is H."""


class MaskableCandidatePolicy(_Scored, MaskableActorCriticPolicy):  # type: ignore[misc] # see _Base
    """For MaskablePPO, used alike."""
