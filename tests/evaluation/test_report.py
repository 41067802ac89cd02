"""The table over run folders in its three formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_gym.errors import InvalidSetting, MissingData, UnknownName
from llm_gym.evaluation import Evaluation
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Records
from llm_gym.evaluation.report import report


@pytest.fixture
def folders(tmp_path: Path, row: Callable[..., dict[str, Any]], plan: Callable[..., Plan]) -> list[Path]:
    bought = (row("a", True, metrics={"purchase": True}), row("b", metrics={"purchase": True}), row("c", score=40.0))
    Evaluation(plan("rule"), Records(bought)).save(tmp_path / "first")
    Evaluation(plan("=evil|x", n=1, description={}), Records((row("a"),))).save(tmp_path / "second")
    return [tmp_path / "first", tmp_path / "second"]


def test_markdown_has_one_row_a_run(folders: list[Path]) -> None:
    head, rule, first, second = report(folders).splitlines()
    assert head.startswith(
        "| run | environment | split | products | panel digest | policy | tasks | errors | success |"
    )
    assert rule.count("---") == 1
    assert "| first | E-v0 | test | 1,000 | dddddddddddddddd | rule | 3 | 0 | 0.333 [0.061, 0.792] n=3 |" in first
    assert "=evil\\|x" in second


def test_csv_has_value_low_high_and_n_of_every_metric(folders: list[Path]) -> None:
    first, second = csv.DictReader(io.StringIO(report(folders, "csv")))
    assert (first["split"], first["products"], first["panel_digest"]) == ("test", "1000", "d" * 16)
    assert (first["success"], first["success_n"]) == (str(1 / 3), "3")
    assert (first["purchase_rate"], second["purchase_rate"], second["purchase_rate_n"]) == ("1.0", "", "0")
    assert (second["score"], second["score_low"]) == ("0.0", "")


def test_csv_gives_a_spreadsheet_no_formula(folders: list[Path]) -> None:
    assert list(csv.DictReader(io.StringIO(report(folders, "csv"))))[1]["policy"] == "'=evil|x"


def test_json_is_a_list_of_runs(folders: list[Path]) -> None:
    first, second = json.loads(report(folders, "json"))
    assert first["metrics"]["score"]["n"] == 3
    assert second["complete"] is True


@pytest.mark.parametrize("format", ["markdown", "csv", "json"])
def test_the_same_folders_give_the_same_bytes(folders: list[Path], format: str) -> None:
    assert report(folders, format) == report(map(str, folders), format)


def test_the_product_count_is_found_one_level_down(tmp_path: Path, plan: Callable[..., Plan]) -> None:
    Evaluation(plan(description={"catalogue": {"products": 7}}), Records()).save(tmp_path / "run")
    assert json.loads(report([tmp_path / "run"], "json"))[0]["products"] == 7


def test_an_unknown_format_is_refused(folders: list[Path]) -> None:
    with pytest.raises(UnknownName, match="markdown"):
        report(folders, "markdwn")


def test_no_folder_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        report([])


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingData):
        report([tmp_path])
