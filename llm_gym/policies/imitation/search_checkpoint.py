"""Reading and writing a search model: any sequence-to-sequence model of transformers, with its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from llm_gym.errors import BadRecord, InvalidSetting, MissingData
from llm_gym.extras import require
from llm_gym.policies.imitation.checkpoint import (
    CONFIG,
    Array,
    Checkpoint,
    Precision,
    fill,
    read_checkpoint,
    write_checkpoint,
)

KIND = "webshop-search"
_EXTRA = "torch"
_MODEL, _GENERATION, _SPECIAL, _SETTINGS = "model", "generation", "special_tokens", "settings"
_GENERATED = (
    *("bos_token_id", "decoder_start_token_id", "eos_token_id", "forced_bos_token_id", "forced_eos_token_id"),
    *("length_penalty", "no_repeat_ngram_size", "pad_token_id"),
)
"""What a model's own generation settings say that its queries depend on; all are numbers."""


@dataclass(frozen=True)
class SearchSettings:
    """How much is read and written.

    Raises:
        InvalidSetting: a number is not positive.
    """

    goal_tokens: int = 256
    """Of an instruction; what is beyond is not read. The paper's number."""
    query_tokens: int = 64
    """Of a query; the longest of a person has 60."""
    beams: int = 5
    """Width of the beam search, at least."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidSetting(f"{name} of a search model must be a positive number, got {value!r}.")


class Loaded(NamedTuple):
    """What `read` gives."""

    model: Any
    tokenizer: Any
    settings: SearchSettings


def read(source: str | Path) -> Loaded:
    """See `SearchModel.from_pretrained`."""
    require("torch", _EXTRA)
    folder = Path(source)
    if not folder.is_dir() and (isinstance(source, Path) or folder.is_absolute() or source.startswith(".")):
        raise MissingData(f"{source} is not a folder. Give one that training made, or a name on the hub.")
    return _read_own(folder) if is_own(folder) else _read_foreign(source)


def write(folder: Path, model: Any, tokenizer: Any, settings: SearchSettings, precision: Precision) -> None:
    """See `SearchModel.save`; tied weights are stored once."""
    aliases = _aliases(model)
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items() if aliases[name] == name}
    config = {
        _MODEL: _portable(json.loads(model.config.to_json_string(use_diff=False))),
        _GENERATION: generation_of(model),
        _SPECIAL: {name: str(token) for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)},
        _SETTINGS: asdict(settings),
    }
    checkpoint = Checkpoint(KIND, config, weights, tokenizer.backend_tokenizer.to_str())
    write_checkpoint(folder, checkpoint, precision)


def generation_of(model: Any) -> dict[str, Any]:
    """Those of the model's generation settings that are kept and heeded; a start and an end are always among them."""
    given, config = model.generation_config, model.config
    found = {name: getattr(given, name, None) for name in _GENERATED}
    for name in ("decoder_start_token_id", "eos_token_id", "pad_token_id"):
        if found[name] is None:
            found[name] = getattr(config, name, None)
    return {name: value for name, value in found.items() if value is not None}


def _portable(value: Any) -> Any:
    """A configuration without the folders that its parts were loaded from."""
    if not isinstance(value, dict):
        return value
    return {key: _portable(part) for key, part in value.items() if key != "_name_or_path"}


def is_own(source: str | Path) -> bool:
    """Whether it is a folder whose configuration is not one of transformers, so that it should be ours."""
    folder = Path(source)
    if not folder.is_dir():
        return False
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True  # the reader of ours says what is wrong
    return not isinstance(config, dict) or "model_type" not in config


def _read_own(folder: Path) -> Loaded:
    checkpoint = read_checkpoint(folder, KIND)
    config = checkpoint.config
    model = _made(_part(config, _MODEL, folder), folder)
    generation = _part(config, _GENERATION, folder)
    for name, value in generation.items():
        if name not in _GENERATED or isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRecord(f"{folder / CONFIG}: {name} of {_GENERATION} is {value!r:.80}, which means nothing here.")
        setattr(model.generation_config, name, value)
    try:
        settings = SearchSettings(**_part(config, _SETTINGS, folder))
    except (TypeError, InvalidSetting) as error:
        raise BadRecord(f"{folder / CONFIG}: {error}") from error
    fill(model, _with_aliases(model, checkpoint), folder)
    return Loaded(model, _tokenizer(checkpoint, folder), settings)


def _made(config: Mapping[str, Any], folder: Path) -> Any:
    """An untrained model of a configuration of transformers; nothing of the folder is executed."""
    transformers = require("transformers", _EXTRA)
    values = {key: value for key, value in config.items() if key not in ("model_type", "auto_map")}
    try:
        made = transformers.AutoConfig.for_model(config.get("model_type"), **values)
        return transformers.AutoModelForSeq2SeqLM.from_config(made, trust_remote_code=False)
    except Exception as error:  # transformers checks a configuration with errors of many classes
        told = " ".join(str(error).split())[:200]
        raise BadRecord(f"{folder / CONFIG} describes no sequence-to-sequence model: {told}") from error


def _tokenizer(checkpoint: Checkpoint, folder: Path) -> Any:
    transformers, tokenizers = require("transformers", _EXTRA), require("tokenizers", _EXTRA)
    special = _part(checkpoint.config, _SPECIAL, folder)
    if not all(name.endswith("_token") and isinstance(token, str) for name, token in special.items()):
        raise BadRecord(f"{folder / CONFIG}: {_SPECIAL} should name tokens, e.g. pad_token.")
    try:
        backend = tokenizers.Tokenizer.from_str(checkpoint.tokenizer)
    except Exception as error:  # the library raises nothing narrower
        raise BadRecord(f"{folder}: its tokenizer cannot be read: {error}") from error
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def _read_foreign(source: str | Path) -> Loaded:
    transformers = require("transformers", _EXTRA)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
            source, use_safetensors=True, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split())[:300]
        raise MissingData(f"{source} is no sequence-to-sequence model that transformers can load: {told}") from error
    return Loaded(model, tokenizer, SearchSettings())


def _part(config: Mapping[str, Any], name: str, folder: Path) -> dict[str, Any]:
    value = config.get(name)
    if not isinstance(value, dict):
        raise BadRecord(f'{folder / CONFIG}: "{name}" should be an object, is {type(value).__name__}.')
    return value


def _aliases(model: Any) -> dict[str, str]:
    """Each name of a model's weights → the first name of the same, for tied weights have several."""
    first: dict[tuple[int, tuple[int, ...]], str] = {}
    return {
        name: first.setdefault((value.data_ptr(), tuple(value.shape)), name)
        for name, value in model.state_dict().items()
    }


def _with_aliases(model: Any, checkpoint: Checkpoint) -> Checkpoint:
    stored: Mapping[str, Array] = checkpoint.weights
    shared = {name: stored[kept] for name, kept in _aliases(model).items() if kept in stored and name not in stored}
    return Checkpoint(checkpoint.kind, checkpoint.config, {**stored, **shared}, checkpoint.tokenizer)
