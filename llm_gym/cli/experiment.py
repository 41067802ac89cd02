"""`llm-gym experiment`: a table of a paper, played and printed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional, UseAppendAction, arg

from llm_gym.cli.keywords import Pairs, fitted, flat, pairs
from llm_gym.cli.making import environment_class, make_policy
from llm_gym.cli.terminal import FAILED, INTERRUPTED, OK, Terminal
from llm_gym.data import write_atomically
from llm_gym.errors import InvalidSetting, LLMGymError
from llm_gym.evaluation.access import writing
from llm_gym.evaluation.records import Row
from llm_gym.experiments import EXPERIMENTS
from llm_gym.experiments.clients import CALLS, kept, named
from llm_gym.experiments.declaration import Cell, Choices, Experiment, Grid
from llm_gym.experiments.forecast import forecasts, told
from llm_gym.experiments.grid import Progress as Heard
from llm_gym.experiments.grid import Result, play
from llm_gym.experiments.ledger import Spent, spent_in
from llm_gym.experiments.report import Report, report
from llm_gym.llm import ChatClient, Prices
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.agents.clients import SCRIPTED
from llm_gym.policies.base import Policy
from llm_gym.registry import policies

REPORT = "report.md"
_AGENT_FLAG = "--agent-set"


@dataclass(frozen=True)
class RunExperiment:
    """Play a table of a paper, beside the published one.

    The paper is Additional Opinions (arXiv:2306.02224): agents alone and with opinions, in the shop and in the house.

    Every row of the table is a run folder below --out, and all of them share one cache of answers there: the same
    command again goes on where it was, and asks nothing when all is there. The numbers do not depend on --jobs and
    --concurrency.

    Examples:
    $ llm-gym experiment opinions-webshop --model scripted -n 50 --jobs 2 --out tables/webshop
    $ llm-gym experiment opinions-webshop --model gpt-4o-mini --dry-run
    $ llm-gym experiment opinions-webshop --model gpt-4o-mini --budget-usd 5 --concurrency 16 --out tables/mini
    $ llm-gym experiment opinions-alfworld --model qwen --base-url http://127.0.0.1:8080/v1 --no-key --out tables/qwen
    $ llm-gym experiment opinions-alfworld --preset paper --set games=official --out tables/paper

    Exit code: 0 done, 1 done but some episodes ended in an error, 2 could not be done, 130 interrupted.
    """

    name: Positional[Literal["opinions-webshop", "opinions-alfworld"]]
    """Table 1 or table 2 of the paper."""
    out: Annotated[Path | None, arg(metavar="DIR", help_behavior_hint="(needed but for --dry-run)")] = None
    """Folder of the experiment."""
    model: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME")] = ()
    """A model; once for each. "scripted", the default, is one of the package that needs no network."""
    base_url: Annotated[str | None, arg(metavar="URL", help_behavior_hint="(default: OpenAI's)")] = None
    """Endpoint of the models, the address before /chat/completions."""
    key_variable: Annotated[str, arg(metavar="NAME")] = "OPENAI_API_KEY"
    """Environment variable that holds the key."""
    no_key: bool = False
    """Send no key, as local servers like it."""
    timeout_s: Annotated[float, arg(metavar="S")] = 60.0
    """How long an answer may take."""
    tasks: Annotated[
        int | None, arg(aliases=["-n"], metavar="N", help_behavior_hint="(default: 50, or 134 games, as the paper)")
    ] = None
    """Number of tasks, from the first of the panel."""
    jobs: Annotated[int, arg(metavar="N")] = 1
    """Processes."""
    concurrency: Annotated[int, arg(metavar="N")] = 1
    """Episodes in flight in each process, where a model is asked."""
    seed: int = 0
    """Of everything random."""
    expert: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="(default: lexical read=1, or expert)")] = None
    """Whose opinions are shown: a policy of `llm-gym list policies`, or module:Class."""
    expert_set: Pairs = ()
    """Keywords of that expert."""
    agent: Annotated[str, arg(metavar="NAME")] = "autogpt"
    """Who asks the models: autogpt, react or tools."""
    agent_set: Pairs = ()
    """Keywords of the agent, such as temperature=1."""
    set: Pairs = ()
    """Keywords of the environment, such as catalogue=DIR or games=official."""
    preset: Literal["none", "paper"] = "none"
    """"paper" repeats all accidents of the published set-up."""
    accident: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME")] = ()
    """One of these accidents; once for each. The report names them all."""
    budget_usd: Annotated[float | None, arg(metavar="X", help_behavior_hint="(default: any)")] = None
    """Dollars that the whole experiment may cost, with what --out has cost already."""
    prices: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: the package's)")] = None
    """Price table, for models that the package has no price of."""
    dry_run: bool = False
    """Ask nothing: tell how many calls there would be, and an estimate of tokens and cost."""

    def run(self, terminal: Terminal) -> int:
        experiment, prices = EXPERIMENTS[self.name], self._prices()
        grid = experiment.grid(self._choices(experiment))
        if self.dry_run:
            return self._forecast(grid, prices, terminal)
        if self.out is None:
            raise InvalidSetting("--out DIR is needed: it keeps what is paid for.")
        with writing(self.out):
            self.out.mkdir(parents=True, exist_ok=True)
        before = spent_in(self.out / CALLS)
        clients = {name: kept(client, self.out, prices, self.budget_usd) for name, client in self._clients().items()}
        results = self._played(grid, clients, self.out, terminal)
        if results is None:
            return INTERRUPTED
        made = report(grid, results, experiment.accidents, self._accidents(experiment))
        return self._told(made, results, before, self.out, terminal)

    def _told(self, made: Report, results: list[Result], before: Spent, out: Path, terminal: Terminal) -> int:
        with writing(out):
            write_atomically(out / REPORT, made.markdown().encode())
        terminal.say(made.text())
        terminal.note(f"The report is in {out / REPORT}. {_calls(before, spent_in(out / CALLS))}")
        return FAILED if any(result.evaluation.errors for result in results) else OK

    def _played(
        self, grid: Grid, clients: Mapping[str, ChatClient], out: Path, terminal: Terminal
    ) -> list[Result] | None:
        """The results, or None after Ctrl-C, when how to go on has been told."""
        results: list[Result] = []
        try:
            with ExitStack() as stack:
                heard = _bars(grid, terminal, stack)
                counts = {"jobs": self.jobs, "concurrency": self.concurrency, "seed": self.seed}
                results.extend(play(grid, clients, out, progress=heard, **counts))
        except KeyboardInterrupt:
            terminal.note(f"Interrupted. {self._kept(grid, results, out, terminal)}")
            return None
        except LLMGymError:
            terminal.note(f"Stopped. {self._kept(grid, results, out, terminal)}")
            raise
        return results

    def _kept(self, grid: Grid, results: list[Result], out: Path, terminal: Terminal) -> str:
        rows = f"{len(results)} of {len(grid.cells)} rows are finished"
        return f"{rows}; {out} keeps them and what was begun. To go on:\n  {terminal.command}"

    def _forecast(self, grid: Grid, prices: Prices, terminal: Terminal) -> int:
        found = forecasts(grid, self._clients(), prices, self.out)
        terminal.say(f"{grid.name}: {len(grid.cells)} rows of {grid.tasks} tasks; {len(found)} of them ask a model.")
        terminal.say(told(found).text())
        terminal.note(
            "Nothing was asked. Calls: if every episode goes to its last step and every reply holds a command. Tokens: "
            "if all prompts were as short as the first of an episode, or as long as a prompt may be; replies of 150. "
            f"Prices of {prices.date}."
        )
        return OK

    def _choices(self, experiment: Experiment) -> Choices:
        kind = policies.load(self.agent)
        if not (isinstance(kind, type) and issubclass(kind, AgentPolicy)):
            raise InvalidSetting(f"--agent {self.agent} asks no model. Choose autogpt, react or tools.")
        if self.tasks is not None and self.tasks < 1:
            raise InvalidSetting(f"-n must be 1 or more, got {self.tasks}.")
        given = pairs(flat(self.agent_set), _AGENT_FLAG)
        if fixed := sorted({"model", "base_url", "key_variable", "step_limit"} & given.keys()):
            raise InvalidSetting(f"{_AGENT_FLAG} {fixed[0]} is no choice here: the experiment sets it.")
        agent = fitted(kind, {"model": SCRIPTED, **given}, self.agent, _AGENT_FLAG)
        del agent["model"]
        short = experiment.environment.rpartition("/")[2]
        world = fitted(environment_class(experiment.environment), pairs(flat(self.set), "--set"), short, "--set")
        return Choices(
            models=self._models,
            tasks=self.tasks,
            expert=self._expert(),
            agent=self.agent,
            agent_settings=agent,
            world=world,
            accidents=self._accidents(experiment),
        )

    def _expert(self) -> Policy | None:
        if self.expert is not None:
            return make_policy(self.expert, flat(self.expert_set), "--expert-set")
        if self.expert_set:
            raise InvalidSetting("--expert-set needs --expert NAME.")
        return None

    @property
    def _models(self) -> tuple[str, ...]:
        return self.model or (SCRIPTED,)

    def _accidents(self, experiment: Experiment) -> frozenset[str]:
        every = experiment.accidents if self.preset == "paper" else ()
        return frozenset({*self.accident, *every})

    def _clients(self) -> dict[str, ChatClient]:
        key = None if self.no_key else self.key_variable
        return {name: named(name, self.base_url, key, self.timeout_s) for name in self._models}

    def _prices(self) -> Prices:
        return Prices.shipped() if self.prices is None else Prices.read(self.prices)


def _calls(before: Spent, after: Spent) -> str:
    """What this run has asked for, and what the folder has cost from its beginning."""
    cost = "an unknown sum" if after.cost_usd is None else f"${after.cost_usd:.4f}"
    return f"{after.calls - before.calls:,} calls now; {after.calls:,} in all, for {cost}."


def _bars(grid: Grid, terminal: Terminal, stack: ExitStack) -> Heard | None:
    """A bar for each row of the table, if somebody watches."""
    if not terminal.interactive:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = stack.enter_context(Progress(*columns, console=terminal.err))
    bars: dict[str, Any] = {}

    def hear(cell: Cell, row: Row) -> None:
        if cell.label not in bars:
            bars[cell.label] = bar.add_task(cell.label, total=grid.tasks)
        bar.advance(bars[cell.label])

    return hear
