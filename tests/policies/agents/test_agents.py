"""What all agents have in common, whatever their model answers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Usage
from llm_gym.errors import BudgetExceeded, ContextOverflow, InvalidSetting, UnusableAnswer
from llm_gym.llm import Budgeted, Completion, OpenAICompatible, Request, ScriptedClient, ToolCall, count_tokens
from llm_gym.policies import AutoGPTPolicy, OraclePolicy
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.agents.commands import MALFORMED
from llm_gym.policies.agents.exchange import LONGEST_REPLY
from llm_gym.rollout import play
from llm_gym.wrappers import OpinionWrapper

Kind = Any
HTML = "<!doctype html><html><body>502 Bad Gateway</body></html>"
MEGABYTE = "I think about it once more. " * 40_000


def corridor(**settings: Any) -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0", **settings)


def called(name: str, arguments: str) -> Completion:
    return Completion("Hm.", tool_calls=(ToolCall(name, arguments),))


def replied(command: str) -> str:
    return f'{{"thoughts": {{"text": "Hm."}}, "command": {command}}}'


BAD = {
    "autogpt": {
        "arguments of a wrong type": replied('{"name": "act", "args": {"action": 7}}'),
        "no arguments": replied('{"name": "act"}'),
        "a command of another world": replied('{"name": "click", "args": {"target": "Buy Now"}}'),
        "half of it": replied('{"name": "act"')[:30],
    },
    "react": {"no action": "Thought: I had better wait.\nAction:", "half of it": "Thought: I had better"},
    "tools": {
        "arguments of a wrong type": called("act", '{"action": ["open"]}'),
        "arguments that are no object": called("act", "open"),
        "no arguments": called("act", ""),
        "a command of another world": called("click", '{"target": "Buy Now"}'),
    },
}
ALL_BAD = {"nothing": "", "a web page": HTML, "a megabyte": MEGABYTE}


def bad_answers(kind: Kind) -> dict[str, Any]:
    return {**ALL_BAD, **BAD[kind.name]}


def test_a_good_answer_is_an_action(kind: Kind) -> None:
    episode = play(corridor(), kind.agent(kind.answer("act", action="open")), "corridor-3")
    assert [step.action for step in episode.steps] == ["open"]
    assert episode.ended_by == "task"
    assert "Hm." in episode.steps[0].rationale


def test_an_answer_without_a_command_is_asked_for_again(kind: Kind) -> None:
    for name, bad in bad_answers(kind).items():
        agent = kind.agent(bad, kind.answer("act", action="open"))
        episode = play(corridor(), agent, "corridor-3")
        assert [step.action for step in episode.steps] == ["open"], name
        first, again = agent.exchanges
        assert first.result.hint in again.request.messages[-1].content
        assert episode.invalid_actions == 0
        assert "[no command: " in episode.steps[0].rationale


def test_two_answers_without_a_command_lose_the_step_and_the_episode_goes_on(kind: Kind) -> None:
    for name, bad in bad_answers(kind).items():
        agent = kind.agent(bad, bad, kind.answer("act", action="open"))
        episode = play(corridor(), agent, "corridor-3")
        assert [step.action for step in episode.steps] == [MALFORMED, "open"], name
        assert episode.invalid_actions == 1
        assert agent.exchanges[1].result.hint in "".join(m.content for m in agent.exchanges[2].request.messages)


def test_a_step_s_usage_is_that_of_all_its_questions(kind: Kind) -> None:
    answers = [Completion("", Usage(100, 3, 0.5)), Completion("", Usage(20, 4, 0.25))]
    step = play(corridor(), kind.agent(*answers, kind.answer("finish")), "corridor-3").steps[0]
    assert step.usage == Usage(120, 7, 0.75)


def test_a_cost_that_is_unknown_once_is_unknown(kind: Kind) -> None:
    answers = [Completion("", Usage(100, 3, 0.5)), Completion("", Usage(20, 4, None))]
    step = play(corridor(), kind.agent(*answers, kind.answer("finish")), "corridor-3").steps[0]
    assert step.usage == Usage(120, 7, None)


def test_finish_ends_the_episode_by_the_agent(kind: Kind) -> None:
    episode = play(corridor(), kind.agent(kind.answer("finish")), "corridor-3")
    assert [step.action for step in episode.steps] == [None]
    assert episode.ended_by == "agent"


def test_an_agent_that_never_finishes_stops_at_its_limit(kind: Kind) -> None:
    asked: list[Request] = []

    def never(request: Request) -> str:
        asked.append(request)
        return "I wonder."

    episode = play(corridor(), kind.agent(never, step_limit=4), "corridor-3")
    assert [step.action for step in episode.steps] == [MALFORMED] * 4 + [None]
    assert episode.ended_by == "limit"
    assert "limit of 4 steps" in episode.steps[-1].rationale
    assert len(asked) == 8


def test_an_agent_that_never_finishes_stops_at_the_world_s_limit(kind: Kind) -> None:
    agent = kind.agent(lambda request: kind.answer("act", action="left"))
    assert play(corridor(max_episode_steps=6), agent, "corridor-3").ended_by == "limit"


def test_an_action_that_the_world_refuses_is_told_to_the_model(kind: Kind) -> None:
    agent = kind.agent(kind.answer("act", action="fly"), kind.answer("finish"))
    episode = play(corridor(), agent, "corridor-3")
    assert episode.invalid_actions == 1
    assert "You cannot 'fly' here" in "".join(one.content for one in agent.exchanges[1].request.messages)


def test_a_conversation_that_is_too_long_is_shortened_and_asked_again(kind: Kind) -> None:
    def first_tokens(request: Request) -> Any:
        nonlocal longest
        longest = longest or count_tokens(request.messages, "scripted") + 120
        if count_tokens(request.messages, "scripted") > longest:
            return ContextOverflow("The conversation is too long.")
        return kind.answer("act", action="left")

    longest = 0
    agent = kind.agent(first_tokens, step_limit=9)
    episode = play(corridor(), agent, "corridor-3")
    assert len(episode.steps) == 10
    assert all(count_tokens(one.request.messages, "scripted") <= longest for one in agent.exchanges)
    assert any("history" in one.dropped for one in agent.exchanges)
    assert "of history" in "".join(step.rationale for step in episode.steps)


def test_a_conversation_that_cannot_be_shortened_further_is_an_error(kind: Kind) -> None:
    with pytest.raises(ContextOverflow):
        play(corridor(), kind.agent(lambda request: ContextOverflow("Too long.")), "corridor-3")


def test_a_very_long_page_loses_its_middle(kind: Kind) -> None:
    agent = kind.agent(kind.answer("finish"))
    page = f"The beginning. {'Many words. ' * 20_000}The end."
    agent.act(page, {"goal": "Read it.", "admissible_actions": ["stop"]})
    prompt = "".join(one.content for one in agent.exchanges[0].request.messages)
    assert count_tokens(agent.exchanges[0].request.messages, "scripted") <= agent.prompt_tokens
    assert "The beginning." in prompt
    assert "The end." in prompt
    assert "characters …]" in prompt


def test_an_endless_answer_stays_out_of_conversation_and_trace(kind: Kind) -> None:
    agent = kind.agent(MEGABYTE, MEGABYTE, kind.answer("finish"))
    episode = play(corridor(), agent, "corridor-3")
    assert len(episode.steps[0].rationale) < 3 * LONGEST_REPLY
    assert all(len(one.content) < 3 * LONGEST_REPLY for one in agent.exchanges[-1].request.messages)


def test_a_budget_that_is_spent_passes_through(kind: Kind) -> None:
    agent = type(kind.agent())(Budgeted(ScriptedClient(lambda request: kind.answer("act", action="left")), tokens=1))
    with pytest.raises(BudgetExceeded):
        play(corridor(), agent, "corridor-3")
    assert agent.exchanges


def test_an_error_of_the_endpoint_is_that_episode_s_failure(kind: Kind) -> None:
    good = kind.answer("act", action="open")
    agent = kind.agent(UnusableAnswer("It answered a web page."), good)
    rows = agent.evaluate(corridor(), 2).rows
    assert [row["error"] for row in rows] == ["UnusableAnswer: It answered a web page.", None]


def test_a_suggestion_is_read_once(kind: Kind) -> None:
    env = OpinionWrapper(corridor(), OraclePolicy())
    agent = kind.agent(lambda request: kind.answer("act", action="open"))
    play(env, agent, "corridor-3")
    prompt = "".join(one.content for one in agent.exchanges[0].request.messages)
    assert prompt.count("Here is a suggestion for the next command:") == 1


def test_repeats_are_asked_with_seeds_of_their_own(kind: Kind) -> None:
    def seed_of(seed: int | None) -> int | None:
        agent = kind.agent(kind.answer("finish"))
        agent.reset(seed)
        agent.act("A page.", {})
        seed_asked: int | None = agent.exchanges[0].request.seed
        return seed_asked

    assert seed_of(None) is None
    assert seed_of(1) == seed_of(1) != seed_of(2)


def test_settings_are_json_and_hold_no_secret(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-secret")
    agent = type(kind.agent())("gpt-4o", "http://127.0.0.1:9/v1", key_variable="A_KEY", step_limit=20)
    settings = agent.settings()
    assert settings["client"]["model"] == "gpt-4o"
    assert settings["client"]["endpoint"] == "http://127.0.0.1:9/v1"
    assert settings["step_limit"] == 20
    assert settings["temperature"] == 0.01
    assert "sk-secret" not in json.dumps(settings)
    assert b"sk-secret" not in pickle.dumps(agent)
    assert pickle.loads(pickle.dumps(agent)).settings() == settings


def test_a_model_s_name_is_asked_again_where_that_helps(kind: Kind) -> None:
    client = type(kind.agent())("gpt-4o")._client
    assert repr(client) == f"Counted(Retrying({OpenAICompatible('gpt-4o')!r}))"


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": 4},
        {"temperature": -1},
        {"history": -1},
        {"reasks": -1},
        {"step_limit": 0},
        {"page_tokens": 1},
    ],
)
def test_a_setting_that_cannot_work_is_refused(kind: Kind, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting):
        type(kind.agent())(**{"model": "scripted", **wrong})


def test_what_somebody_else_did_is_what_the_agent_is_told_about() -> None:
    agent = AutoGPTPolicy(ScriptedClient(lambda request: '{"command": {"name": "search", "args": {"query": "shoe"}}}'))
    info: Any = {"screen": "search", "goal": "a shoe"}
    agent.act("A page.", info)
    agent.note("A page.", info, "click[b01]")
    agent.act("Another page.", info)
    assert "Command click returned:" in "".join(one.content for one in agent.exchanges[1].request.messages)


def test_ten_answers_in_one_are_the_first(kind_named: Callable[[str], Kind]) -> None:
    actions = ["open", *["left"] * 9]
    many: dict[str, Any] = {
        "autogpt": "\n".join(kind_named("autogpt").answer("act", action=action) for action in actions),
        "react": "\n".join(f"Thought: Hm.\nAction: {action}" for action in actions),
        "tools": Completion("", tool_calls=tuple(ToolCall("act", json.dumps({"action": one}), one) for one in actions)),
    }
    for name, answer in many.items():
        agent: AgentPolicy = kind_named(name).agent(answer)
        assert play(corridor(), agent, "corridor-3").steps[0].action == "open"
