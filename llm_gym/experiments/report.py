"""The table of an experiment: ours, what opinions do, and the published numbers beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from llm_gym.evaluation.comparison import ALPHA, Comparison
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.evaluation import described_parts
from llm_gym.evaluation.paper_accounting import Accounting, both_accountings
from llm_gym.evaluation.records import Row
from llm_gym.evaluation.tables import Table, printable
from llm_gym.experiments.declaration import Grid
from llm_gym.experiments.grid import Result
from llm_gym.experiments.published import published


@dataclass(frozen=True, slots=True)
class _Effect:
    """A row against another one of the same model."""

    label: str
    against: str
    compared: Comparison


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report: a heading, a table, and sentences below it."""

    heading: str
    table: Table | None = None
    sentences: tuple[str, ...] = ()

    def text(self) -> str:
        table = [self.table.text()] if self.table is not None else []
        return "\n".join([self.heading, *table, *(f"- {printable(sentence)}" for sentence in self.sentences)])

    def markdown(self) -> str:
        table = [self.table.markdown()] if self.table is not None else []
        sentences = "\n".join(f"- {printable(sentence)}" for sentence in self.sentences)
        return "\n\n".join(filter(None, [f"## {self.heading}", *table, sentences]))


@dataclass(frozen=True, slots=True)
class Report:
    """What is printed, and written to `report.md`. The same results give the same bytes."""

    heading: str
    sections: tuple[Section, ...]

    def text(self) -> str:
        return "\n\n".join([self.heading, *(section.text() for section in self.sections)])

    def markdown(self) -> str:
        return "\n\n".join([f"# {self.heading}", *(section.markdown() for section in self.sections)]) + "\n"


def report(grid: Grid, results: Sequence[Result], accidents: Mapping[str, str], repeated: frozenset[str]) -> Report:
    """The report of a grid.

    Args:
        grid: that was played.
        results: of all its cells.
        accidents: of the published set-up, name → sentence.
        repeated: those that this grid repeats.
    """
    agents = [result for result in results if result.cell.model is not None]
    effects = list(_effects(grid, {result.cell.label: result for result in results}))
    sections = [
        Section("Results", _results(grid, results), tuple(_errors(results))),
        Section("Steps and cost", _costs(results)),
        Section("What opinions do, task by task", _effect_table(effects), tuple(_told_apart(effects))),
        Section("How often they were taken", _agreement(agents)),
        Section("Both accountings", _accountings(grid, agents), (_about_accountings(grid),)),
        Section("Accidents of the published set-up", sentences=tuple(_accidents(accidents, repeated))),
        *_published(grid),
    ]
    return Report(_heading(grid, results), tuple(sections))


def _heading(grid: Grid, results: Sequence[Result]) -> str:
    plan = results[0].evaluation.plan
    described = described_parts(plan.description)
    counts = [f"{plan.n} tasks of panel {plan.panel['name']} {plan.panel['digest']}", f"seed {plan.seed}"]
    who = [f"agent {grid.agent}", *(f"{name} {value}" for name, value in grid.agent_settings.items())]
    return printable(" · ".join([grid.name, grid.environment, *counts, *who, f"expert {grid.expert}", *described]))


def _results(grid: Grid, results: Sequence[Result]) -> Table:
    finished = grid.finished
    return Table(
        ("policy", "success", "score", "precision", finished.replace("_", " ")),
        tuple(
            (
                result.cell.label,
                _shown(result.evaluation.success),
                _shown(result.evaluation.score, 1),
                _shown(result.evaluation.precision),
                _shown(result.evaluation.metrics[finished]),
            )
            for result in results
        ),
    )


def _errors(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        if result.evaluation.errors:
            first = next(row["error"] for row in result.evaluation.rows if row["ended_by"] == "error")
            yield f"{result.cell.label}: {result.evaluation.errors} episodes ended in an error; the first: {first}"


def _costs(results: Sequence[Result]) -> Table:
    rows = []
    for result in results:
        rows_of_cell = result.evaluation.rows
        costs = [usage[2] for usage in _usages(rows_of_cell)]
        cost = "unknown" if None in costs else f"{math.fsum(costs):.4f}"
        numbers = [str(sum(usage[position] for usage in _usages(rows_of_cell))) for position in (0, 1)]
        asks = result.cell.model is not None
        steps, invalid = result.evaluation.steps, result.evaluation.invalid_actions
        spent = [f"{int(number):,}" for number in numbers] + [cost] if asks else ["–"] * 3
        count = str(result.evaluation.n)
        rows.append((result.cell.label, count, _shown(steps, 1), f"{float(invalid):.2f}", *spent))
    columns = ("policy", "n", "steps", "invalid of them", "tokens read", "tokens written", "cost in $")
    return Table(columns, tuple(rows))


def _usages(rows: Sequence[Row]) -> list[list[float]]:
    return [step["usage"] for row in rows for step in row["trajectory"] if "usage" in step]


def _effects(grid: Grid, results: Mapping[str, Result]) -> Iterator[_Effect]:
    for cell, against in grid.pairs():
        compared = results[cell.label].evaluation.compare(results[against.label].evaluation)
        yield _Effect(cell.label, "alone" if against.opinions is None else f"+ {against.opinions.label}", compared)


def _effect_table(effects: Sequence[_Effect]) -> Table:
    rows = [
        (
            effect.label,
            effect.against,
            _shown(effect.compared.success, sign="+"),
            _p(effect.compared.success_p),
            _shown(effect.compared.score, 1, sign="+"),
            _p(effect.compared.score_p),
        )
        for effect in effects
    ]
    return Table(("policy", "against", "success", "p", "score", "p"), tuple(rows))


def _told_apart(effects: Sequence[_Effect]) -> Iterator[str]:
    for effect in effects:
        compared = effect.compared
        if compared.success_p >= ALPHA and compared.tasks_needed is not None:
            needed = max(compared.tasks_needed, compared.tasks + 1)
            yield (
                f"{effect.label} against {effect.against}: {compared.tasks} tasks cannot tell them apart by success; "
                f"if the observed difference is the true one, about {needed:,} would (80 % power)."
            )


def _agreement(agents: Sequence[Result]) -> Table:
    columns = ("policy", "the first", "any of them", "after disagreement", "won if taken", "if not")
    rows = []
    for result in agents:
        use = result.evaluation.opinions
        if use is not None:
            rates = map(_shown, (use.agreement_first, use.agreement_any, use.uptake))
            rows.append((result.cell.label, *rates, *map(_with_n, (use.success_followed, use.success_not_followed))))
    return Table(columns, tuple(rows))


def _accountings(grid: Grid, agents: Sequence[Result]) -> Table:
    rows = []
    for result in agents:
        both = both_accountings(result.evaluation.rows, result.cell.steps, grid.asked_after_end)
        for name, one in zip(("world", "authors"), both, strict=True):
            rows.append((result.cell.label, name, *_accounted(one)))
    return Table(
        ("policy", "counted by", "success", "score", "precision", grid.finished.replace("_", " ")), tuple(rows)
    )


def _accounted(one: Accounting) -> tuple[str, ...]:
    shares = (one.success, one.reward, one.precision, one.finished)
    return tuple(_bare(share, 1 if share is one.reward else 3) for share in shares)


def _about_accountings(grid: Grid) -> str:
    known = "The model was asked once more after the end, so its last reply is known."
    taken = (
        "The model was not asked after the end; that reply is taken to be finish, so this is the most they would count."
    )
    return (
        "The authors counted an episode as finished only if the last reply was the command finish: "
        f"one that ends at the last loop is lost. {known if grid.asked_after_end else taken}"
    )


def _accidents(accidents: Mapping[str, str], repeated: frozenset[str]) -> Iterator[str]:
    for name, sentence in accidents.items():
        yield f"{name}, {'REPEATED' if name in repeated else 'not repeated'}: {sentence}"


def _published(grid: Grid) -> Iterator[Section]:
    known = published(grid.name)
    yield Section(f"PUBLISHED, not measured here: {known.source}", known.results, known.notes)
    yield Section("PUBLISHED, not measured here: agreement with the opinions", known.agreement)


def _shown(estimate: Estimate, digits: int = 3, sign: str = "") -> str:
    """`0.240 [0.14, 0.37]`."""
    if estimate.n == 0:
        return "–"
    value = f"{float(estimate):{sign}.{digits}f}"
    if math.isnan(estimate.low):
        return f"{value} [unknown]"
    bound = min(digits, 2)
    return f"{value} [{estimate.low:.{bound}f}, {estimate.high:.{bound}f}]"


def _bare(estimate: Estimate, digits: int) -> str:
    return "–" if estimate.n == 0 else f"{float(estimate):.{digits}f}"


def _with_n(estimate: Estimate) -> str:
    return "–" if estimate.n == 0 else f"{float(estimate):.2f} n={estimate.n}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
