"""ALFWorld as a Gymnasium environment: what it adds to an engine and to the contract of every environment."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded

from llm_gym.envs.alfworld.env import ALFWorld, ALFWorldV0
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.store import write_store
from llm_gym.errors import BadRecord, InvalidSetting, MissingData, MissingDependency, UnknownName

Make = Callable[..., Any]

IN_SHELF = """(exists (?r - receptacle) (exists (?o - object)
    (and (inReceptacle ?o ?r) (objectType ?o CupType) (receptacleType ?r ShelfType) {more})))"""
PICK = IN_SHELF.format(more="")
HEAT = IN_SHELF.format(more="(heatable ?o) (isHot ?o)")
WALKTHROUGH = ("go to desk 1", "take cup 1 from desk 1", "go to shelf 1", "move cup 1 to shelf 1")
SEEN = "You are in the middle of a room. Looking quickly around you, you see"


@pytest.fixture(scope="module")
def store(sketch: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of cup 1 on desk 1, to be put on shelf 1, beside a microwave: simple, heated, and some that are odd."""

    def house() -> Any:
        drawn = sketch().receptacle("desk_bar_1", 1, "cup_bar_1").receptacle("shelf_bar_1", 2)
        drawn.receptacle("microwave_bar_1", 3, flags="openable")
        return drawn.flag("cup_bar_1", "pickupable heatable").fits("shelf", "cup").fits("desk", "cup")

    simple = house().problem(PICK)
    people = ("put the cup away.", "Move a cup to the shelf.")
    games = [
        Game("pick/1", "train", "put a cup in shelf.", simple, WALKTHROUGH, people),
        Game("heat/1", "train", "put a hot cup in shelf.", house().problem(HEAT), None, ("heat it.",)),
        Game(
            "pick/won", "train", "put a cup in shelf.", house().receptacle("shelf_bar_2", 4, "cup_bar_2").problem(PICK)
        ),
        Game(
            "pick/unsolvable", "odd", "put a cup in shelf.", sketch().receptacle("shelf_bar_1", 1).problem(PICK), None
        ),
        Game("pick/larger", "odd", "put a cup in shelf.", house().receptacle("bed_bar_1", 4).problem(PICK)),
        Game(
            "pick/fuller", "odd", "put a cup in shelf.", house().receptacle("desk_bar_1", 1, "cup_bar_3").problem(PICK)
        ),
        Game(
            "pick/nowhere", "broken", "put a cup in shelf.", replace(simple, facts=frozenset(_homeless(simple.facts)))
        ),
        Game("pick/fine", "broken", "put a cup in shelf.", simple),
    ]
    return write_store(tmp_path_factory.mktemp("games") / "store", games, name="hand-made", about={}).folder


def _homeless(facts: Any) -> Any:
    return (fact for fact in facts if fact[0] != "atlocation")


@pytest.fixture
def world(store: Path) -> ALFWorld:
    world = ALFWorld(store, "train")
    world.reset(options={"task": "pick/1"})
    return world


# -- what is told --------------------------------------------------------------------------------------------------


def test_everything_that_is_told_at_the_beginning(store: Path) -> None:
    observation, info = ALFWorld(store, "train").reset(options={"task": "heat/1"})
    assert observation == (
        f"-= Welcome to TextWorld, ALFRED! =-\n\n{SEEN} a desk 1, a microwave 1, and a shelf 1.\n\n"
        "Your task is to: put a hot cup in shelf."
    )
    assert info == {
        "task_id": "heat/1",
        "goal": "put a hot cup in shelf.",
        "admissible_actions": ["go to desk 1", "go to microwave 1", "go to shelf 1", "help", "inventory", "look"],
        "success": False,
        "page": observation,
        "category": "heat",
        "metrics": {},
        "task_type": "pick_heat_then_place_in_recep",
        "won": False,
    }


def test_the_command_that_wins_is_rewarded_and_ends_the_episode(world: ALFWorld) -> None:
    for command in WALKTHROUGH[:-1]:
        _, reward, terminated, truncated, info = world.step(command)
        assert (reward, terminated, truncated, info["won"], info["success"]) == (0.0, False, False, False, False)
    observation, reward, terminated, truncated, info = world.step(WALKTHROUGH[-1])
    assert observation == "You move the cup 1 to the shelf 1."
    assert (reward, terminated, truncated, info["won"], info["success"]) == (1.0, True, False, True, True)


def test_after_the_win_nothing_is_played(world: ALFWorld) -> None:
    for command in WALKTHROUGH:
        world.step(command)
    won = world.state
    observation, reward, terminated, _, info = world.step("take cup 1 from shelf 1")
    assert (observation, reward, terminated, info["won"]) == ("You move the cup 1 to the shelf 1.", 0.0, True, True)
    assert world.state is won
    assert world.reset(options={"task": "pick/1"})[1]["won"] is False


@pytest.mark.parametrize(
    "action", ["open desk 1", "go to the desk 1", "put cup 1 in/on shelf 1", "go to desk 1" * 9000]
)
def test_a_refused_command_says_so_and_changes_nothing(world: ALFWorld, action: str) -> None:
    state, told = world.state, world.step("look")[4]
    observation, reward, terminated, truncated, info = world.step(action)
    assert (observation, reward, terminated, truncated) == ("Nothing happens.", 0.0, False, False)
    refusal = info.pop("invalid_action")
    assert refusal == f"{action[:80]!r} is none of the commands that are possible here."
    assert info == told | {"page": "Nothing happens."}
    assert world.state is state


def test_a_command_with_blanks_around_it_is_followed(world: ALFWorld) -> None:
    observation, _, _, _, info = world.step("\n go to desk 1 \t")
    assert observation == "You arrive at desk 1. On the desk 1, you see a cup 1."
    assert "invalid_action" not in info


def test_a_game_that_is_won_at_its_beginning_says_so_and_is_over(store: Path) -> None:
    world = ALFWorld(store, "train")
    assert world.reset(options={"task": "pick/won"})[1]["won"] is True
    _, reward, terminated, _, _ = world.step("look")
    assert (reward, terminated) == (0.0, True)


# -- the two wordings ----------------------------------------------------------------------------------------------


def test_the_papers_wording(store: Path) -> None:
    world = ALFWorldV0(store, "train")
    _, info = world.reset(options={"task": "pick/1"})
    assert "help" not in info["admissible_actions"]
    # loc_bar_0 to loc_bar_3: the desk at loc_bar_1 is loc 3
    assert world.step("go to desk 1")[0] == "You arrive at loc 3. On the desk 1, you see a cup 1."
    assert "take cup 1 from desk 1" in world.solution()
    assert world.walkthrough == [*WALKTHROUGH[:3], "put cup 1 in/on shelf 1"]
    world.step("take cup 1 from desk 1")
    world.step("go to shelf 1")
    assert world.step("put cup 1 in/on shelf 1")[1] == 1.0


def test_the_walkthrough_is_the_games_own(world: ALFWorld) -> None:
    assert world.walkthrough == list(WALKTHROUGH)
    world.reset(options={"task": "heat/1"})
    assert world.walkthrough is None


@pytest.mark.parametrize("env_id", ["llm_gym/ALFWorld-v0", "llm_gym/ALFWorld-v1"])
def test_episodes_have_fifty_steps(env_id: str, store: Path) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*is out of date", DeprecationWarning)
        env = gym.make(env_id, games=store, split="train")
    env.reset(options={"task": "heat/1"})
    ends = [env.step("nonsense" if number % 2 else "look")[2:4] for number in range(50)]
    assert ends == [(False, False)] * 49 + [(False, True)]


def test_a_win_at_the_last_step_is_a_win(store: Path) -> None:
    env = gym.make("llm_gym/ALFWorld-v1", games=store, split="train")
    env.reset(options={"task": "pick/1"})
    for command in ["look"] * 46 + list(WALKTHROUGH[:-1]):
        assert env.step(command)[2:4] == (False, False)
    _, reward, terminated, _, info = env.step(WALKTHROUGH[-1])
    assert (reward, terminated, info["success"]) == (1.0, True, True)


# -- states --------------------------------------------------------------------------------------------------------


def test_one_can_go_back_to_a_state_also_after_the_end(world: ALFWorld) -> None:
    world.step("go to desk 1")
    kept, told = world.state, world.step("look")[4]
    for command in WALKTHROUGH[1:]:
        world.step(command)
    observation, info = world.restore(kept)
    assert observation == "You are facing the desk 1. Next to it, you see nothing."
    assert info == told
    assert [world.step(command)[1] for command in WALKTHROUGH[1:]] == [0.0, 0.0, 1.0]


def test_going_back_to_a_win_is_the_end(world: ALFWorld) -> None:
    for command in WALKTHROUGH:
        world.step(command)
    won = world.state
    world.reset(options={"task": "pick/1"})
    assert world.restore(won)[1]["won"] is True
    assert world.step("look")[2] is True


def test_states_are_equal_in_two_environments_and_survive_pickling(store: Path) -> None:
    first, second = ALFWorld(store, "train"), ALFWorldV0(store, "train")
    for world in (first, second):
        world.reset(options={"task": "pick/1"})
        world.step("go to desk 1")
    kept = pickle.loads(pickle.dumps(first.state))
    assert {first.state, second.state, kept} == {kept}
    second.step("take cup 1 from desk 1")
    assert second.state != first.state
    assert second.restore(kept)[0] == "You are facing the desk 1. Next to it, you see nothing."


@pytest.mark.parametrize("other", ["pick/larger", "pick/fuller", "pick/unsolvable"])
def test_a_state_of_another_game_is_refused(world: ALFWorld, store: Path, other: str) -> None:
    elsewhere = ALFWorld(store, "odd")
    elsewhere.reset(options={"task": other})
    with pytest.raises(InvalidSetting, match="state of another game"):
        world.restore(elsewhere.state)
    with pytest.raises(InvalidSetting, match="state of another game"):
        elsewhere.restore(world.state)


@pytest.mark.parametrize("use", ["house", "state", "game", "walkthrough", "solution"])
def test_before_the_first_reset_there_is_no_game(store: Path, use: str) -> None:
    world = ALFWorld(store, "train")
    with pytest.raises(ResetNeeded, match="reset"):
        world.solution() if use == "solution" else getattr(world, use)


def test_a_deep_copy_plays_on_by_itself(world: ALFWorld) -> None:
    world.step("go to desk 1")
    copy = deepcopy(world)
    assert copy.step("take cup 1 from desk 1")[0] == "You pick up the cup 1 from the desk 1."
    assert world.step("inventory")[0] == "You are not carrying anything."
    assert copy.step("inventory")[0] == "You are carrying: a cup 1."


# -- plans ---------------------------------------------------------------------------------------------------------

HEATED = [
    "go to desk 1",
    "take cup 1 from desk 1",
    "go to microwave 1",
    "heat cup 1 with microwave 1",
    "go to shelf 1",
    "move cup 1 to shelf 1",
]


def test_the_solution_begins_where_the_agent_stands(store: Path) -> None:
    world = ALFWorld(store, "train")
    world.reset(options={"task": "heat/1"})
    for done in range(len(HEATED)):
        assert world.solution() == HEATED[done:]
        world.step(HEATED[done])
    assert world.solution() == []


def test_the_solution_is_that_of_the_present_game(store: Path) -> None:
    world = ALFWorld(store, "train")
    for task, expected in {"heat/1": HEATED, "pick/1": list(WALKTHROUGH), "pick/won": []}.items():
        world.reset(options={"task": task})
        assert world.solution() == expected


def test_the_solution_finds_back_from_a_wrong_way(world: ALFWorld) -> None:
    world.step("go to microwave 1")
    world.step("open microwave 1")
    assert world.solution() == list(WALKTHROUGH)


def test_plans_are_told_on_request_at_every_step(store: Path) -> None:
    world = ALFWorld(store, "train", expert_plan=True)
    _, info = world.reset(options={"task": "heat/1"})
    for done, command in enumerate(HEATED):
        assert info["expert_plan"] == HEATED[done:]
        assert world.step("nonsense")[4]["expert_plan"] == HEATED[done:]
        info = world.step(command)[4]
    assert info["expert_plan"] == []
    assert "expert_plan" not in ALFWorld(store, "train").reset(options={"task": "heat/1"})[1]


def test_a_game_that_cannot_be_won_is_played_and_never_won(store: Path) -> None:
    world = ALFWorld(store, "odd", expert_plan=True)
    _, info = world.reset(options={"task": "pick/unsolvable"})
    assert (info["expert_plan"], world.solution(), info["task_type"]) == ([], [], "pick_and_place_simple")
    for command in ("go to shelf 1", "look", "nonsense"):
        assert world.step(command)[1:3] == (0.0, False)


def test_one_file_of_a_game_that_cannot_be_won_is_played_and_never_won(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game_file: Callable[..., bytes], sketch: Make
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    problem = sketch().receptacle("shelf_bar_1", 1, "statue_bar_1").thing("cup_bar_1", location=1).problem(PICK)
    path = tmp_path / "pick_and_place_simple-Cup" / "trial_1" / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_bytes(game_file(solvable=False, walkthrough=None, problem=problem.to_pddl()))
    world = ALFWorld(path)
    assert world.reset()[1]["task_id"] == "pick_and_place_simple-Cup/trial_1"
    assert world.solution() == []
    assert world.step("go to shelf 1")[0] == "You arrive at shelf 1. On the shelf 1, you see a statue 1."
    rewards = [world.step(command)[1] for command in world.step("look")[4]["admissible_actions"]]
    assert sum(rewards) == 0.0


# -- settings ------------------------------------------------------------------------------------------------------


def test_only_the_kinds_of_task_asked_for_are_played(store: Path) -> None:
    for named in ("heat", ["heat"], "pick_heat_then_place_in_recep"):
        assert list(ALFWorld(store, "train", task_types=named).panel) == ["heat/1"]
    assert list(ALFWorldV0(store, "train", task_types=["pick", "heat"]).panel) == ["heat/1", "pick/1", "pick/won"]


def test_goals_in_the_words_of_people_are_tasks_of_their_own(store: Path) -> None:
    world = ALFWorldV0(store, "train", goal="annotation")
    assert list(world.panel) == ["heat/1#0", "pick/1#0", "pick/1#1"]
    observation, info = world.reset(options={"task": "pick/1#1"})
    assert observation.endswith("\n\nYour task is to: Move a cup to the shelf.")
    assert (info["task_id"], info["goal"], info["category"]) == ("pick/1#1", "Move a cup to the shelf.", "pick")
    assert info["cluster"] == world.step("look")[4]["cluster"] == "pick/1"
    assert "cluster" not in ALFWorldV0(store, "train").reset()[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "textwrld"}, "Unknown engine 'textwrld'. Did you mean 'textworld'?"),
        ({"engine": None}, "Unknown engine None. "),
        ({"goal": "templates"}, "Unknown kind of goal 'templates'. Did you mean 'templated'?"),
        ({"split": "trian"}, "Unknown split 'trian'. Did you mean 'train'"),
        ({"task_types": "heet"}, "Unknown kind of task 'heet'. Did you mean 'heat'"),
        ({"render_mode": "human"}, "Unknown render mode 'human'"),
    ],
)
def test_unknown_names_are_refused_with_the_near_ones(store: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownName) as raised:
        ALFWorld(store, **({"split": "train"} | settings))
    assert message in str(raised.value)


def test_a_split_without_games_says_where_it_looked_and_how_to_get_them(store: Path) -> None:
    with pytest.raises(MissingData) as raised:
        ALFWorld(store, "valid_unseen")
    assert "0 games of split 'valid_unseen'" in str(raised.value)
    assert str(store) in str(raised.value)
    assert "llm-gym download alfworld" in str(raised.value)


def test_textworld_that_is_not_installed_is_named_with_its_pip_line(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    with pytest.raises(MissingDependency, match=r'Install it with: pip install "llm-gym\[alfworld\]"'):
        ALFWorld(store, "train", engine="textworld")


def test_the_description_names_what_fixes_the_results(store: Path) -> None:
    described = ALFWorldV0(store, "train", task_types="pick").description()
    assert described.pop("games_digest")
    assert described == {
        "games": "hand-made",
        "split": "train-pick",
        "tasks": 2,
        "goal": "templated",
        "engine": "native",
        "wording": "original",
        "categories": ["pick", "clean", "heat", "cool", "look", "two"],
    }


def test_a_game_that_cannot_be_played_leaves_no_half_begun_episode(store: Path) -> None:
    world = ALFWorld(store, "broken")
    world.reset(options={"task": "pick/fine"})
    with pytest.raises(BadRecord, match="Game pick/nowhere: The agent of a problem begins at one location, not at 0"):
        world.reset(options={"task": "pick/nowhere"})
    with pytest.raises(ResetNeeded):
        world.step("look")
    world.reset(options={"task": "pick/fine"})
    assert [world.step(command)[1] for command in WALKTHROUGH] == [0.0, 0.0, 0.0, 1.0]
