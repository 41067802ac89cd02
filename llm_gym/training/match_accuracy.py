"""How often a matching expert judges as those did who were worth imitating, by kind of decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llm_gym.demonstrations import Demonstration
from llm_gym.policies.matching.judge import Judge
from llm_gym.policies.matching.memory import NEXT, Memory
from llm_gym.policies.matching.model import MatchModel
from llm_gym.policies.matching.page import read_page
from llm_gym.policies.shopper import BUY, PREVIOUS, ShopPage

KINDS = ("pick item", "option", "buy", "back", "next page")
_YES = 0.5

Verdict = tuple[str, bool]
"""Kind of decision, and whether the model judges alike."""


def accuracies(model: MatchModel, demonstrations: Iterable[Demonstration]) -> dict[str, float]:
    """Of each kind of decision that there was, in [0, 1].

    Right is: to find the product that was bought in the end the best of the page it was opened on; of an option the
    value that was chosen, or none; the product that was bought the best of those opened; one that was gone back from,
    and a page that was turned, not likely.
    """
    verdicts: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for demonstration in demonstrations:
        for kind, right in _verdicts(model, demonstration):
            verdicts[kind].append(right)
    return {kind: sum(rights) / len(rights) for kind, rights in verdicts.items() if rights}


def _verdicts(model: MatchModel, demonstration: Demonstration) -> Iterator[Verdict]:
    bought = _bought(demonstration)
    memory, judge, clicked = Memory(), Judge(model, demonstration.goal), ""
    for step in demonstration.steps:
        page = read_page(step.observation, step.actions, demonstration.goal, clicked)
        memory.see(page, step.observation)
        if bought is not None and page.screen in ("results", "item"):
            yield from _verdicts_on(page, step.action, bought, memory, judge)
        clicked = step.action
        memory.follow(page, clicked)


def _bought(demonstration: Demonstration) -> str | None:
    """Id of the product that was bought in the end."""
    memory, clicked = Memory(), ""
    for step in demonstration.steps:
        page = read_page(step.observation, step.actions, demonstration.goal, clicked)
        memory.see(page, step.observation)
        clicked = step.action
        if clicked == BUY:
            return memory.open
        memory.follow(page, clicked)
    return None


def _verdicts_on(page: ShopPage, action: str, bought: str, memory: Memory, judge: Judge) -> Iterator[Verdict]:
    confidences = judge.confidences(memory)
    if page.screen == "results":
        shown = [one.asin for one in page.results]
        if bought in shown and page.click_result(shown.index(bought)) == action:
            yield "pick item", confidences[bought] == max(confidences[asin] for asin in shown)
        elif action == NEXT:
            yield "next page", all(confidences[asin] < _YES for asin in shown)
    elif action == BUY:
        opened = [asin for asin, one in memory.products.items() if one.opened]
        yield "buy", confidences[bought] == max(confidences[asin] for asin in opened)
        for fit in judge.fits(bought, memory.products[bought]) or ():
            yield "option", page.chosen.get(fit.name) == (fit.value if fit.confidence >= _YES else None)
    elif action == PREVIOUS and memory.open is not None and memory.open != bought:
        yield "back", confidences[memory.open] < _YES
