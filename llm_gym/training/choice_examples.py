"""What a choice model learns from demonstrations: one example a click."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from llm_gym.demonstrations import Demonstration, DemonstrationStep
from llm_gym.envs.history import last, with_history
from llm_gym.envs.webshop.image_features import FeatureStore
from llm_gym.envs.webshop.item_names import item_names
from llm_gym.policies.imitation.choice_batch import ChoiceExample, reduced
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.text import process
from llm_gym.policies.matching.page import read_page

_SEARCH = "search["
_ITEM = "click[item - "
_KINDS = {
    "click[back to search]": "back",
    "click[next >]": "next",
    "click[< prev]": "previous",
    "click[buy now]": "buy",
    "click[description]": "sub page",
    "click[features]": "sub page",
    "click[reviews]": "sub page",
    "click[attributes]": "sub page",
}


def choice_examples(
    demonstrations: Iterable[Demonstration], settings: ChoiceConfig, features: FeatureStore | None, seed: int
) -> Iterator[ChoiceExample]:
    """The clicks of demonstrations, as `ILPolicy` will see the same pages.

    Searches are left out: another model makes them. Of more than twenty actions some are left out.

    Args:
        demonstrations: in any number.
        settings: of the model: how much history stands before a page, whether it looks at pictures.
        features: of the pictures that the demonstrations name; None: no picture is known.
        seed: of the actions that are left out.
    """
    rng = np.random.default_rng(seed)
    for demonstration in demonstrations:
        pages: list[str] = []
        actions: list[str] = []
        for step in demonstration.steps:
            titled = _titled(step, demonstration.goal)
            if not step.action.startswith(_SEARCH):
                past = last(pages, settings.observations), last(actions, settings.actions)
                left, label = reduced(titled, step.chosen, rng)
                state = with_history(*past, step.observation)
                yield ChoiceExample(state, left, label, _image(step, features if settings.image else None))
            pages.append(step.observation)
            actions.append(titled[step.chosen])


def kind_of(action: str) -> str:
    """What a click does, for measures: "item", "option", "buy", "back", "sub page", "next" or "previous".

    >>> kind_of("click[Buy Now]"), kind_of("click[red]")
    ('buy', 'option')
    """
    plain = process(action)
    return "item" if plain.startswith(_ITEM) else _KINDS.get(plain, "option")


def accuracies(examples: Sequence[ChoiceExample], logits: npt.NDArray[np.float32]) -> Iterator[Mapping[str, float]]:
    """Whether the best action is the chosen one, over all and by the kind of the chosen one."""
    for example, row in zip(examples, logits, strict=True):
        hit = float(row[: len(example.actions)].argmax() == example.label)
        yield {"accuracy": hit, kind_of(example.actions[example.label]): hit}


def _titled(step: DemonstrationStep, goal: str) -> tuple[str, ...]:
    """The actions with results named by their titles; those of other pages as they are."""
    results = read_page(step.observation, step.actions, goal).results
    names = {plain: f"click[{name}]" for name, plain in item_names([(it.asin, it.title) for it in results]).items()}
    return tuple(names.get(action, action) for action in step.actions)


def _image(step: DemonstrationStep, features: FeatureStore | None) -> npt.NDArray[np.float32] | None:
    return features.find(step.image) if features is not None and step.image is not None else None
