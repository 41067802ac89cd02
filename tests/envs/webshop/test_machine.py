"""The pages as a state machine: any shopper, any actions, in both versions, over products that are hard to shop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from llm_gym.envs.webshop.env import WebShop, WebShopV0

LEADS_TO = {
    "search": {"results"},
    "results": {"results", "item", "search"},
    "item": {"item", "description", "features", "reviews", "attributes", "results", "search", "done"},
    "description": {"item", "search"},
    "features": {"item", "search"},
    "reviews": {"item", "search"},
    "attributes": {"item", "search"},
    "done": set(),
}
"""The edges of the pages (BEHAVIOUR.md, A4), but for v0's searches from anywhere and its queries that name a page."""
QUERIES = ["<q> shoes", "shoe", "plain", "the", "靴", "<r>", "<a> machine wash", "<c> fashion", "x] shoe"]
STRANGE = st.sampled_from(
    ["", "buy", "click[]", "click[nothing]", "click[search]", "click[BUY NOW] or not", "\n", "click[[]", "search", "]["]
) | st.text(max_size=12)


class Shopping(RuleBasedStateMachine):
    """One shopper; a second environment that reads `text` follows every step."""

    world: type[WebShop]
    store: Path
    show_attrs: bool

    @initialize(number=st.integers(0, 3), seed=st.integers(0, 9))
    def enter(self, number: int, seed: int) -> None:
        common: dict[str, Any] = {"goals": "human", "show_attrs": self.show_attrs}
        self.rich = self.world(self.store, observation_mode="text_rich", **common)
        self.plain = self.world(self.store, observation_mode="text", **common)
        self.task = self.rich.panel[number]
        self.page, self.info = self.rich.reset(seed=seed, options={"task": self.task})
        self.text, _ = self.plain.reset(options={"task": self.task})
        self.reward, self.ended = 0.0, False

    def act(self, action: str) -> dict[str, Any]:
        """Do it in both worlds; returns what was known before."""
        before = self.info
        self.page, self.reward, self.ended, cut, self.info = self.rich.step(action)
        self.text, reward, ended, _, info = self.plain.step(action)
        assert not cut
        assert (reward, ended, info["screen"]) == (self.reward, self.ended, self.info["screen"])
        return before

    @rule(query=st.sampled_from(QUERIES))
    def search(self, query: str) -> None:
        before = self.act(f"search[{query}]")
        if before["screen"] == "search":
            assert "invalid_action" not in self.info
            assert self.info["screen"] == "results"

    @rule(choice=st.integers(0, 1000))
    def do_something_admissible(self, choice: int) -> None:
        actions = self.info["admissible_actions"]
        if not actions or self.info["screen"] == "done":
            return
        before = self.act(actions[choice % len(actions)])
        assert "invalid_action" not in self.info
        assert self.info["screen"] in LEADS_TO[before["screen"]]
        self.check_counters(before)

    def check_counters(self, before: dict[str, Any]) -> None:
        """They grow by at most one a step, and begin again on the search page."""
        if self.info["screen"] == "search":
            assert sum(self.info["counters"]) == 0
            return
        grown = [after - was for was, after in zip(before["counters"], self.info["counters"], strict=True)]
        assert min(grown) == 0
        assert sum(grown) <= 1

    @rule(action=STRANGE)
    def do_something_strange(self, action: str) -> None:
        page, before, ended = self.page, self.info, self.ended
        self.act(action)
        if "invalid_action" not in self.info:
            return
        assert self.page == page
        assert self.reward == 0.0
        assert self.info["screen"] == before["screen"]
        assert self.info["admissible_actions"] == before["admissible_actions"]
        assert self.info["counters"] == before["counters"]
        assert self.ended == (ended and self.world is WebShop)

    @rule()
    def begin_again(self) -> None:
        self.page, self.info = self.rich.reset(options={"task": self.task})
        self.text, _ = self.plain.reset(options={"task": self.task})
        self.reward, self.ended = 0.0, False
        assert self.info["screen"] == "search"

    @invariant()
    def text_and_rich_text_hold_the_same_pieces(self) -> None:
        """Without marks and announcements; the pieces themselves may hold line breaks, so all white space is one."""
        rich = self.page[self.page.index("Instruction:") :] if self.info["screen"] == "item" else self.page
        for mark in ("[button]", "[button_]", "[clicked button]", "[clicked button_]"):
            rich = rich.replace(mark, "")
        assert rich.split() == self.text.replace(" [SEP] ", " ").replace("[SEP]", " ").split()

    @invariant()
    def reward_comes_with_the_purchase_alone(self) -> None:
        assert 0 <= self.reward <= 1
        assert self.reward == 0 or self.info["screen"] == "done"
        assert self.info["metrics"]["purchase"] == (self.info["screen"] == "done")
        assert self.info["task_id"] == self.task

    @invariant()
    def results_are_at_most_ten(self) -> None:
        assert len(self.info.get("results", ())) <= 10

    @invariant()
    def chosen_values_belong_to_their_options(self) -> None:
        for name, value in self.info.get("chosen", {}).items():
            assert value in self.info["options"][name]


@pytest.mark.parametrize("show_attrs", [False, True])
@pytest.mark.parametrize("world", [WebShopV0, WebShop])
def test_pages_keep_their_promises_whatever_a_shopper_does(
    world: type[WebShop], show_attrs: bool, nasty_world: Path
) -> None:
    machine = type("Machine", (Shopping,), {"world": world, "store": nasty_world, "show_attrs": show_attrs})
    run_state_machine_as_test(machine, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))
