"""What a set of templates is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.rewording.roles import Flavour, Role

Form = Callable[[str], str]
"""Phrase → the phrase as a shopper says it; "" when it is left out."""


@dataclass(frozen=True)
class Templates:
    """Words around attributes, options and kinds of products; `{x}` stands for what is said of them."""

    openings: Sequence[tuple[str, float]]
    """Text before the article, and its weight."""
    articles: Sequence[str]
    """Before a noun in the plural, where one says anything at all."""
    leading: Mapping[Flavour, Sequence[str]]
    """An option before the noun, beside the bare value."""
    attributes: Mapping[Role, Sequence[str]]
    """An attribute after the noun."""
    options: Mapping[Flavour, Sequence[str]]
    """An option after the noun."""
    attribute_sentences: Mapping[Role, Sequence[str]]
    option_sentences: Mapping[Flavour, Sequence[str]]
    breaks: Sequence[str]
    """Between one sentence and the next."""
    attribute_forms: Sequence[tuple[Form, float]]
    """How an attribute is said, and the weight of each way."""
    say_ease: Form
    """How most people say an attribute such as `easy clean`."""
    option_forms: Sequence[tuple[Form, float]]
    say_type: Callable[[str, str, Dice], str]
    """Owner (`women's`, or nothing) and noun → what the product is called."""
    second_sentence: float
    """Share of attributes and options that have a sentence of their own."""

    def phrases(self) -> Iterator[str]:
        """Every text of the set."""
        yield from (text for text, _ in self.openings)
        yield from self.articles
        yield from self.breaks
        for table in (
            self.leading,
            self.attributes,
            self.options,
            self.attribute_sentences,
            self.option_sentences,
        ):
            for texts in table.values():
                yield from texts
