"""The result of an evaluation: episodes, and metrics with intervals."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from llm_gym.envs.base import TaskPanel
from llm_gym.errors import InvalidSetting, suggestion
from llm_gym.evaluation import comparison, metrics
from llm_gym.evaluation.comparison import Comparison
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.metrics import Clusters
from llm_gym.evaluation.opinions import OpinionUse, opinion_use
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Records, Row, clusters_of
from llm_gym.evaluation.store import read_plan, read_records, save
from llm_gym.evaluation.tables import Table, estimate_cells, printable


class Evaluation:
    """Episodes of one plan with their metrics, each an `Estimate` (a float with a 95 % interval).

    `evaluation.metrics` has all of them by name; each is an attribute too, the environment's own included
    (`evaluation.purchase_rate` on WebShop). What the names mean is told by `llm_gym.evaluation.metrics.all_metrics`.
    """

    def __init__(self, plan: Plan, records: Records, clusters: Clusters = metrics.BY_TASK) -> None:
        self.plan = plan
        self.records = records
        self._clusters = clusters

    @classmethod
    def load(cls, folder: str | Path) -> Evaluation:
        """Read a run folder, finished or not; executes nothing that is in it.

        Raises:
            MissingData: no run folder.
            BadRecord: a file is malformed; the message names file and line.
        """
        path = Path(folder)
        return cls(read_plan(path), read_records(path))

    def save(self, folder: str | Path) -> None:
        """Write a run folder, the same as `evaluate(out=folder)` leaves.

        Raises:
            RunFolderError: the folder holds other files or cannot be written; PlanMismatch: another plan's results.
        """
        save(Path(folder), self.plan, self.records)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of `episodes.jsonl`: one an episode, its steps in `trajectory`."""
        return self.records.episodes

    @property
    def failures(self) -> tuple[Row, ...]:
        """Tracebacks of the episodes that ended by an exception."""
        return self.records.failures

    @property
    def n(self) -> int:
        """Number of tasks that were played."""
        return len({row["task_id"] for row in self.rows})

    @property
    def complete(self) -> bool:
        """Whether every attempt of the plan was played; not so while a run goes on, or after it was interrupted."""
        return len(metrics.attempts(self.rows)) == self.plan.n * self.plan.repeats

    @property
    def clusters(self) -> int | None:
        """Number of clusters that the intervals take together; None: tasks count as independent, see `clustered`."""
        return (
            len({self._clusters.get(row["task_id"], row["task_id"]) for row in self.rows}) if self._clusters else None
        )

    def clustered(self) -> Evaluation:
        """The same episodes with intervals that take the tasks of one cluster (in WebShop: one product) together.

        Such tasks are not independent, so that these intervals are wider and right; those of `metrics` are the ones
        that published tables have.

        Raises:
            InvalidSetting: the rows name no cluster.
        """
        clusters = clusters_of(self.rows)
        if not clusters:
            raise InvalidSetting(
                "These episodes name no clusters: their environment has none, or they were played before it told them."
            )
        return Evaluation(self.plan, self.records, clusters)

    def subset(self, task_ids: Iterable[str]) -> Evaluation:
        """The episodes of some tasks, as if only these had been played; tasks that were not played are left out.

        Raises:
            InvalidSetting: none of them was played.
        """
        wanted = frozenset(task_ids)
        records = self.records.of_tasks(wanted)
        kept = dict.fromkeys(row["task_id"] for row in records.episodes)
        if not kept:
            raise InvalidSetting(f"None of these {len(wanted):,} tasks was played.")
        part = TaskPanel(f"part of {self.plan.panel['name']}", kept)
        panel = {"name": part.name, "digest": part.digest, "size": len(part)}
        return Evaluation(replace(self.plan, panel=panel, n=len(part)), records, self._clusters)

    @cached_property
    def metrics(self) -> Mapping[str, Estimate]:
        return metrics.all_metrics(self.rows, self.records.timings, self._clusters)

    @property
    def success(self) -> Estimate:
        """Share of attempts that reached the goal, in [0, 1]."""
        return self.metrics["success"]

    @property
    def score(self) -> Estimate:
        """Mean return on the papers' scale, 0 to 100."""
        return self.metrics["score"]

    @property
    def precision(self) -> Estimate:
        """Success among the attempts that were finished (bought, where one buys), in [0, 1]."""
        return self.metrics["precision"]

    @property
    def completion_rate(self) -> Estimate:
        """Share of attempts ended by the task or the agent, in [0, 1]."""
        return self.metrics["completion_rate"]

    @property
    def steps(self) -> Estimate:
        """Mean number of actions."""
        return self.metrics["steps"]

    @property
    def invalid_actions(self) -> Estimate:
        """Mean number of actions that were not possible."""
        return self.metrics["invalid_actions"]

    @property
    def seconds(self) -> Estimate:
        """Mean wall time of an attempt, its trials added up."""
        return self.metrics["seconds"]

    @property
    def errors(self) -> int:
        """Number of attempts that ended by an exception; they count as failures."""
        return metrics.errors(self.rows)

    @cached_property
    def success_by_trial(self) -> tuple[Estimate, ...]:
        """Share of attempts that succeeded in the first k trials, k = 1 … trials."""
        return tuple(metrics.success_by_trial(self.rows, self.plan.trials, self._clusters))

    @cached_property
    def by_category(self) -> Mapping[str, Mapping[str, Estimate]]:
        """`success`, `score` and `steps` of each category; empty when all tasks have the same.

        In the order of `categories` in the environment's description, if it has one, else of the alphabet.
        """
        named = self.plan.description.get("categories")
        order = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        return metrics.by_category(self.rows, order, self._clusters)

    @cached_property
    def opinions(self) -> OpinionUse | None:
        """What became of the opinions that the policy was shown; None where there were none."""
        return opinion_use(self.rows, self._clusters)

    def compare(self, other: Evaluation, *, clustered: bool = False) -> Comparison:
        """Pair with another policy's evaluation, task by task, on the tasks that both played.

        Args:
            other: whose results are subtracted.
            clustered: take the tasks of one cluster together, as `clustered()` does; always so on a clustered one.

        Raises:
            InvalidSetting: the two were not played on the same tasks of the same world, or the rows name no cluster.
        """
        mine = self.clustered() if clustered else self
        return comparison.compare((self.plan, self.rows), (other.plan, other.rows), mine._clusters)

    def to_dict(self) -> dict[str, Any]:
        """Plan and metrics as JSON; without the episodes."""
        return {
            "plan": self.plan.to_dict(),
            "fingerprint": self.plan.fingerprint,
            "complete": self.complete,
            "errors": self.errors,
            **({} if self.clusters is None else {"clusters": self.clusters}),
            "metrics": metrics.metrics_as_json(self.metrics),
            "success_by_trial": [estimate.to_dict() for estimate in self.success_by_trial],
            "by_category": {name: metrics.metrics_as_json(row) for name, row in self.by_category.items()},
            "opinions": self.opinions.to_dict() if self.opinions is not None else None,
        }

    def __getattr__(self, name: str) -> Estimate:
        # Only for names that nothing else has. Underscored ones are asked for by copy and pickle before __init__ ran.
        if name.startswith("_") or "records" not in self.__dict__:
            raise AttributeError(name)
        if name in self.metrics:
            return self.metrics[name]
        raise AttributeError(f"An evaluation has no {name!r}. {suggestion(name, list(self.metrics))}")

    def __str__(self) -> str:
        return "\n".join([*self._heading(), *(table.text() for table in self._tables()), *self._remarks()])

    def _repr_html_(self) -> str:
        heading, *rest = self._heading()
        paragraphs = "".join(f"<div>{html.escape(line)}</div>" for line in rest)
        tables = "".join(table.html() for table in self._tables())
        remarks = "".join(f"<div>{html.escape(line)}</div>" for line in self._remarks())
        return f"<div><strong>{html.escape(heading)}</strong>{paragraphs}{tables}{remarks}</div>"

    def __repr__(self) -> str:
        return printable(f"<Evaluation {self.plan.policy['name']} on {self.plan.environment['id']}: {self.success!r}>")

    def _heading(self) -> list[str]:
        plan = self.plan
        wrapped = "".join(f" + {wrapper.get('name')}" for wrapper in plan.environment.get("wrappers", []))
        counts = [
            f"panel {plan.panel['name']} {plan.panel['digest']}",
            f"{plan.n:,} of {plan.panel.get('size', 0):,} tasks",
            *([f"{plan.repeats} repeats"] if plan.repeats > 1 else []),
            *([f"up to {plan.trials} trials"] if plan.trials > 1 else []),
            f"seed {plan.seed}",
        ]
        lines = [f"{plan.policy['name']} on {plan.environment['id']}{wrapped}", " · ".join(counts)]
        described = " · ".join(described_parts(plan.description))
        return [printable(line) for line in (*lines, described) if line]

    def _tables(self) -> Iterator[Table]:
        digits = {"score": 1, "steps": 1}
        rows = tuple((name, *estimate_cells(value, digits.get(name, 3))) for name, value in self.metrics.items())
        yield Table(("metric", "value", "95 % interval", "n"), rows)
        if self.plan.trials > 1:
            trials = enumerate(self.success_by_trial, start=1)
            yield Table(
                ("trials", "success", "95 % interval", "n"),
                tuple((str(number), *estimate_cells(value)) for number, value in trials),
            )
        if self.by_category:
            columns = ("category", "success", "95 % interval", "n", "score", "95 % interval", "steps", "95 % interval")
            yield Table(
                columns,
                tuple(
                    (
                        name or "(none)",
                        *estimate_cells(row["success"]),
                        *estimate_cells(row["score"], 1)[:2],
                        *estimate_cells(row["steps"], 1)[:2],
                    )
                    for name, row in self.by_category.items()
                ),
            )
        if self.opinions is not None:
            yield from self.opinions.tables()

    def _remarks(self) -> list[str]:
        remarks = []
        if self.clusters is not None:
            remarks.append(
                f"The intervals take the tasks of one cluster together: {self.n} tasks, {self.clusters} clusters."
            )
        total = self.plan.n * self.plan.repeats
        if self.errors:
            remarks.append(f"{self.errors} of {total} attempts ended in an error: failures, told in failures.jsonl.")
        if not self.complete:
            played = len(metrics.attempts(self.rows))
            remarks.append(f"Not finished: {played} of {total} attempts. Run the same plan again to resume.")
        return remarks


def described_parts(description: Mapping[str, Any]) -> list[str]:
    """What an environment says about itself, in words: `split test`, `products 1,000`. Nested parts are left out."""
    return [
        f"{key.replace('_', ' ')} {value:,}" if type(value) is int else f"{key.replace('_', ' ')} {value}"
        for key, value in description.items()
        if isinstance(value, (str, int, float)) and value != ""
    ]
