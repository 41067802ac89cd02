"""Table 2 of Additional Opinions: agents in the house, alone and with an opinion."""

from __future__ import annotations

from collections.abc import Mapping

from llm_gym.experiments.declaration import Choices, Experiment, Grid, Opinions
from llm_gym.experiments.experts import FirstCharacterExpert, SilentAfterError
from llm_gym.policies.alfworld.expert import ALFWorldExpertPolicy
from llm_gym.policies.base import Policy

NAME = "opinions-alfworld"
TASKS, LOOPS, EXPERT_STEPS = 134, 35, 50

ACCIDENTS: Mapping[str, str] = {
    "original-world": "The house is ALFWorld-v0, with the wording of the papers.",
    "first-character": "From the second page on the expert sees the first character of the page, and believes that it "
    "is obeyed.",
    "silent-after-error": "After a reply without a command there are no opinions.",
    "asked-after-end": "After the goal is met the model is asked once more.",
}


def declare(choices: Choices) -> Grid:
    """The grid of the table."""
    accidents, expert = choices.accidents, choices.expert or ALFWorldExpertPolicy()
    return Grid(
        name=NAME,
        environment=f"llm_gym/ALFWorld-v{0 if 'original-world' in accidents else 1}",
        world=choices.world,
        tasks=choices.tasks or TASKS,
        expert=repr(expert),
        baselines={"expert": expert},
        baseline_steps=EXPERT_STEPS,
        agent=choices.agent,
        agent_settings=choices.agent_settings,
        agent_steps=LOOPS,
        opinions=(Opinions("1 opinion", _adviser(expert, accidents)),),
        models=choices.models,
        finished="completion_rate",
        asked_after_end="asked-after-end" in accidents,
    )


def _adviser(expert: Policy, accidents: frozenset[str]) -> Policy:
    if "first-character" in accidents:
        expert = FirstCharacterExpert(expert)
    return SilentAfterError(expert) if "silent-after-error" in accidents else expert


OPINIONS_ALFWORLD = Experiment(NAME, "llm_gym/ALFWorld-v1", ACCIDENTS, declare)
