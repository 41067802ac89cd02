"""A grid is played once, resumes, stops where it has to, and costs what it costs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_gym.errors import BudgetExceeded, EndpointDown, InvalidSetting, UnknownModel, UnknownName
from llm_gym.experiments.clients import ANSWERS, CALLS, Reached
from llm_gym.experiments.ledger import Ledger, Spent, spent_in
from llm_gym.experiments.report import report
from llm_gym.llm import Message, Prices, Request, ScriptedClient

Played = Callable[..., Any]
ROWS = ["rule", "expert", "priced alone", "priced + 1 opinion", "priced + 5 opinions", "priced + random opinion"]
QUESTION = Request((Message("user", "What now?"),))


def test_the_rows_are_those_of_the_paper(grid: Played) -> None:
    assert [cell.label for cell in grid(models=("priced",)).cells] == ROWS
    house = grid("opinions-alfworld", models=("a", "b/c"))
    assert [cell.label for cell in house.cells] == [
        "expert",
        "a alone",
        "a + 1 opinion",
        "b/c alone",
        "b/c + 1 opinion",
    ]
    assert [cell.folder for cell in house.cells][3:] == ["b-c-alone", "b-c-1-opinion"]


@pytest.mark.parametrize("name", ["../..", "..", "/etc/x", "a\nb", "x" * 300])
def test_no_name_of_a_model_leaves_the_folder(grid: Played, name: str) -> None:
    for cell in grid(models=(name,)).cells:
        assert "/" not in cell.folder
        assert not cell.folder.startswith(".")
        assert len(cell.folder) <= 100


@pytest.mark.parametrize("models", [("a", "a"), ("a/b", "a:b"), ()])
def test_models_need_names_of_their_own(grid: Played, models: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSetting):
        grid(models=models)


def test_an_accident_that_there_is_not_is_answered_with_those_that_there_are(grid: Played) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'first-character'"):
        grid("opinions-alfworld", accidents=frozenset({"first-caracter"}))


def test_the_first_goals_of_an_invented_catalogue_are_refused(grid: Played) -> None:
    with pytest.raises(InvalidSetting, match="--set catalogue=DIR"):
        grid(accidents=frozenset({"first-goals"}))


def test_the_cost_is_known_to_the_cent(grid: Played, played: Played, stops: Played, tmp_path: Path) -> None:
    results = played(tmp_path / "table", stops())
    # 10 tasks × 4 rows × $0.0045; the first questions with an opinion are the same in three rows and are paid once
    assert spent_in(tmp_path / "table" / CALLS) == Spent(20, 20_000, 2_000, pytest.approx(0.09, abs=1e-12))
    costs = report(grid(models=("priced",)), results, {}, frozenset()).sections[1].table
    assert costs is not None
    assert [row[-3:] for row in costs.rows] == [("–", "–", "–")] * 2 + [("10,000", "1,000", "0.0450")] * 4


def test_what_is_there_is_not_asked_again(played: Played, stops: Played, tmp_path: Path) -> None:
    played(tmp_path / "table", stops())
    before, again = contents(tmp_path / "table"), stops()
    played(tmp_path / "table", again)
    assert contents(tmp_path / "table") == before
    assert again.questions == 0


def test_the_answers_alone_give_the_same_runs_without_a_question(played: Played, stops: Played, tmp_path: Path) -> None:
    played(tmp_path / "table", stops())
    before, again = contents(tmp_path / "table", "episodes.jsonl"), stops()
    shutil.rmtree(tmp_path / "table" / "runs")
    played(tmp_path / "table", again)
    assert contents(tmp_path / "table", "episodes.jsonl") == before
    assert again.questions == 0


def contents(folder: Path, name: str = "*.jsonl") -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob(name)}


def test_a_budget_stops_the_experiment_and_a_larger_one_goes_on(played: Played, stops: Played, tmp_path: Path) -> None:
    with pytest.raises(BudgetExceeded, match=r"\$0\.0540 of the \$0\.0500 that were allowed are spent"):
        played(tmp_path / "table", stops(), budget_usd=0.05)
    assert spent_in(tmp_path / "table" / CALLS).calls == 12  # the 12th passes $0.05
    with pytest.raises(BudgetExceeded):  # a new process has no new allowance
        played(tmp_path / "table", stops(), budget_usd=0.05)
    played(tmp_path / "table", stops(), budget_usd=1.0)
    assert spent_in(tmp_path / "table" / CALLS).calls == 20


def test_a_budget_for_a_model_without_a_price_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="The price of 'unheard-of' is not known"):
        Ledger(ScriptedClient(["a"], model="unheard-of"), tmp_path / CALLS, Prices.shipped(), 1.0)
    with pytest.raises(InvalidSetting, match="must be"):
        Ledger(ScriptedClient(["a"]), tmp_path / CALLS, Prices.shipped(), -1.0)


def test_an_unknown_price_makes_an_unknown_sum_and_a_damaged_line_is_left_out(tmp_path: Path) -> None:
    Ledger(ScriptedClient(["a"], model="unheard-of"), tmp_path / CALLS, Prices.shipped()).complete(QUESTION)
    with (tmp_path / CALLS).open("a") as file:
        file.write('{"model": "unheard-of", "prompt_tok')
    assert spent_in(tmp_path / CALLS).calls == 1
    assert spent_in(tmp_path / CALLS).cost_usd is None


@pytest.mark.parametrize("error", [EndpointDown("It is gone."), UnknownModel("There is no such model.")])
def test_a_model_that_goes_away_stops_the_experiment_and_what_is_finished_is_kept(
    played: Played, stops: Played, tmp_path: Path, error: Any
) -> None:
    with pytest.raises(type(error), match=str(error)):
        played(tmp_path / "table", stops(7, error))
    rows = (tmp_path / "table" / "runs" / "priced-alone" / "episodes.jsonl").read_text().splitlines()
    assert sum('"ended_by":"agent"' in row for row in rows) == 7
    assert len(list((tmp_path / "table" / ANSWERS).rglob("*.json"))) == 7


def test_an_endpoint_that_was_never_reached_is_a_setting_to_put_right() -> None:
    client = Reached(ScriptedClient([EndpointDown("Nobody is there."), "hello", EndpointDown("It is gone.")]))
    with pytest.raises(InvalidSetting, match="Nobody is there"):
        client.complete(QUESTION)
    assert client.complete(QUESTION).text == "hello"
    with pytest.raises(EndpointDown, match="It is gone"):
        client.complete(QUESTION)
