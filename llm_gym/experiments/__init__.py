"""The tables of Additional Opinions (Yang, Yue and He 2023, arXiv:2306.02224), each as one declared grid."""

from __future__ import annotations

from collections.abc import Mapping

from llm_gym.experiments import opinions_alfworld, opinions_webshop
from llm_gym.experiments.declaration import Experiment

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment for experiment in (opinions_webshop.EXPERIMENT, opinions_alfworld.EXPERIMENT)
}
