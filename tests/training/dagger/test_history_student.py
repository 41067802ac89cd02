"""The history student in training: the same arithmetic as the policy's, and learning that is learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from llm_gym.core import Info  # noqa: E402
from llm_gym.policies.alfworld.raw_history.events import History, Moment, known_words  # noqa: E402
from llm_gym.policies.alfworld.raw_history.model import HistoryModel, Joined, Sizes  # noqa: E402
from llm_gym.policies.alfworld.raw_history.policy import HistoryPolicy  # noqa: E402
from llm_gym.training.dagger import history  # noqa: E402
from llm_gym.training.dagger.history import HistorySchedule, HistoryStudent, set_loss  # noqa: E402
from llm_gym.training.dagger.history_network import HistoryNetwork  # noqa: E402
from llm_gym.training.dagger.history_replay import (  # noqa: E402
    Flags,
    Taught,
    read_episodes,
    side_by_side,
    write_episodes,
)
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen  # noqa: E402

torch.set_num_threads(1)

SMALL = Sizes(word=8, kind=8, number=8, hidden=16, goal=8, memory=16, fit=8)
PLACES = ("drawer 1", "drawer 2", "shelf 1")


def drawn_episode(rng: np.random.Generator, states: int) -> Taught:
    """Somebody wanders among three places and sees a mug now and then; the labels are drawn."""
    history, moments, labels = History(known_words()), list[Moment](), list[Flags]()
    for _ in range(states):
        commands = [f"go to {place}" for place in PLACES[: rng.integers(1, 4)]]
        page = f"On the shelf 1, you see {'a mug 1' if rng.random() < 0.5 else 'nothing'}."
        moments.append(history.see(page, {"goal": "put a mug in shelf.", "admissible_actions": commands}))
        labels.append(rng.random(len(commands)) < 0.5)
        history.did(commands[rng.integers(len(commands))])
    return Taught.of(moments, labels)


def alone(taught: Taught) -> list[Moment]:
    """The moments of an episode again."""
    return [
        Moment(taught.goal, taught.events[taught.event_of == at], taught.commands[of], taught.counts[of])
        for at in range(taught.times)
        for of in [taught.command_of == at]
    ]


@pytest.mark.parametrize("counts", [True, False])
def test_torch_and_numpy_give_the_same_scores(counts: bool) -> None:
    rng = np.random.default_rng(0)
    model = HistoryModel.create(known_words(), seed=5, counts=counts)
    episodes = [drawn_episode(rng, states) for states in (4, 9, 1)]
    with torch.no_grad():
        scores = HistoryNetwork(model)(side_by_side(episodes)).numpy()
    for at, taught in enumerate(episodes):
        memory = model.beginning()
        for time, moment in enumerate(alone(taught)):
            memory, expected = model.hear(Joined.of([moment]), memory)
            row = scores[time * len(episodes) + at]
            np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-5)
            assert (row[len(expected) :] == -np.inf).all()


def test_the_loss_by_hand() -> None:
    taught = drawn_episode(np.random.default_rng(1), 3)
    lessons = side_by_side([taught])._replace(
        command_of=torch.tensor([0, 0, 0, 1, 1, 2]),
        position=torch.tensor([0, 1, 2, 0, 1, 0]),
        labels=torch.tensor([True, True, False, False, True, False]),
    )
    scores = torch.tensor([[0.0, 1.0, 2.0], [3.0, 1.0, -torch.inf], [1.0, -torch.inf, -torch.inf]])
    raised = np.exp([0.0, 1.0, 2.0])
    first = -np.log((raised[0] + raised[1]) / raised.sum())
    second = -np.log(np.exp(1) / (np.exp(3) + np.exp(1)))
    assert set_loss(scores, lessons).item() == pytest.approx((first + second) / 2, rel=1e-5)  # the third has no label


@pytest.mark.parametrize("counts", [True, False])
def test_gradients_reach_every_array(counts: bool) -> None:
    network = HistoryNetwork(HistoryModel.create(known_words(), seed=5, counts=counts, sizes=SMALL))
    lessons = side_by_side([drawn_episode(np.random.default_rng(seed), 6) for seed in range(4)])
    set_loss(network(lessons), lessons).backward()  # type: ignore[no-untyped-call]
    still = {name for name, one in network.named_parameters() if one.grad is None or not one.grad.any()}
    assert still == (set() if counts else {"rest.count_weights"})


# -- a game that needs a memory --------------------------------------------------------------------------------------


def shown(step: int, mug: int) -> Info:
    """First the player sees which drawer holds the mug, then something else, then it must choose a drawer."""
    page = f"On the drawer {mug}, you see a mug 1." if step == 0 else "You are not carrying anything."
    commands = ["go to drawer 1", "go to drawer 2"] if step == 2 else ["look"]
    return {"page": page, "goal": "find two mug.", "admissible_actions": commands}


def play_round(student: HistoryStudent, rng: np.random.Generator, *, shuffled: bool = False, games: int = 16) -> float:
    """The share of games in which the drawer was the right one."""
    mugs = rng.integers(1, 3, games)
    student.begin(games)
    for step in range(3):
        seen = [Seen(slot, "", shown(step, mug)) for slot, mug in enumerate(mugs)]
        actions = student.act(seen, rng, greedy=False)
        told = rng.integers(1, 3, games) if shuffled else mugs
        labels = [(f"go to drawer {mug}" if step == 2 else "look",) for mug in told]
        student.remember([Lesson(slot, labels[slot], action) for slot, action in enumerate(actions)])
    student.end()
    return float(np.mean([action == f"go to drawer {mug}" for action, mug in zip(actions, mugs, strict=True)]))


def taught(*, shuffled: bool) -> float:
    """Success of the last rounds."""
    rng, student = np.random.default_rng(0), HistoryStudent(0, HistorySchedule(learning_rate=0.01), sizes=SMALL)
    rates = []
    for number in range(12):
        rates.append(play_round(student, rng, shuffled=shuffled))
        for _ in range(8):
            student.learn(rng, number / 24)
    return float(np.mean(rates[-3:]))


def test_it_learns_to_remember() -> None:
    assert taught(shuffled=False) > 0.9


def test_from_labels_that_say_nothing_it_learns_nothing() -> None:
    assert taught(shuffled=True) < 0.75


def test_it_plays_as_the_policy_that_it_saves(tmp_path: Path) -> None:
    student, rng = HistoryStudent(1, sizes=SMALL), np.random.default_rng(2)
    for _ in range(3):
        play_round(student, rng)
        student.learn(rng, 0.0)
    student.save(tmp_path / "model")
    policy = HistoryPolicy.from_pretrained(tmp_path / "model")
    student.begin(1)
    for step in range(3):
        (action,) = student.act([Seen(0, "", shown(step, 2))], rng, greedy=True)
        student.remember([Lesson(0, (), action)])
        assert policy.act("", shown(step, 2)).action == action


# -- what is kept ----------------------------------------------------------------------------------------------------


def weights(student: HistoryStudent) -> dict[str, np.ndarray]:
    return {name: one.copy() for name, one in student.model.arrays.items()}


def test_one_seed_gives_one_set_of_weights_also_when_it_is_resumed(tmp_path: Path) -> None:
    def rounds(student: HistoryStudent, numbers: range) -> HistoryStudent:
        for number in numbers:
            rng = np.random.default_rng([7, number])
            play_round(student, rng)
            play_round(student, rng)
            student.learn(rng, number / 10)
        return student

    whole = weights(rounds(HistoryStudent(3, sizes=SMALL), range(4)))
    begun = rounds(HistoryStudent(3, sizes=SMALL), range(2))
    begun.save_state(tmp_path / "state")
    resumed = HistoryStudent(4, sizes=SMALL)
    resumed.load_state(tmp_path / "state")
    again = weights(rounds(resumed, range(2, 4)))
    for name, one in whole.items():
        np.testing.assert_array_equal(one, again[name])
    assert any(not np.array_equal(one, whole[name]) for name, one in weights(begun).items())


def test_episodes_are_read_as_they_were_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    episodes = [drawn_episode(rng, states) for states in (3, 1, 7)]
    write_episodes(tmp_path / "episodes.npz", episodes)
    for one, other in zip(read_episodes(tmp_path / "episodes.npz"), episodes, strict=True):
        for name in Taught._fields:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    write_episodes(tmp_path / "none.npz", [])
    assert list(read_episodes(tmp_path / "none.npz")) == []


def test_before_there_are_enough_episodes_nothing_is_learned() -> None:
    student, rng = HistoryStudent(0, sizes=SMALL), np.random.default_rng(0)
    before = weights(student)
    play_round(student, rng)
    assert student.learn(rng, 0.0) is None
    for name, one in weights(student).items():
        np.testing.assert_array_equal(one, before[name])


def test_the_oldest_episodes_make_room() -> None:
    student, rng = HistoryStudent(0, HistorySchedule(replay=20), sizes=SMALL), np.random.default_rng(0)
    for _ in range(2):
        play_round(student, rng)
    assert len(student._replay) == 20


def test_an_episode_without_any_label_is_not_kept() -> None:
    student, rng = HistoryStudent(0, sizes=SMALL), np.random.default_rng(0)
    student.begin(1)
    (action,) = student.act([Seen(0, "", shown(2, 1))], rng, greedy=True)
    student.remember([Lesson(0, (), action)])
    student.end()
    assert not student._replay


def test_a_loss_that_is_no_number_leaves_the_weights_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    student, rng = HistoryStudent(0, sizes=SMALL), np.random.default_rng(0)
    for _ in range(2):
        play_round(student, rng)
    before = weights(student)
    monkeypatch.setattr(history, "set_loss", lambda scores, lessons: scores.max() * torch.nan)
    with pytest.raises(LossNotFinite, match="nan"):
        student.learn(rng, 0.0)
    for name, one in weights(student).items():
        np.testing.assert_array_equal(one, before[name])
