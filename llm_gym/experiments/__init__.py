"""The tables of Additional Opinions (Yang, Yue and He 2023, arXiv:2306.02224), each as one declared grid."""

from __future__ import annotations

from collections.abc import Mapping

from llm_gym.experiments.declaration import Experiment
from llm_gym.experiments.opinions_alfworld import OPINIONS_ALFWORLD
from llm_gym.experiments.opinions_webshop import OPINIONS_WEBSHOP

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment for experiment in (OPINIONS_WEBSHOP, OPINIONS_ALFWORLD)
}
