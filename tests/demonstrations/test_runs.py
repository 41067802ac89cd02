"""Demonstrations out of run folders: the run is played again, and has to agree."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Decision, Info
from llm_gym.demonstrations import Selection, record
from llm_gym.demonstrations.runs import demonstrations_of_run, environment_of, header_of_run
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData, UnknownName
from llm_gym.evaluation.store import read_plan
from llm_gym.policies import FirstHitPolicy, OraclePolicy, Policy, RandomPolicy, RulePolicy
from llm_gym.wrappers import HistoryWrapper, ItemTitles, OpinionWrapper

WORLDS: dict[str, tuple[str, dict[str, Any], Callable[[], Policy]]] = {
    "corridor": ("llm_gym/Corridor-v0", {"length": 4}, RandomPolicy),
    "shop": ("llm_gym/WebShop-v1", {"split": "dev"}, FirstHitPolicy),
    "original shop": ("llm_gym/WebShop-v0", {"seed": 3}, OraclePolicy),
    "house": ("llm_gym/ALFWorld-v1", {}, OraclePolicy),
    "original house": ("llm_gym/ALFWorld-v0", {}, RandomPolicy),
}


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Path]:
    """A copy of a run whose plan or first episode was changed."""

    def edit(
        run: Path,
        plan: Callable[[dict[str, Any]], object] = lambda plan: None,
        row: Callable[[dict[str, Any]], object] = lambda row: None,
    ) -> Path:
        copy = tmp_path / "edited"
        shutil.copytree(run, copy)
        content = json.loads((copy / "plan.json").read_text())
        plan(content)
        (copy / "plan.json").write_text(json.dumps(content))
        first, *others = (copy / "episodes.jsonl").read_text().splitlines()
        changed = json.loads(first)
        row(changed)
        (copy / "episodes.jsonl").write_text("\n".join([json.dumps(changed), *others, ""]))
        return copy

    return edit


@pytest.fixture(scope="module")
def shop_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    FirstHitPolicy().evaluate(gym.make("llm_gym/WebShop-v1", split="dev"), 5, out=folder)
    return folder


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_gives_what_recording_gives(world: str, make_env: Callable[..., Any], tmp_path: Path) -> None:
    identity, settings, policy = WORLDS[world]
    env = make_env(identity, **settings)
    policy().evaluate(env, 4, repeats=2, seed=5, out=tmp_path)
    recorded = [one.demonstration for one in record(env, policy(), env.unwrapped.panel[:4], repeats=2, seed=5)]
    assert list(demonstrations_of_run(tmp_path)) == recorded
    assert len(recorded) == 8


def test_wrappers_of_the_run_change_nothing(tmp_path: Path) -> None:
    env: Any = gym.make("llm_gym/WebShop-v1", split="dev")
    tasks = env.unwrapped.panel[:4]
    bare = [one.demonstration for one in record(env, FirstHitPolicy(), tasks)]
    wrapped = OpinionWrapper(HistoryWrapper(ItemTitles(env), observations=2, actions=1), RulePolicy())
    FirstHitPolicy().evaluate(wrapped, 4, out=tmp_path)
    assert list(demonstrations_of_run(tmp_path)) == bare


def test_later_trials_are_demonstrations_too(tmp_path: Path) -> None:
    env: Any = gym.make("llm_gym/Corridor-v0")
    evaluation = RandomPolicy().evaluate(env, 5, trials=3, out=tmp_path)
    found = list(demonstrations_of_run(tmp_path))
    assert [one.task_id for one in found] == [row["task_id"] for row in evaluation.rows]
    assert len(found) > 5


def test_a_selection_keeps_by_success(tmp_path: Path) -> None:
    evaluation = RandomPolicy().evaluate(gym.make("llm_gym/Corridor-v0"), 12, out=tmp_path)
    found = list(demonstrations_of_run(tmp_path, keep=Selection(success=True)))
    assert [one.task_id for one in found] == [row["task_id"] for row in evaluation.rows if row["success"]]
    assert 0 < len(found) < 12


class Breaker(Policy):
    name = "breaker"

    def act(self, observation: str, info: Info) -> Decision:
        if info["task_id"] == "corridor-1":
            raise KeyError("a drawer")
        return Decision("open")


def test_episodes_that_ended_by_an_error_are_left_out(tmp_path: Path) -> None:
    Breaker().evaluate(gym.make("llm_gym/Corridor-v0"), 3, out=tmp_path)
    assert [one.task_id for one in demonstrations_of_run(tmp_path)] == ["corridor-0", "corridor-2"]


def test_the_header_tells_of_the_run(shop_run: Path) -> None:
    plan = read_plan(shop_run)
    header = header_of_run(plan, environment_of(plan), kept="all")
    assert header.environment == "llm_gym/WebShop-v1"
    assert header.description["split"] == "dev"
    counts = {"tasks": 5, "repeats": 1, "trials": 1, "seed": 0}
    assert header.origin == {"policy": "first-hit", "settings": FirstHitPolicy().settings(), "kept": "all", **counts}


def changed_page(row: dict[str, Any]) -> None:
    row["trajectory"][1]["observation"] = "another page"


def changed_reward(row: dict[str, Any]) -> None:
    row["trajectory"][-1]["reward"] = 0.123


def changed_action(row: dict[str, Any]) -> None:
    row["trajectory"][1]["action"] = "click[no such thing]"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed_page, "step 2: the world gives another page"),
        (changed_reward, ": the world gives another reward"),
        (changed_action, "step 2: the world gives another answer"),
    ],
)
def test_a_run_that_does_not_agree_names_task_and_step(
    shop_run: Path, edited: Callable[..., Path], change: Callable[[dict[str, Any]], None], said: str
) -> None:
    folder = edited(shop_run, row=change)
    with pytest.raises(DataMismatch) as raised:
        list(demonstrations_of_run(folder))
    task = json.loads((shop_run / "episodes.jsonl").read_text().splitlines()[0])["task_id"]
    assert f"episodes.jsonl, task {task}, step " in str(raised.value)
    assert said in str(raised.value)


def test_a_run_with_other_data_is_refused(shop_run: Path, edited: Callable[..., Path]) -> None:
    folder = edited(shop_run, plan=lambda plan: plan["description"].update(catalogue_digest="0123456789abcdef"))
    with pytest.raises(DataMismatch, match="episodes of the run were made with other data: catalogue_digest 0123"):
        list(demonstrations_of_run(folder))


@pytest.mark.parametrize("identity", ["Nowhere-v0", "antigravity:Nowhere-v0"])
def test_an_environment_that_is_not_registered_is_not_looked_for(
    shop_run: Path, edited: Callable[..., Path], identity: str
) -> None:
    folder = edited(shop_run, plan=lambda plan: plan["environment"].update(id=identity))
    with pytest.raises(UnknownName, match="environment of the run"):
        list(demonstrations_of_run(folder))


def test_keywords_that_cannot_work_are_told(shop_run: Path, edited: Callable[..., Path]) -> None:
    folder = edited(shop_run, plan=lambda plan: plan["environment"]["kwargs"].update(colour="red"))
    with pytest.raises(InvalidSetting, match="cannot be made with the keywords of the run"):
        list(demonstrations_of_run(folder))


def test_a_trajectory_that_holds_no_actions_is_refused(shop_run: Path, edited: Callable[..., Path]) -> None:
    folder = edited(shop_run, row=lambda row: row["trajectory"][0].update(action=7))
    with pytest.raises(BadRecord, match="step 1: an action is a text or null, not 7"):
        list(demonstrations_of_run(folder))


def test_what_is_no_run_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="is no run folder"):
        demonstrations_of_run(tmp_path)
