"""`llm-gym demos`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from llm_gym.demonstrations import read_demonstrations

CORRIDOR = ("demos", "record", "Corridor-v0", "--policy")
QUESTION = "Your action (a number, the action itself, or quit): "


@pytest.fixture
def out(tmp_path):
    return tmp_path / "demos.jsonl"


def test_a_policy_is_recorded(run, out):
    ran = run(*CORRIDOR, "oracle", "-n", "6", "--set", "length=7", "--repeats", "2", "--seed", "3", "--out", str(out))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"12 demonstrations of 12 episodes are in {out}.\n"
    found = read_demonstrations(out)
    assert [one.task_id for one in found] == [f"corridor-{number}" for number in range(6) for _ in "ab"]
    assert found.header.environment == "llm_gym/Corridor-v0"
    assert found.header.description == {"length": 7, "split": "all", "tasks": 200}
    counts = {"tasks": 6, "repeats": 2, "seed": 3}
    assert found.header.origin == {"policy": "oracle", "settings": {"queries": "solution"}, "kept": "all", **counts}


def test_only_what_is_asked_for_is_kept(run, out):
    ran = run(*CORRIDOR, "random", "-n", "20", "--success", "--min-score", "50", "--out", str(out))
    assert ran.code == 0
    found = read_demonstrations(out)
    assert {one.success for one in found} == {True}
    assert found.header.origin["kept"] == "successful, score 50 or more"
    assert ran.out.startswith(f"{len(list(found))} demonstrations of 20 episodes")


def test_a_name_in_gz_is_compressed(run, tmp_path):
    out = tmp_path / "demos.jsonl.gz"
    assert run(*CORRIDOR, "oracle", "-n", "2", "--out", str(out)).code == 0
    assert out.read_bytes()[:2] == b"\x1f\x8b"
    assert len(list(read_demonstrations(out))) == 2


def test_a_person_is_recorded(run, out):
    answers = ("1", "open", "quit", "flap", "2")
    ran = run(*CORRIDOR, "human", "-n", "5", "--out", str(out), watched=True, answers=answers)
    assert ran.code == 0
    assert "No success: score 0.0 of 100 in 2 steps, ended by the task. Task: corridor-0" in ran.out
    assert ran.out.endswith(f"2 demonstrations of 3 episodes are in {out}.\n")
    assert "tasks" not in ran.err, "no bar writes over the question"
    first, last = read_demonstrations(out)
    assert [step.action for step in first.steps] == ["right", "open"]
    assert [step.action for step in last.steps] == ["open"]


def test_what_failed_is_counted_and_told(run, my_module, out):
    ran = run(*CORRIDOR, f"{my_module}:Breaker", "-n", "4", "--out", str(out))
    assert ran.code == 2
    assert "1 of 4 episodes failed. The first: KeyError: 'a drawer'" in ran.err
    assert "no demonstration to write" in ran.err, "the other three were stopped at once"
    assert not out.exists()


def test_ctrl_c_keeps_what_is_finished(run, my_module, out):
    ran = run(*CORRIDOR, f"{my_module}:Stopper", "-n", "8", "--out", str(out))
    assert ran.code == 130
    assert ran.err == "Interrupted after 3 of 8 episodes.\n"
    assert [one.task_id for one in read_demonstrations(out)] == ["corridor-0", "corridor-1", "corridor-2"]


def test_ctrl_c_before_the_first_leaves_nothing(run, my_module, out):
    ran = run(*CORRIDOR, f"{my_module}:Stopper", "-n", "8", "--success", "--set", "length=200", "--out", str(out))
    assert (ran.code, ran.err) == (130, "Interrupted.\n")
    assert not out.exists()
    assert not list(out.parent.glob("*.part"))


def test_what_would_end_every_episode_is_told(run, my_module, out):
    ran = run(*CORRIDOR, f"{my_module}:Spender", "-n", "8", "--out", str(out))
    assert ran.code == 2
    assert "are spent" in ran.err
    assert not out.exists()


def test_an_interrupt_at_any_moment_leaves_a_whole_file(out):
    words = ["demos", "record", "Corridor-v0", "--policy", "random", "-n", "all", "--repeats", "500", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "llm_gym", *words], stderr=subprocess.PIPE, text=True)
    for _ in range(1200):
        if any(part.stat().st_size > 100_000 for part in out.parent.glob("*.part")):
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("Interrupted after ")
    assert len(list(read_demonstrations(out))) == int(said.split()[2])


def test_a_bar_shows_how_far_it_is(run, out):
    ran = run(*CORRIDOR, "oracle", "-n", "3", "--out", str(out), watched=True)
    assert "3/3" in ran.err
    assert "3 kept" in ran.err


def test_a_run_becomes_demonstrations(run, tmp_path, out):
    folder = str(tmp_path / "run")
    assert run("evaluate", "Corridor-v0", "--policy", "random", "-n", "9", "--seed", "2", "--out", folder).code == 0
    ran = run("demos", "from-run", folder, "--success", "--out", str(out))
    assert ran.code == 0, ran.err
    again = tmp_path / "again.jsonl"
    assert run(*CORRIDOR, "random", "-n", "9", "--seed", "2", "--success", "--out", str(again)).code == 0
    assert list(read_demonstrations(out)) == list(read_demonstrations(again))
    assert ran.out == f"{len(list(read_demonstrations(out)))} demonstrations of 9 episodes are in {out}.\n"


def test_a_run_of_a_module_of_the_user_needs_its_name(run, my_module, tmp_path, out):
    folder = str(tmp_path / "run")
    words = ("--policy", "oracle", "-n", "2", "--set", "floors=4", "--out", folder)
    assert run("evaluate", f"{my_module}:Tower-v0", *words).code == 0
    ran = run("demos", "from-run", folder, "--env", f"{my_module}:Tower-v0", "--out", str(out))
    assert ran.code == 0, ran.err
    assert read_demonstrations(out).header.environment == "Tower-v0"


def test_keywords_of_the_run_can_be_replaced(run, tmp_path, out):
    folder = str(tmp_path / "run")
    words = ("--policy", "oracle", "-n", "4", "--set", "length=7", "--out", folder)
    assert run("evaluate", "Corridor-v0", *words).code == 0
    assert run("demos", "from-run", folder, "--set", "tasks=100", "--out", str(out)).code == 0
    assert read_demonstrations(out).header.description == {"length": 7, "split": "all", "tasks": 100}
    out.unlink()
    ran = run("demos", "from-run", folder, "--set", "length=8", "--out", str(out))
    assert ran.code == 2
    assert "task corridor-0, step 1: the world gives another page" in ran.err
    assert not out.exists()


@pytest.fixture
def official(tmp_path):
    """Files as the official ones: goals 0, 500 and 1,500 with queries, and one that nobody knows."""
    goals = [f"goal {number}" for number in range(1501)]
    queries = {"goal 0": ["a"], "goal 500": ["b", "c"], "goal 1500": ["d"], "goal x": ["e"]}
    (tmp_path / "human_goals.json").write_text(json.dumps(goals))
    (tmp_path / "goal_query_map.json").write_text(json.dumps(queries))
    page = "WebShop\nInstruction: \ngoal 1500, and price lower than 9 dollars\n[button] Search [button_]"
    row = {"states": [page, "item"], "available_actions": [[], ["click[buy now]"]], "action_idxs": [-1, 0]}
    row |= {"actions": ["search[d]", "click[buy now]"], "images": [0, [0.25] * 512]}
    (tmp_path / "il.jsonl").write_text(json.dumps(row))
    return tmp_path


def test_the_train_split_is_imported_and_the_leak_is_told(run, official, out):
    words = (str(official / "goal_query_map.json"), "--goals", str(official / "human_goals.json"), "--out", str(out))
    ran = run("demos", "import", *words)
    assert ran.code == 0
    assert [one.goal for one in read_demonstrations(out)] == ["goal 1500"]
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["dev", "1", "2"] in rows
    assert ["unknown", "1", "1"] in rows
    assert "2 queries of 1 development goals included. The train split here leaves them out." in ran.err


def test_trajectories_are_imported_with_their_pictures(run, official, out):
    images = official / "images"
    words = ("--split", "all", "--images", str(images), "--out", str(out))
    ran = run("demos", "import", str(official / "il.jsonl"), *words)
    assert ran.code == 0, ran.err
    assert f"1 image features are in {images}." in ran.out
    [told] = read_demonstrations(out)
    assert [step.action for step in told.steps] == ["search[d]", "click[buy now]"]
    assert told.steps[1].image is not None
    other = ("--split", "all", "--images", str(images), "--out", str(official / "other.jsonl"))
    assert "exists already" in run("demos", "import", str(official / "il.jsonl"), *other).err
    assert not (official / "other.jsonl").exists()


def test_a_file_without_pictures_makes_no_store(run, official, out):
    row = json.loads((official / "il.jsonl").read_text())
    (official / "il.jsonl").write_text(json.dumps({key: row[key] for key in row.keys() - {"images"}}))
    words = ("--split", "all", "--images", str(official / "images"), "--out", str(out))
    ran = run("demos", "import", str(official / "il.jsonl"), *words)
    assert ran.code == 0
    assert "There are no image features." in ran.out
    assert not (official / "images").exists()


def test_a_file_is_counted_and_checked(run, out):
    assert run("demos", "record", "WebShop", "--policy", "first-hit", "-n", "4", "--out", str(out)).code == 0
    ran = run("demos", "show", str(out))
    assert ran.code == 0
    assert "demonstrations  4 of 4 tasks, by first-hit (4)" in ran.out
    assert "made in         llm_gym/WebShop-v1 · catalogue invented-standard-1200-12" in ran.out
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["searches", "1.00", "1.62", "1.40"] in rows
    assert ["bought", "the", "first", "opened", "item", "100.0%", "76.0%", "–"] in rows


def test_one_demonstration_is_shown_as_it_went(run, out):
    run(*CORRIDOR, "oracle", "-n", "2", "--out", str(out))
    first = next(iter(read_demonstrations(out)))
    ran = run("demos", "show", str(out), "--task", "corridor-0")
    assert ran.out.startswith("corridor-0: Open the door of room 0.\n")
    assert f"step 1 of {len(first.steps)}" in ran.out
    assert "You are in room 0 of 5.\n\n  right\n> open\n" in ran.out
    assert ran.out.endswith("Success: score 100.0 of 100. Demonstrated by oracle.\n")
    assert run("demos", "show", str(out), "--task", "1").out == ran.out
    one = run("demos", "show", str(out), "--task", "1", "--step", "1").out
    assert "> open" in one
    assert "Success" not in one


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("record", "Corridor", "--policy", "oracel", "--out", "new"), "Did you mean 'oracle'"),
        (("record", "Coridor", "--policy", "oracle", "--out", "new"), "Did you mean"),
        (("record", "Corridor", "--policy", "oracle", "-n", "0", "--out", "new"), "n must be 1 or more"),
        (("record", "Corridor", "--policy", "oracle", "-n", "201", "--out", "new"), "has 200 tasks"),
        (("record", "Corridor", "--policy", "oracle", "--repeats", "0", "--out", "new"), "--repeats must be 1"),
        (("record", "Corridor", "--policy", "oracle", "--min-score", "101", "--out", "new"), "between 0 and 100"),
        (("record", "Corridor", "--policy", "oracle", "--out", "here"), "here exists already"),
        (("record", "Corridor", "--policy", "human", "--policy-set", "a=1", "--out", "new"), "keyword of human"),
        (("from-run", "nowhere", "--out", "new"), "is no run folder"),
        (("import", "here", "--out", "new"), "--split train needs --goals"),
        (("import", "here", "--split", "all", "--out", "new"), "ends in .jsonl, a map in .json"),
        (("import", "q.json", "--split", "all", "--images", "d", "--out", "new"), "holds no images"),
        (("import", "q.json", "--split", "all", "--out", "new"), "q.json is no file"),
        (("show", "nowhere"), "nowhere is no file"),
        (("show", "here"), "here is empty"),
        (("show", "two", "--step", "1"), "--step needs --task"),
        (("show", "two", "--task", "corridor-7"), "Did you mean 'corridor-1' or 'corridor-0'"),
        (("show", "two", "--task", "3"), "Unknown task of two '3'"),
        (("show", "two", "--task", "1", "--step", "9"), "--step must lie between 1 and"),
    ],
    ids=" ".join,
)
def test_what_is_wrong_is_told_in_one_sentence(run, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").write_bytes(b"")
    run(*CORRIDOR, "oracle", "-n", "2", "--out", "two")
    ran = run("demos", *words)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert said in ran.err
    assert not (tmp_path / "new").exists()


def test_without_a_word_the_help_names_the_four(run, capsys):
    assert run("demos", "--help").code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("record", "from-run", "import", "show"))
