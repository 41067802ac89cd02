"""A network learns two small worlds, goes on after a kill as if nothing had happened, and says what went wrong."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

for package in ("torch", "matplotlib"):
    pytest.importorskip(package, reason="needs the extra train")

import torch  # noqa: E402

from llm_gym.envs.base import panel_of  # noqa: E402
from llm_gym.errors import BadRecord, InvalidSetting, PlanMismatch  # noqa: E402
from llm_gym.policies.reinforcement.candidates import instruction_only  # noqa: E402
from llm_gym.policies.reinforcement.network import Judgement  # noqa: E402
from llm_gym.training.a2c.episodes import Course, Episodes  # noqa: E402
from llm_gym.training.a2c.loop import Trained, train  # noqa: E402
from llm_gym.training.a2c.playing import Segment, play_on  # noqa: E402
from llm_gym.training.a2c.settings import A2CSettings  # noqa: E402

pytestmark = pytest.mark.train

TASKS = [f"corridor-{number}" for number in range(30)]
SHORT = A2CSettings(updates=6, evaluate_every=2, learning_rate=1e-2, entropy_weight=3.0)
Look = Callable[[Any], Mapping[str, float]]


def corridor(limit: int = 8) -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0", length=3, max_episode_steps=limit)


@pytest.fixture
def look(greedy_look: Callable[..., Look]) -> Look:
    return greedy_look(corridor(), TASKS)


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, tiny_network: Callable[..., Any], greedy_look: Callable[..., Look]
) -> tuple[Path, Trained, Any]:
    """A training that nobody disturbed."""
    out, network = tmp_path_factory.mktemp("whole"), tiny_network()
    return out, train(network, Course(corridor, TASKS), greedy_look(corridor(), TASKS), SHORT, out), network


def same(one: Any, other: Any) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def rows(folder: Path, timed: bool = False) -> list[dict[str, Any]]:
    read = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if timed or name not in ("seconds", "spent")} for row in read]


# -- learning ------------------------------------------------------------------------------------------------------


def test_the_corridor_is_learned(tiny_network: Callable[..., Any], look: Look, tmp_path: Path) -> None:
    settings = dataclasses.replace(SHORT, updates=60, evaluate_every=10)
    network = tiny_network()
    assert look(network)["score"] < 0.5
    trained = train(network, Course(corridor, TASKS), look, settings, tmp_path)
    assert trained.measures["score"] == look(network)["score"] > 0.95


def test_a_shop_of_two_products_is_learned(
    tiny_network: Callable[..., Any],
    make_shop: Callable[[], gym.Env[str, str]],
    greedy_look: Callable[..., Look],
    tmp_path: Path,
) -> None:
    tasks = list(panel_of(make_shop()))
    look = greedy_look(make_shop(), tasks)
    network = tiny_network()
    settings = dataclasses.replace(SHORT, updates=60, evaluate_every=10)
    trained = train(network, Course(make_shop, tasks), look, settings, tmp_path)
    assert trained.measures["score"] == look(network)["score"] == 1


def test_the_best_action_but_for_a_share_explores_too(
    tiny_network: Callable[..., Any], look: Look, tmp_path: Path
) -> None:
    settings = dataclasses.replace(SHORT, exploration="epsilon", epsilon=0.3, updates=20, evaluate_every=20)
    trained = train(tiny_network(), Course(corridor, TASKS), look, settings, tmp_path)
    lengths = [length for row in rows(tmp_path) for length in row.get("lengths", ())]
    assert trained.updates == 20
    assert len(set(lengths)) > 1


def test_one_task_is_enough(tiny_network: Callable[..., Any], look: Look, tmp_path: Path) -> None:
    settings = dataclasses.replace(SHORT, environments=1, updates=2)
    assert train(tiny_network(), Course(corridor, TASKS[:1]), look, settings, tmp_path).updates == 2


def test_the_same_seed_gives_the_same_weights_and_another_others(
    whole: tuple[Path, Trained, Any], tiny_network: Callable[..., Any], look: Look, tmp_path: Path
) -> None:
    out, trained, network = whole
    again, other = tiny_network(), tiny_network()
    repeated = train(again, Course(corridor, TASKS), look, SHORT, tmp_path / "again")
    train(other, Course(corridor, TASKS), look, dataclasses.replace(SHORT, seed=1), tmp_path / "other")
    assert dataclasses.replace(repeated, seconds=0) == dataclasses.replace(trained, seconds=0)
    assert rows(tmp_path / "again") == rows(out) != rows(tmp_path / "other")
    assert same(again, network)


def test_an_update_moves_every_weight_but_the_frozen_ones(
    tiny_network: Callable[..., Any], look: Look, tmp_path: Path
) -> None:
    network = tiny_network()
    network.words.weight.requires_grad_(False)
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    scored = iter(range(100))
    settings = dataclasses.replace(SHORT, updates=3, evaluate_every=3)
    train(network, Course(corridor, TASKS), lambda _: {"score": float(next(scored))}, settings, tmp_path)
    moved = {name for name, weight in network.named_parameters() if not torch.equal(weight, before[name])}
    assert moved == set(before) - {"words.weight"}


def test_at_first_the_value_alone_learns(tiny_network: Callable[..., Any], tmp_path: Path) -> None:
    network = tiny_network()
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    scored = iter(range(100))
    settings = dataclasses.replace(SHORT, updates=3, evaluate_every=3, value_first=3)
    train(network, Course(corridor, TASKS), lambda _: {"score": float(next(scored))}, settings, tmp_path)
    moved = {name for name, weight in network.named_parameters() if not torch.equal(weight, before[name])}
    assert moved == {name for name in before if name.startswith(("value.", "words."))}


def test_the_value_may_learn_at_a_rate_of_its_own(tiny_network: Callable[..., Any], tmp_path: Path) -> None:
    network = tiny_network()
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    scored = iter(range(100))
    settings = dataclasses.replace(SHORT, updates=1, evaluate_every=1, learning_rate=0.01, value_learning_rate=0.1)
    train(network, Course(corridor, TASKS), lambda _: {"score": float(next(scored))}, settings, tmp_path)
    for name, weight in network.named_parameters():  # Adam's first update moves every weight by its rate
        furthest = float((weight.detach() - before[name]).abs().max())
        assert furthest == pytest.approx(0.1 if name.startswith("value.") else 0.01, rel=0.01)


class Fixed:
    """Judges every situation alike: every action as likely, a value of 7."""

    def judge(self, situations: Any) -> Judgement:
        most = max(len(one.actions) for one in situations)
        rows = torch.full((len(situations), most), -torch.inf)
        for row, one in zip(rows, situations, strict=True):
            row[: len(one.actions)] = -np.log(len(one.actions))
        return Judgement(rows, torch.full((len(situations),), 7.0))


@pytest.mark.parametrize(("limit", "beyond"), [(1, 0.5 * 7), (50, 0)])
def test_where_an_episode_is_cut_off_its_value_is_counted_on_and_where_it_ends_it_is_not(
    limit: int, beyond: float
) -> None:
    episodes = Episodes(Course(lambda: corridor(limit), TASKS), 4, instruction_only, 0)
    episodes.begin()
    settings = dataclasses.replace(SHORT, discount=0.5, reward_scale=3.0)
    segment = Segment()
    play_on(Fixed(), episodes, settings, np.random.default_rng(0), segment)  # type: ignore[arg-type]
    seen = set()
    for situations, chosen, rewards, ended in zip(
        segment.situations, segment.chosen, segment.rewards, segment.ended, strict=True
    ):
        for one, index, reward, over in zip(situations, chosen, rewards, ended, strict=True):
            opened = one.actions[index] == "open"
            room = f"room {one.goal[-2]} of"
            assert over == (opened or limit == 1)
            assert reward == (3.0 * (room in one.page) if opened else beyond)
            seen.add(opened)
    assert seen == {True, False}
    assert segment.beyond.tolist() == [7.0] * 4


# -- kills ---------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    pass


def dying(network: Any, calls: int, action: Callable[[], None]) -> Any:
    """The network, which does something at one of its judgements."""
    counted = iter(range(1, 10**9))
    judge = network.judge

    def judged(situations: Any) -> Judgement:
        if next(counted) == calls:
            action()
        made: Judgement = judge(situations)
        return made

    network.judge = judged
    return network


def kill() -> None:
    raise Killed


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def uncounted(look: Look) -> Look:
    """A look that the counter of judgements does not see."""

    def quiet(given: Any) -> Mapping[str, float]:
        judge = given.__dict__.pop("judge", None)
        try:
            return look(given)
        finally:
            if judge is not None:
                given.judge = judge

    return quiet


@pytest.mark.parametrize("at", [5, 25, 40])
def test_a_killed_training_ends_with_the_same_weights(
    whole: tuple[Path, Trained, Any], tiny_network: Callable[..., Any], look: Look, tmp_path: Path, at: int
) -> None:
    out, trained, network = whole
    victim = dying(tiny_network(), at, kill)
    with pytest.raises(Killed):
        train(victim, Course(corridor, TASKS), uncounted(look), SHORT, tmp_path)
    again = tiny_network()
    resumed = train(again, Course(corridor, TASKS), look, SHORT, tmp_path)
    assert dataclasses.replace(resumed, seconds=0) == dataclasses.replace(trained, seconds=0)
    assert rows(tmp_path) == rows(out)
    assert same(again, network)
    last = [torch.load(one / "checkpoints" / "update-6" / "weights.pt") for one in (tmp_path, out)]
    assert all(torch.equal(value, last[1]["network"][name]) for name, value in last[0]["network"].items())


def test_ctrl_c_ends_after_the_update_and_the_same_call_goes_on(
    whole: tuple[Path, Trained, Any], tiny_network: Callable[..., Any], look: Look, tmp_path: Path
) -> None:
    out, _, network = whole
    victim = dying(tiny_network(), 5, interrupt)
    with pytest.raises(KeyboardInterrupt, match="after update 1"):
        train(victim, Course(corridor, TASKS), uncounted(look), SHORT, tmp_path)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    again = tiny_network()
    train(again, Course(corridor, TASKS), look, SHORT, tmp_path)
    assert rows(tmp_path) == rows(out)
    assert same(again, network)


def test_a_checkpoint_that_could_not_be_written_leaves_the_one_before(
    whole: tuple[Path, Trained, Any],
    tiny_network: Callable[..., Any],
    look: Look,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, _, network = whole
    write, calls = Path.write_text, iter(range(100))

    def full(path: Path, *args: Any, **settings: Any) -> int:
        if path.name == "episodes.json" and next(calls) == 1:
            raise OSError("the disk is full")
        return write(path, *args, **settings)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="disk is full"):
        train(tiny_network(), Course(corridor, TASKS), look, SHORT, tmp_path)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["update-0"]
    again = tiny_network()
    train(again, Course(corridor, TASKS), look, SHORT, tmp_path)
    assert rows(tmp_path) == rows(out)
    assert same(again, network)


def test_a_finished_training_is_only_read(
    whole: tuple[Path, Trained, Any], tiny_network: Callable[..., Any], look: Look
) -> None:
    out, trained, network = whole
    again = dying(tiny_network(), 1, kill)
    assert train(again, Course(corridor, TASKS), look, SHORT, out) == trained
    assert same(again, network)


def test_only_the_best_and_the_last_state_are_kept(whole: tuple[Path, Trained, Any]) -> None:
    out, trained, _ = whole
    kept = {path.name for path in (out / "checkpoints").iterdir()}
    assert kept == {f"update-{trained.best}", "update-6"}


def test_the_weights_of_the_best_look_are_left(tiny_network: Callable[..., Any], tmp_path: Path) -> None:
    seen: list[Any] = []

    def look(network: Any) -> Mapping[str, float]:
        seen.append([weight.detach().clone() for weight in network.parameters()])
        return {"score": [1.0, 3.0, 3.0, 2.0][len(seen) - 1]}

    network = tiny_network()
    trained = train(network, Course(corridor, TASKS), look, SHORT, tmp_path)
    assert trained.best == 2
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), seen[1], strict=True))


# -- what goes wrong -----------------------------------------------------------------------------------------------


def broken(network: Any, part: str) -> Any:
    """The network, whose judgements are no numbers from the 21st on: two steps after two updates of 9."""
    counted, judge = iter(range(1000)), network.judge

    def judged(situations: Any) -> Judgement:
        made = judge(situations)
        return made._replace(**{part: getattr(made, part) * torch.nan}) if next(counted) >= 20 else made

    network.judge = judged
    return network


@pytest.mark.parametrize("part", ["values", "log_probabilities"])
def test_what_is_no_number_stops_the_training_and_keeps_the_decisions(
    tiny_network: Callable[..., Any], tmp_path: Path, part: str
) -> None:
    network = broken(tiny_network(), part)
    with pytest.raises(InvalidSetting, match=r"Update 3 was not made.*lower learning rate"):
        train(network, Course(lambda: corridor(50), TASKS), lambda _: {"score": 0.0}, SHORT, tmp_path)
    kept = json.loads((tmp_path / "bad_batch.json").read_text())
    assert kept[0][0]["actions"][kept[0][0]["chosen"]]
    assert {len(step) for step in kept} == {4}
    assert all(weight.isfinite().all() for weight in network.parameters())


@pytest.fixture
def infinite(tiny_network: Callable[..., Any]) -> Iterator[Any]:
    """A network whose gradient is infinite while its loss is none."""
    network = tiny_network()
    network.value[2].bias.register_hook(lambda gradient: gradient * torch.inf)
    return network


def test_an_infinite_gradient_stops_it_too(infinite: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="gradient is no finite number"):
        train(infinite, Course(corridor, TASKS), lambda _: {"score": 0.0}, SHORT, tmp_path)
    assert all(weight.isfinite().all() for weight in infinite.parameters())


def test_other_settings_in_the_same_folder_are_refused(
    whole: tuple[Path, Trained, Any], tiny_network: Callable[..., Any], look: Look
) -> None:
    with pytest.raises(PlanMismatch, match=r"settings\.discount: 0\.9 → 0\.5"):
        train(tiny_network(), Course(corridor, TASKS), look, dataclasses.replace(SHORT, discount=0.5), whole[0])


def test_a_network_that_cannot_learn_is_refused(tiny_network: Callable[..., Any], look: Look, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="frozen"):
        train(tiny_network().requires_grad_(False), Course(corridor, TASKS), look, SHORT, tmp_path)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize("content", [b"cut", b"[]", b'{"begun": 1}'])
def test_episodes_under_way_that_cannot_be_read_are_said(
    whole: tuple[Path, Trained, Any], tiny_network: Callable[..., Any], look: Look, tmp_path: Path, content: bytes
) -> None:
    shutil.copytree(whole[0], tmp_path / "out")
    (tmp_path / "out" / "trained.json").unlink()
    (tmp_path / "out" / "checkpoints" / "update-6" / "episodes.json").write_bytes(content)
    with pytest.raises(BadRecord, match=r"episodes\.json cannot be read"):
        train(tiny_network(), Course(corridor, TASKS), look, SHORT, tmp_path / "out")


@pytest.mark.parametrize("content", [b"cut", pickle.dumps({"network": Evil()}, protocol=2)])
def test_a_checkpoint_that_is_none_is_said_and_nothing_in_it_is_executed(
    tiny_network: Callable[..., Any], look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    victim = dying(tiny_network(), 25, kill)
    with pytest.raises(Killed):
        train(victim, Course(corridor, TASKS), uncounted(look), SHORT, tmp_path / "out")
    for path in (tmp_path / "out").rglob("weights.pt"):
        path.write_bytes(content)
    with pytest.raises(BadRecord, match=r"weights\.pt cannot be read"):
        train(tiny_network(), Course(corridor, TASKS), look, SHORT, tmp_path / "out")
    assert not (tmp_path / "executed").exists()
