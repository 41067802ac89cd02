"""Which network a checkpoint holds, and the network itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.extras import require
from llm_gym.policies.reinforcement.network import BERT, RNN, ActorCritic

CONFIG = "config.json"
_LARGEST_CONFIG = 1_000_000


def load_network(folder: Path) -> ActorCritic:
    """The network of a folder that `ActorCritic.save` wrote.

    Raises:
        MissingData: the folder or a file in it is not there.
        BadRecord: a file is truncated or malformed.
        DataMismatch: the folder holds another kind of model, or its files do not belong together.
        MissingDependency: the extra `torch` is not installed.
    """
    require("torch", "torch")
    kind = kind_of(folder)
    if kind not in _LOADERS:
        raise DataMismatch(f"{folder} holds a model of kind {kind!r}, no actor-critic: {', '.join(_LOADERS)}.")
    return _LOADERS[kind](folder)


def kind_of(folder: Path) -> str:
    """What the folder says it holds.

    Raises:
        MissingData: there is no model.
        BadRecord: its configuration is none.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise MissingData(f"{folder} is no trained model: it has no {CONFIG}. Give a folder that training made.")
    try:
        config = json.loads(path.read_text(encoding="utf-8")) if path.stat().st_size <= _LARGEST_CONFIG else None
    except ValueError as error:
        raise BadRecord(f"{path} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise BadRecord(f"{path} is no configuration of a model.")
    return str(config.get("kind"))


def _bert(folder: Path) -> ActorCritic:
    require("transformers", "torch")
    from llm_gym.policies.reinforcement.bert import BertActorCritic

    return BertActorCritic.from_pretrained(folder)


def _rnn(folder: Path) -> ActorCritic:
    from llm_gym.policies.reinforcement.rnn import RecurrentActorCritic

    return RecurrentActorCritic.from_pretrained(folder)


_LOADERS: Mapping[str, Callable[[Path], ActorCritic]] = {BERT: _bert, RNN: _rnn}
