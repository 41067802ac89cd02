"""Prompts kept whole, under the digest that a trace names."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import gymnasium as gym
import pytest

from llm_gym.errors import DataError
from llm_gym.llm import Message, Request, ScriptedClient, Tool, Transcribed
from llm_gym.llm.key import prompt_digest
from llm_gym.policies import AutoGPTPolicy

ASKED = Request(
    (Message("system", "You shop."), Message("user", "Ünicode?")), 0.5, 20, tools=(Tool("a", "b", {}),), seed=3
)


def test_a_prompt_is_in_a_file_of_its_digest_with_all_that_was_asked(tmp_path: Path) -> None:
    client = Transcribed(ScriptedClient(["Yes."]), tmp_path / "prompts")
    assert client.complete(ASKED).text == "Yes."
    [file] = (tmp_path / "prompts").iterdir()
    assert file.name == f"{prompt_digest(ASKED)}.json"
    kept = json.loads(file.read_text("utf-8"))
    assert [message["content"] for message in kept["messages"]] == ["You shop.", "Ünicode?"]
    assert (kept["temperature"], kept["max_tokens"], kept["seed"], kept["tools"][0]["name"]) == (0.5, 20, 3, "a")


def test_equal_prompts_are_kept_once_and_others_apart(tmp_path: Path) -> None:
    client = Transcribed(ScriptedClient(["a", "b", "c"]), tmp_path)
    for request in (ASKED, ASKED, Request(ASKED.messages)):
        client.complete(request)
    assert len(list(tmp_path.iterdir())) == 2


def test_it_is_kept_also_when_there_is_no_answer(tmp_path: Path) -> None:
    client = Transcribed(ScriptedClient([]), tmp_path)
    with pytest.raises(Exception, match="answer"):
        client.complete(ASKED)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    with pytest.raises(DataError, match="folder of prompts"):
        Transcribed(ScriptedClient(["Yes."]), blocked).complete(ASKED)


def test_it_changes_no_settings_and_can_be_pickled(tmp_path: Path) -> None:
    client = Transcribed(ScriptedClient(["Yes."]), tmp_path)
    assert client.settings() == client.client.settings()
    assert pickle.loads(pickle.dumps(client)).folder == tmp_path


def test_an_agents_trace_names_the_files(tmp_path: Path) -> None:
    agent = AutoGPTPolicy("scripted", prompts=str(tmp_path))
    rows = agent.evaluate(gym.make("llm_gym/WebShop-v1", max_episode_steps=4), 2).rows
    traces = [step["rationale"] for row in rows for step in row["trajectory"]]
    named = {digest for trace in traces for digest in re.findall(r"prompt (\w{16})", trace)}
    assert named == {file.stem for file in tmp_path.iterdir()}
    assert agent.settings() == AutoGPTPolicy("scripted").settings()
