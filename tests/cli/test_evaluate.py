"""`llm-gym evaluate`."""

from __future__ import annotations

import sys

import orjson
import pytest

from llm_gym.cli.progress import Tally, finished_before
from llm_gym.core import Decision
from llm_gym.evaluation import Evaluation

CORRIDOR = ("evaluate", "Corridor-v0", "--policy")


def test_the_table_goes_to_standard_output_and_nothing_else_does(run, tmp_path):
    ran = run(*CORRIDOR, "oracle", "-n", "12", "--out", str(tmp_path / "run"))
    assert ran.code == 0
    evaluation = Evaluation.load(tmp_path / "run")
    assert ran.out == f"{evaluation}\n"
    assert (evaluation.n, float(evaluation.success)) == (12, 1.0)
    assert ran.err == f"The run is in {tmp_path / 'run'}.\n"


def test_what_is_said_reaches_the_plan(run, tmp_path):
    words = ("--set", "length=9", "--wrapper", "history:observations=1", "--repeats", "2", "--trials", "3")
    assert run(*CORRIDOR, "random", *words, "-n", "4", "--seed", "5", "--out", str(tmp_path)).code == 0
    plan = Evaluation.load(tmp_path).plan
    assert (plan.n, plan.repeats, plan.trials, plan.seed) == (4, 2, 3, 5)
    assert plan.environment["kwargs"] == {"length": 9}
    assert plan.environment["wrappers"][0]["kwargs"] == {"observations": 1, "actions": 0}


@pytest.mark.parametrize(("words", "played"), [(("-n", "all"), 70), (("--tasks", "7"), 7), ((), 50)])
def test_number_of_tasks(run, words, played):
    assert f"\n {'success':<15}" in run(*CORRIDOR, "oracle", "--set", "tasks=70", *words).out
    assert f"{played} of 70 tasks" in run(*CORRIDOR, "oracle", "--set", "tasks=70", *words).out


def test_the_default_number_plays_a_smaller_panel_whole(run):
    assert "3 of 3 tasks" in run(*CORRIDOR, "oracle", "--set", "tasks=3").out


def test_a_policy_of_the_user_in_processes_and_threads(run, my_module, tmp_path):
    numbers = {"one": (), "jobs": ("--jobs", "2"), "threads": ("--concurrency", "3")}
    for out, words in numbers.items():
        ran = run(*CORRIDOR, f"{my_module}:Opener", "-n", "6", *words, "--out", out)
        assert ran.code == 0, ran.err
    assert len({(tmp_path / out / "episodes.jsonl").read_bytes() for out in numbers}) == 1


def test_another_plan_in_the_same_folder_is_refused_with_the_difference(run, tmp_path):
    run(*CORRIDOR, "random", "-n", "3", "--out", str(tmp_path))
    ran = run(*CORRIDOR, "random", "-n", "3", "--seed", "1", "--out", str(tmp_path))
    assert ran.code == 2
    assert "seed: 0 → 1" in ran.err


def test_episodes_that_end_in_an_error_are_told_and_set_the_exit_code(run, my_module):
    ran = run(*CORRIDOR, f"{my_module}:Breaker", "-n", "4")
    assert ran.code == 1
    assert "1 of 4 attempts ended in an error" in ran.out
    assert "The first error: KeyError: 'a drawer'" in ran.err


def test_no_bar_where_nobody_watches(run):
    assert run(*CORRIDOR, "oracle", "-n", "5").err == ""


def test_the_bar_counts_and_shows_success_with_its_interval(run):
    ran = run(*CORRIDOR, "oracle", "-n", "40", watched=True)
    assert "40/40" in ran.err
    assert "success 100% (91 to 100)" in ran.err  # Wilson for 40 of 40: 40 / (40 + 1.96²) = 0.912
    assert "\x1b" not in ran.out


def test_a_person_who_is_evaluated_sees_no_bar(run, monkeypatch):
    monkeypatch.setattr("llm_gym.policies.human.HumanPolicy.act", lambda self, observation, info: Decision(None))
    assert run(*CORRIDOR, "human", "-n", "2", watched=True).err == ""


def test_ctrl_c_with_a_folder_tells_how_to_go_on_and_keeps_what_is_finished(run, my_module, tmp_path):
    words = (*CORRIDOR, f"{my_module}:Stopper", "-n", "6", "--out", "kept")
    ran = run(*words, command="llm-gym evaluate again")
    assert ran.code == 130
    assert not ran.out
    assert ran.err.startswith("Interrupted: 3 of 6 attempts are finished, success ")
    assert ran.err.endswith("kept keeps them. To go on:\n  llm-gym evaluate again\n")
    assert len((tmp_path / "kept" / "episodes.jsonl").read_bytes().splitlines()) == 3
    assert finished_before(tmp_path / "kept", 1) == 3


def test_ctrl_c_without_a_folder_says_that_nothing_is_kept(run, my_module):
    ran = run(*CORRIDOR, f"{my_module}:Stopper", "-n", "6")
    assert ran.code == 130
    assert ran.err.endswith("Nothing is kept. With --out DIR a run can be resumed.\n")


@pytest.mark.parametrize("concurrency", ["1", "3"])
def test_a_spent_budget_tells_what_is_finished_and_how_to_go_on(run, my_module, tmp_path, concurrency):
    words = (*CORRIDOR, f"{my_module}:Spender", "-n", "6", "--concurrency", concurrency, "--out", "kept")
    ran = run(*words, command="llm-gym evaluate again")
    assert (ran.code, ran.out) == (2, "")
    stopped, kept, again, error = ran.err.splitlines()
    assert stopped.startswith("Stopped: ")
    assert " of 6 attempts are finished, success " in stopped
    assert (kept, again) == ("kept keeps them. To go on:", "  llm-gym evaluate again")
    assert error == "error: $1.00 of the $1.00 that were allowed are spent."
    sys.modules[my_module].Spender.rich = True
    assert run(*words).code == 0
    assert run(*words[:-1], "at once").code == 0
    whole = [(tmp_path / name / "episodes.jsonl").read_bytes() for name in ("kept", "at once")]
    assert whole[0] == whole[1]


def test_a_bar_that_resumes_begins_where_the_run_was(run, my_module, tmp_path):
    words = (*CORRIDOR, f"{my_module}:Stopper", "-n", "6", "--out", "kept")
    run(*words)
    ran = run(*words, watched=True)
    assert ran.code == 130
    assert "3/6" in ran.err
    assert "0/6" not in ran.err


def test_finished_before_counts_whole_attempts_without_errors(tmp_path, run, my_module):
    run(*CORRIDOR, f"{my_module}:Breaker", "-n", "4", "--trials", "2", "--out", "run")
    assert finished_before(tmp_path / "run", 2) == 3
    assert finished_before(tmp_path / "nothing", 2) == 0
    assert finished_before(None, 2) == 0


def test_a_tally_counts_attempts_not_trials():
    tally = Tally(trials=2)
    assert tally.told() == ""
    rows = [("a", 0, False), ("a", 1, True), ("b", 0, True), ("c", 0, False), ("c", 1, False)]
    ended = [
        tally.hear({"task_id": task, "trial": trial, "success": success, "ended_by": "task"})
        for task, trial, success in rows
    ]
    assert ended == [False, True, True, False, True]
    assert len(tally) == 3
    assert tally.told() == "success 67% (21 to 94)"  # Wilson for 2 of 3


def test_attempts_at_one_task_count_as_one_task_when_they_agree():
    tally = Tally(trials=1)
    for task in "ab" * 20:
        tally.hear({"task_id": task, "trial": 0, "success": True, "ended_by": "task"})
    assert tally.told() == "success 100% (34 to 100)"  # Wilson for 2 of 2, not for 40 of 40


def test_control_characters_of_a_message_do_not_reach_the_terminal(run, my_module, tmp_path):
    (tmp_path / "evil_for_tests.py").write_text(
        "from llm_gym.policies import Policy\n"
        "class Evil(Policy):\n"
        "    name = 'evil'\n"
        "    def act(self, observation, info):\n"
        "        raise ValueError('\\x1b[2J')\n"
    )
    ran = run(*CORRIDOR, "evil_for_tests:Evil", "-n", "1")
    assert ran.code == 1
    assert "\x1b" not in ran.out + ran.err


def test_compare_and_report_read_the_folders(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(*CORRIDOR, "oracle", "-n", "20", "--out", "runs/oracle")
    run(*CORRIDOR, "random", "-n", "20", "--out", "runs/random")
    compared = run("compare", "runs/oracle", "runs/random")
    assert compared.code == 0
    assert compared.out.startswith("oracle against random on llm_gym/Corridor-v0 · 20 tasks\n")
    assert run("report", "runs/oracle", "runs/random").out.count("\n") == 4
    rows = orjson.loads(run("report", "runs/oracle", "runs/random", "--format", "json").out)
    assert [row["policy"] for row in rows] == ["oracle", "random"]
    written = run("report", "runs/oracle", "--format", "csv", "--out", "tables/all.csv")
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "tables" / "all.csv").read_text() == run("report", "runs/oracle", "--format", "csv").out


def test_runs_of_different_worlds_are_not_compared(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(*CORRIDOR, "oracle", "-n", "2", "--out", "a")
    run(*CORRIDOR, "oracle", "-n", "2", "--set", "length=6", "--out", "b")
    ran = run("compare", "a", "b")
    assert ran.code == 2
    assert "length: 5 → 6" in ran.err


def test_a_flag_takes_several_pairs_and_may_be_given_again(run, tmp_path):
    ran = run(
        "evaluate",
        "Corridor-v0",
        "--policy",
        "random",
        "-n",
        "3",
        "--set",
        "length=9",
        "tasks=5",
        "--set",
        "render_mode=ansi",
    )
    assert ran.code == 0
    assert "length 9" in ran.out
    assert "3 of 5 tasks" in ran.out


def test_a_run_is_replayed_from_the_command_line(run, tmp_path):
    folder = str(tmp_path / "run")
    assert run("evaluate", "Corridor-v0", "--policy", "random", "-n", "5", "--out", folder).code == 0
    replayed = run(
        "evaluate",
        "Corridor-v0",
        "--policy",
        "replay",
        "-n",
        "5",
        "--policy-set",
        f"actions={folder}",
        "--out",
        folder + "2",
    )
    assert replayed.code == 0
    rows = [
        (tmp_path / name / "episodes.jsonl").read_text().replace('"policy":"replay"', '"policy":"random"')
        for name in ("run", "run2")
    ]
    assert rows[0] == rows[1]
