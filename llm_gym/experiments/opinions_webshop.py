"""Table 1 of Additional Opinions: agents in the shop, alone and with opinions."""

from __future__ import annotations

from collections.abc import Mapping

from llm_gym.errors import InvalidSetting
from llm_gym.experiments.declaration import Choices, Experiment, Grid, Opinions
from llm_gym.experiments.experts import RandomClicks, SilentAfterError, TitledExpert
from llm_gym.policies.advice import Draw
from llm_gym.policies.base import Policy
from llm_gym.policies.lexical import LexicalPolicy
from llm_gym.policies.rule import RulePolicy

NAME = "opinions-webshop"
TASKS, LOOPS, EXPERT_STEPS = 50, 20, 100

ACCIDENTS: Mapping[str, str] = {
    "original-world": "The shop is WebShop-v0, the original with its defects.",
    "first-goals": "The tasks are the first human goals in the order of the file, which are no test split.",
    "asin-names": "The expert is shown the results by their ids, not by their titles.",
    "sampled-opinions": "Opinions are drawn with replacement, in proportion to confidence.",
    "random-clicks": "Random opinions are random on pages without a search only; there they are the expert's.",
    "silent-after-error": "After a reply without a command there are no opinions.",
    "asked-after-end": "After the purchase the model is asked once more.",
}


def declare(choices: Choices) -> Grid:
    """The grid of the table.

    Without another choice the expert looks at one result only. One that compares several is the better shopper, but of
    advice that is followed now and then little remains: whoever goes his own way buys the product just looked at.
    """
    accidents, expert = choices.accidents, choices.expert or LexicalPolicy(read=1)
    reader = expert if "asin-names" in accidents else TitledExpert(expert)
    world = dict(choices.world)
    if "first-goals" in accidents:
        if "catalogue" not in world:
            raise InvalidSetting(
                "The first human goals are those of the official catalogue: give it with --set catalogue=DIR. "
                "Without it, name the other accidents one by one, with --accident."
            )
        world = {"goals": "human", "split": "paper50", **world}
    return Grid(
        name=NAME,
        environment=f"llm_gym/WebShop-v{0 if 'original-world' in accidents else 1}",
        world=world,
        tasks=choices.tasks or TASKS,
        expert=repr(expert),
        baselines={"rule": RulePolicy(), "expert": reader},
        baseline_steps=EXPERT_STEPS,
        agent=choices.agent,
        agent_settings=choices.agent_settings,
        agent_steps=LOOPS,
        opinions=_opinions(reader, accidents),
        models=choices.models,
        finished="purchase_rate",
        asked_after_end="asked-after-end" in accidents,
    )


def _opinions(expert: Policy, accidents: frozenset[str]) -> tuple[Opinions, ...]:
    draw: Draw = "sample" if "sampled-opinions" in accidents else "argmax"
    clicks_only = "random-clicks" in accidents
    noise = _heard(RandomClicks(expert) if clicks_only else expert, accidents)
    return (
        Opinions("1 opinion", _heard(expert, accidents), 1, draw),
        Opinions("5 opinions", _heard(expert, accidents), 5, draw),
        Opinions("random opinion", noise, control=None if clicks_only else "random", is_control=True),
    )


def _heard(expert: Policy, accidents: frozenset[str]) -> Policy:
    return SilentAfterError(expert) if "silent-after-error" in accidents else expert


OPINIONS_WEBSHOP = Experiment(NAME, "llm_gym/WebShop-v1", ACCIDENTS, declare)
