"""BUTLER's text agent as a student of DAgger (arXiv:2010.03768, section 4.1 and appendix B).

Axes: B excerpts, T moments of an excerpt, N moments learned from, D width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from llm_gym.data import atomic_path
from llm_gym.errors import InvalidSetting
from llm_gym.policies.butler.config import ButlerConfig
from llm_gym.policies.butler.generation import Reading, Writer, alike
from llm_gym.policies.butler.layers import masked_mean
from llm_gym.policies.butler.model import ButlerModel, Texts
from llm_gym.policies.butler.observation import RESTART, ObservationPool
from llm_gym.policies.butler.tokens import ButlerTokens
from llm_gym.training.dagger.butler_loss import Smoothing, smoothed_loss
from llm_gym.training.dagger.butler_replay import Excerpt, Ids, Moment, Replay, Trajectory
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen

_STATE: Final = "student.pt"
_REPLAY: Final = "replay.npz"


@dataclass(frozen=True)
class ButlerSchedule:
    """How the text agent learns; the defaults are the paper's where nothing else is said."""

    learning_rate: float = 1e-3
    """Of Adam at the beginning."""
    batch: int = 16
    """Excerpts of an update. The paper's are 64; with few, more is learned in the same time."""
    moments: int = 4
    """Of an excerpt."""
    burn_in: int = 2
    """So many of them only bring the recurrent state up to date, unless a game begins with them."""
    clip: float = 5.0
    """The longest gradient."""
    smoothing: float = 0.1
    """Of labels: weight of all that is not wanted."""
    kind: Smoothing = "standard"
    """Of smoothing; "original": inside the logarithm, as in the paper's code."""
    replay: int = 20_000
    """Games to learn from; the paper's 500,000 are more than a short training plays."""
    first: int = 32
    """Games that have to be played before it learns."""
    last_rate: float = 0.05
    """The learning rate falls along a cosine to this share of it; the paper's is constant."""

    def __post_init__(self) -> None:
        if self.moments <= self.burn_in or self.burn_in < 0:
            raise InvalidSetting(
                f"Of {self.moments} moments {self.burn_in} cannot be burnt in: something has to be learned from."
            )
        if not 0 <= self.smoothing < 1:
            raise InvalidSetting(f"smoothing must be from 0 to below 1, got {self.smoothing}.")


@dataclass(slots=True)
class _Game:
    """A game that is played."""

    pool: ObservationPool
    last: str = RESTART
    task: Ids | None = None
    seen: list[Ids] = field(default_factory=list)
    targets: list[Ids] = field(default_factory=list)


class _Part(NamedTuple):
    """Some of the moments that are learned from, read but not yet answered."""

    places: list[int]
    """Number of each, T first: moment × B + excerpt."""
    targets: list[Ids]
    seen: Texts
    aggregated: Tensor


class ButlerStudent:
    """The text agent, which plays greedily also while it learns.

    Args:
        tokens: its vocabulary, and
        table: the frozen embedding of each of its tokens, (V, embedding width).
        config: sizes of the model; its embedding width is the table's.
        schedule: how it learns.
        seed: of its first weights.
    """

    name = "butler"

    def __init__(
        self,
        tokens: ButlerTokens,
        table: Tensor,
        config: ButlerConfig | None = None,
        schedule: ButlerSchedule | None = None,
        seed: int = 0,
    ) -> None:
        self.schedule = schedule or ButlerSchedule()
        config = config or ButlerConfig(embedding_width=table.shape[1])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.writer = Writer(ButlerModel(config, table), tokens)
        self._optimiser = torch.optim.Adam(self.writer.model.parameters(), lr=self.schedule.learning_rate)
        self._replay = Replay(self.schedule.replay)
        self._places = np.random.default_rng(seed)
        """Which games make room for others."""
        self._games: list[_Game] = []
        self._hidden = torch.zeros(0, config.width)

    # -- playing -----------------------------------------------------------------------------------------------

    def begin(self, games: int) -> None:
        config = self.writer.model.config
        self._games = [_Game(ObservationPool(config.observations)) for _ in range(games)]
        self._hidden = torch.zeros(games, config.width)

    def act(self, seen: Sequence[Seen], rng: np.random.Generator, *, greedy: bool) -> list[str]:
        """The greedy command of each; nothing is drawn, as in the paper."""
        readings: list[Reading] = []
        for one in seen:
            game = self._games[one.slot]
            game.pool = game.pool.after(one.info.get("page", one.observation), game.last)
            readings.append(self.writer.reading(game.pool, one.info.get("goal", "")))
            game.task = _ids(readings[-1].task)
            game.seen.append(_ids(readings[-1].seen))
        slots = [one.slot for one in seen]
        commands, self._hidden[slots] = self.writer.commands(readings, self._hidden[slots])
        return commands

    def remember(self, lessons: Sequence[Lesson]) -> None:
        """The first of the teacher's commands is the one to be written."""
        tokens, longest = self.writer.tokens, self.writer.model.config.target_tokens
        for lesson in lessons:
            game = self._games[lesson.slot]
            game.last = lesson.played
            game.targets.append(_ids(tokens.target(lesson.labels[0], longest) if lesson.labels else ()))

    def end(self) -> None:
        for game in self._games:
            if game.task is not None and game.targets:
                moments = tuple(map(Moment, game.seen, game.targets))
                self._replay.add(Trajectory(game.task, moments), self._places)
        self._games = []

    # -- learning ----------------------------------------------------------------------------------------------

    def learn(self, rng: np.random.Generator, progress: float) -> float | None:
        schedule = self.schedule
        if len(self._replay) < schedule.first:
            return None
        excerpts = self._replay.draw(schedule.batch, schedule.moments, schedule.burn_in, rng)
        loss = self.loss(excerpts, rng)
        if not math.isfinite(loss.item()):
            raise LossNotFinite(loss.item())
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.writer.model.parameters(), schedule.clip)
        for group in self._optimiser.param_groups:
            group["lr"] = _rate(schedule, progress)
        self._optimiser.step()
        return loss.item()

    def loss(self, excerpts: Sequence[Excerpt], rng: np.random.Generator) -> Tensor:
        """Mean over the moments that are learned from; the teacher knew a command in one of them at least.

        Args:
            excerpts: B of them.
            rng: draws which layers are left out.
        """
        model = self.writer.model
        kept = _kept(model.encoder.layers, model.config.skip, rng)
        kept_writing = _kept(model.decoder.layers, model.config.skip, rng)
        tasks = self._padded([excerpt.task for excerpt in excerpts])
        parts, means = self._read(excerpts, tasks, model.encode(tasks, kept), kept)
        hidden = self._recur(excerpts, means)
        losses = [self._answered(part, hidden, kept_writing) for part in parts]
        known = sum(len(target) > 0 for part in parts for target in part.targets)
        return torch.cat(losses).sum() / max(known, 1)

    def _read(
        self, excerpts: Sequence[Excerpt], tasks: Texts, task_values: Tensor, kept: Sequence[bool]
    ) -> tuple[list[_Part], Tensor]:
        """Every moment; the parts to learn from, and the mean of each moment, (T × B, D), with a gradient for these."""
        model, width = self.writer.model, len(excerpts)
        parts: list[_Part] = []
        places: list[int] = []
        means: list[Tensor] = []
        for learned in (False, True):
            chosen = [
                (at * width + number, number, moment)
                for number, excerpt in enumerate(excerpts)
                for at, moment in enumerate(excerpt.moments)
                if (at >= excerpt.graded) == learned
            ]
            for rows in alike([len(moment.seen) for _, _, moment in chosen]):
                group = [chosen[row] for row in rows]
                numbers = [number for _, number, _ in group]
                with torch.set_grad_enabled(learned):
                    seen = self._padded([moment.seen for _, _, moment in group])
                    task = Texts(tasks.ids[numbers], tasks.mask[numbers])
                    aggregated = model.aggregate(seen, model.encode(seen, kept), task, task_values[numbers])
                    means.append(masked_mean(aggregated, seen.mask))
                places += [place for place, _, _ in group]
                if learned:
                    targets = [moment.target for _, _, moment in group]
                    parts.append(_Part([place for place, _, _ in group], targets, seen, aggregated))
        everything = torch.zeros(self.schedule.moments * width, model.config.width)
        return parts, everything.index_copy(0, torch.tensor(places), torch.cat(means))

    def _recur(self, excerpts: Sequence[Excerpt], means: Tensor) -> Tensor:
        """The recurrent state after every moment, (T × B, D); what comes before the graded moments gets no gradient."""
        model, width = self.writer.model, len(excerpts)
        hidden = torch.zeros(width, model.config.width)
        graded = torch.tensor([excerpt.graded for excerpt in excerpts])[:, None]
        states: list[Tensor] = []
        for at, mean in enumerate(torch.split(means, width)):
            hidden = torch.where(graded == at, hidden.detach(), hidden)
            hidden = model.recurrence(mean, hidden)
            states.append(hidden)
        return torch.cat(states)

    def _answered(self, part: _Part, hidden: Tensor, kept: Sequence[bool]) -> Tensor:
        """The loss of each moment, (N,); 0 where the teacher knew no command."""
        model, tokens, schedule = self.writer.model, self.writer.tokens, self.schedule
        memory = model.memory(part.seen, part.aggregated, hidden[part.places])
        targets = self._padded(part.targets)
        begin = torch.full((len(part.targets), 1), tokens.begin)
        shares = model.shares(memory, torch.cat([begin, targets.ids[:, :-1]], dim=1), kept)
        return smoothed_loss(shares, targets.ids, targets.mask, schedule.smoothing, schedule.kind)

    def _padded(self, texts: Sequence[Ids]) -> Texts:
        return self.writer.padded(texts)

    # -- files -------------------------------------------------------------------------------------------------

    def save_state(self, folder: Path) -> None:
        state = {
            "model": self.writer.model.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "places": self._places.bit_generator.state,
        }
        with atomic_path(folder / _STATE) as temporary:
            torch.save(state, temporary)
        self._replay.write(folder / _REPLAY)

    def load_state(self, folder: Path) -> None:
        state = torch.load(folder / _STATE, weights_only=True)
        self.writer.model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._places.bit_generator.state = state["places"]
        self._replay.read(folder / _REPLAY)

    def save(self, folder: Path) -> None:
        self.writer.save(folder, precision="float16")


def _ids(tokens: Sequence[int]) -> Ids:
    return np.array(tokens, np.uint16)


def _kept(layers: int, skip: float, rng: np.random.Generator) -> list[bool]:
    """Which layers are gone through in an update: the deeper, the more often it is left out."""
    drawn = rng.random(layers)
    return [bool(drawn[layer] >= skip * (layer + 1) / layers) for layer in range(layers)]


def _rate(schedule: ButlerSchedule, progress: float) -> float:
    """The learning rate, along a cosine."""
    fallen = (1 + math.cos(math.pi * min(max(progress, 0.0), 1.0))) / 2
    return schedule.learning_rate * (schedule.last_rate + (1 - schedule.last_rate) * fallen)
