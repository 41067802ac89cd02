"""An action is read from a line of text."""

from __future__ import annotations

import time
from typing import Any

import pytest

from llm_gym.errors import InvalidSetting
from llm_gym.llm import Request, ScriptedClient
from llm_gym.policies import ReActPolicy
from llm_gym.policies.agents.commands import MALFORMED

SHOP: Any = {"screen": "item", "goal": "a shoe"}
HOUSE: Any = {"task_type": "pick", "goal": "put a pen in shelf."}


def action_of(answer: str, info: Any = SHOP) -> str | None:
    action: str | None = ReActPolicy(ScriptedClient([answer]), reasks=0).act("A page.", info).action
    return action


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("Thought: Hm.\nAction: click[Buy Now]", "click[Buy Now]"),
        ("Action: click[size [wide]]", "click[size [wide]]"),
        ("**Thought:** Hm.\n**Action:** `search[red shoe]`", "search[red shoe]"),
        ("> action 3: Search[red shoe]\nObservation: none", "search[red shoe]"),
        ("Action: click[a]\nObservation 2: …\nAction: click[b]", "click[a]"),
        ("Action: finish", None),
        ("Action: Finish[Done.]", None),
        ("Action: finish.", None),
        ("Action: press[Buy Now]", MALFORMED),
        ("Action: Buy Now", MALFORMED),
        ("Action:", MALFORMED),
        ("click[Buy Now]", MALFORMED),
        ("", MALFORMED),
    ],
)
def test_the_action_is_that_of_the_first_such_line(answer: str, action: str | None) -> None:
    assert action_of(answer) == action


def test_in_a_house_the_line_is_the_command() -> None:
    assert action_of("Thought: Hm.\nAction: go to desk 1", HOUSE) == "go to desk 1"


@pytest.mark.parametrize("filling", ["*", "Action", "\n", " ", "Action: ", "a"])
def test_a_megabyte_is_read_in_no_time(filling: str) -> None:
    begin = time.process_time()
    action_of(filling * (1_000_000 // len(filling)))
    assert time.process_time() - begin < 5


def test_the_model_is_stopped_before_it_invents_an_observation() -> None:
    asked: list[Request] = []
    ReActPolicy(ScriptedClient(lambda request: asked.append(request) or "Action: finish")).act("A page.", SHOP)  # type: ignore[func-returns-value]
    assert asked[0].stop == ("\nObservation",)


def test_user_and_assistant_speak_in_turn() -> None:
    agent = ReActPolicy(ScriptedClient(lambda request: "Action: click[a]"))
    for _ in range(9):
        agent.act("A page.", SHOP)
    roles = [one.role for one in agent.exchanges[-1].request.messages]
    assert roles == ["system", *["user", "assistant"] * 5, "user"]


def test_a_schema_is_refused_since_answers_are_text() -> None:
    with pytest.raises(InvalidSetting, match="text"):
        ReActPolicy("scripted", schema=True)
