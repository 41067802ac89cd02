"""One row a run: the table of a paper, from run folders."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.tables import Table, estimate_cells, printable

FORMATS = ("markdown", "json", "csv")

_FACTS = (
    "run",
    "environment",
    "wrappers",
    "split",
    "products",
    "panel_digest",
    "policy",
    "tasks",
    "clusters",
    "repeats",
    "trials",
    "seed",
    "errors",
    "complete",
    "fingerprint",
)
_NOT_SHOWN = frozenset({"repeats", "trials", "seed", "complete", "fingerprint"})
"""Facts that Markdown leaves out."""


def report(folders: Iterable[str | Path], format: str = "markdown", *, clustered: bool = False) -> str:
    """The runs of some folders as one table, in the order given; the same folders give the same text.

    Args:
        folders: run folders, finished or not.
        format: "markdown" (every metric as `value [low, high] n`), "json" (a list of objects), or "csv" (four columns
            a metric: value, low, high, n). A metric that a run lacks stays empty.
        clustered: intervals take the tasks of one cluster together (`Evaluation.clustered`), and a column `clusters`
            says how many there are.

    Raises:
        UnknownName: no such format.
        InvalidSetting: no folder; or a run without clusters is to be clustered.
        MissingData, BadRecord: a folder is no run folder, or malformed.
    """
    if format not in FORMATS:
        raise UnknownName("report format", format, FORMATS)
    loaded = ((Path(folder), Evaluation.load(folder)) for folder in folders)
    runs = [(path, evaluation.clustered() if clustered else evaluation) for path, evaluation in loaded]
    if not runs:
        raise InvalidSetting("A report needs one run folder at least.")
    rows = [(_facts(path, evaluation), evaluation) for path, evaluation in runs]
    if format == "json":
        return _json(rows)
    return _csv(rows) if format == "csv" else _markdown(rows)


Rows = list[tuple[dict[str, Any], Evaluation]]


def _facts(path: Path, evaluation: Evaluation) -> dict[str, Any]:
    plan = evaluation.plan
    return {
        "run": path.resolve().name,
        "environment": plan.environment["id"],
        "wrappers": " + ".join(str(wrapper.get("name")) for wrapper in plan.environment.get("wrappers", [])),
        "split": _anywhere(plan.description, "split", plan.panel["name"]),
        "products": _anywhere(plan.description, "products", None),
        "panel_digest": plan.panel["digest"],
        "policy": plan.policy["name"],
        "tasks": evaluation.n,
        **({} if evaluation.clusters is None else {"clusters": evaluation.clusters}),
        "repeats": plan.repeats,
        "trials": plan.trials,
        "seed": plan.seed,
        "errors": evaluation.errors,
        "complete": evaluation.complete,
        "fingerprint": plan.fingerprint,
    }


def _anywhere(description: Mapping[str, Any], key: str, otherwise: Any) -> Any:
    """A value of the description by its key, also one level down (`catalogue.products`)."""
    for part in (description, *(value for value in description.values() if isinstance(value, Mapping))):
        if isinstance(part.get(key), (str, int)):
            return part[key]
    return otherwise


def _metric_names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for _, evaluation in rows for name in evaluation.metrics))


def _json(rows: Rows) -> str:
    content = [{**facts, "metrics": evaluation.to_dict()["metrics"]} for facts, evaluation in rows]
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _csv(rows: Rows) -> str:
    names, told = _metric_names(rows), [name for name in _FACTS if name in rows[0][0]]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    bounds = [f"{name}{part}" for name in names for part in ("", "_low", "_high", "_n")]
    writer.writerow([_csv_cell(cell) for cell in (*told, *bounds)])
    for facts, evaluation in rows:
        cells: list[Any] = [facts[name] for name in told]
        for name in names:
            estimate = evaluation.metrics.get(name)
            cells += ["", "", "", 0] if estimate is None else list(estimate.to_dict().values())
        writer.writerow([_csv_cell(cell) for cell in cells])
    return file.getvalue()


def _csv_cell(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if isinstance(cell, str):
        text = printable(cell)
        return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
    return cell


def _markdown(rows: Rows) -> str:
    names = _metric_names(rows)
    facts_shown = [
        name
        for name in _FACTS
        if name not in _NOT_SHOWN and any(facts.get(name) not in (None, "") for facts, _ in rows)
    ]
    return (
        Table(
            (*(name.replace("_", " ") for name in facts_shown), *(name.replace("_", " ") for name in names)),
            tuple(
                (
                    *(_markdown_fact(facts[name]) for name in facts_shown),
                    *(_markdown_metric(evaluation, name) for name in names),
                )
                for facts, evaluation in rows
            ),
        ).markdown()
        + "\n"
    )


def _markdown_fact(value: Any) -> str:
    return "" if value is None else f"{value:,}" if type(value) is int else str(value)


def _markdown_metric(evaluation: Evaluation, name: str) -> str:
    estimate = evaluation.metrics.get(name)
    if estimate is None or estimate.n == 0:
        return "–"
    value, interval, n = estimate_cells(estimate, 1 if name == "score" else 3)
    return f"{value} [{interval.replace(' to ', ', ')}] n={n}"
