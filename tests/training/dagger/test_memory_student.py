"""The memory student in training: the same arithmetic as the policy's, and learning that is learning."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

import llm_gym  # noqa: E402, F401 - registers the environments
from llm_gym.core import Info  # noqa: E402
from llm_gym.policies.alfworld.memory import MemoryPolicy  # noqa: E402
from llm_gym.policies.alfworld.memory.features import COMMAND_FLAGS, STATE_FLAGS, Choices, Vocabulary  # noqa: E402
from llm_gym.policies.alfworld.memory.model import MemoryModel  # noqa: E402
from llm_gym.training.dagger.games import Games, Mixture  # noqa: E402
from llm_gym.training.dagger.memory import MemorySchedule, MemoryStudent  # noqa: E402
from llm_gym.training.dagger.memory_network import Batch, MemoryNetwork, set_loss  # noqa: E402
from llm_gym.training.dagger.memory_replay import Example, read_examples, write_examples  # noqa: E402
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen  # noqa: E402
from llm_gym.training.dagger.teachers import teacher  # noqa: E402

torch.set_num_threads(1)

WORDS = Vocabulary(["desk", "drawer", "mug", "pen"])
COMMANDS = ["look", "inventory", "go to desk 1", "go to drawer 1"]
SEEN: Info = {"goal": "put a mug in desk.", "admissible_actions": COMMANDS, "page": ""}


def drawn_choices(rng: np.random.Generator, commands: int) -> Choices:
    return Choices(
        rng.integers(14, size=commands),
        rng.integers(len(WORDS), size=commands),
        rng.integers(len(WORDS), size=commands),
        rng.random((commands, len(COMMAND_FLAGS)), np.float32),
        rng.integers(len(WORDS), size=4),
        rng.random(len(STATE_FLAGS), np.float32),
    )


def test_torch_and_numpy_give_the_same_scores() -> None:
    rng = np.random.default_rng(0)
    model = MemoryModel.create(WORDS, seed=5)
    states = [drawn_choices(rng, commands) for commands in (4, 25, 1)]
    with torch.no_grad():
        scores = MemoryNetwork(model)(Batch.of(states)).numpy()
    assert scores.shape == (3, 25)
    for row, state in zip(scores, states, strict=True):
        expected = model.scores(state)
        np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-5)
        assert (row[len(expected) :] == -np.inf).all()


def test_the_loss_by_hand() -> None:
    scores = torch.tensor([[0.0, 1.0, 2.0], [3.0, 1.0, -torch.inf]])
    labels = torch.tensor([[True, True, False], [False, True, False]])
    raised = np.exp([0.0, 1.0, 2.0])
    first = -np.log((raised[0] + raised[1]) / raised.sum())
    second = -np.log(np.exp(1) / (np.exp(3) + np.exp(1)))
    assert set_loss(scores, labels).item() == pytest.approx((first + second) / 2, rel=1e-5)


def test_a_teacher_that_likes_everything_teaches_nothing() -> None:
    scores = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    loss = set_loss(scores, torch.ones(1, 3, dtype=torch.bool))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(0, abs=1e-6)
    assert scores.grad is not None
    assert scores.grad.abs().max().item() < 1e-6


def test_gradients_reach_every_array_and_are_finite() -> None:
    rng = np.random.default_rng(1)
    network = MemoryNetwork(MemoryModel.create(WORDS, seed=5))
    batch = Batch.of([drawn_choices(rng, 12) for _ in range(30)])
    labels = torch.zeros(30, 12, dtype=torch.bool)
    labels[:, 3] = True
    set_loss(network(batch), labels).backward()  # type: ignore[no-untyped-call]
    gradients = {name: one.grad for name, one in network.named_parameters()}
    assert len(gradients) == 10
    assert not [name for name, one in gradients.items() if one is None or not one.isfinite().all() or not one.any()]


def test_a_share_of_the_words_is_hidden_wherever_they_stand() -> None:
    rng = np.random.default_rng(2)
    batch = Batch.of([drawn_choices(rng, 20) for _ in range(400)])
    assert all(map(torch.equal, batch.hiding(0.0, WORDS, rng), batch))
    hidden = batch.hiding(0.25, WORDS, rng)
    for name in ("verbs", "flags", "states", "state_of", "position"):
        assert torch.equal(getattr(hidden, name), getattr(batch, name))
    fates: dict[tuple[int, int], set[int]] = {}
    for name, of in (("things", batch.state_of), ("places", batch.state_of), ("nouns", torch.arange(400)[:, None])):
        before = getattr(batch, name)
        cells = torch.stack([of.expand_as(before), before, getattr(hidden, name)], -1).reshape(-1, 3)
        for state, word, now in cells.tolist():
            fates.setdefault((state, word), set()).add(now)
    assert all(len(fate) == 1 for fate in fates.values())
    assert all(fate <= {word, Vocabulary.UNKNOWN} for (_, word), fate in fates.items())
    assert all(fate == {word} for (_, word), fate in fates.items() if word == Vocabulary.NONE)
    named = [fate == {Vocabulary.UNKNOWN} for (_, word), fate in fates.items() if word > Vocabulary.NONE]
    assert np.mean(named) == pytest.approx(0.25, abs=0.05)  # of about 1,600 words: four deviations


# -- playing and remembering -----------------------------------------------------------------------------------------


def student_of_one_state(labels: tuple[str, ...] = ("go to desk 1",), **schedule: float) -> MemoryStudent:
    student = MemoryStudent(0, MemorySchedule(batch=8, **schedule))  # type: ignore[arg-type]
    for _ in range(10):
        student.begin(1)
        action = student.act([Seen(0, "", SEEN)], np.random.default_rng(0), greedy=True)
        student.remember([Lesson(0, labels, *action)])
        student.end()
    return student


def test_it_plays_as_its_policy_does(tmp_path: Path) -> None:
    student = student_of_one_state()
    student.save(tmp_path / "policy")
    policy = MemoryPolicy.from_pretrained(tmp_path / "policy")
    student.begin(1)
    assert student.act([Seen(0, "", SEEN)], np.random.default_rng(0), greedy=True) == [policy.act("", SEEN).action]


def test_commands_are_drawn_by_their_probability() -> None:
    student, rng = MemoryStudent(0, MemorySchedule(drawn=1.0)), np.random.default_rng(0)
    student.begin(4000)
    drawn = student.act([Seen(slot, "", SEEN) for slot in range(4000)], rng, greedy=False)
    policy = MemoryPolicy()
    policy._model = student.trained()
    expected = {opinion.action: opinion.confidence for opinion in policy.advise("", SEEN, 9)}
    for command in COMMANDS:
        assert drawn.count(command) / 4000 == pytest.approx(expected[command], abs=0.035)


def test_where_teacher_or_student_knows_nothing_there_is_nothing_to_learn() -> None:
    assert student_of_one_state(labels=()).learn(np.random.default_rng(0), 0.0) is None
    student = MemoryStudent(0, MemorySchedule(batch=1))
    student.begin(1)
    strange: Info = {"goal": "be happy", "admissible_actions": ["look", "go to desk 1"]}
    assert student.act([Seen(0, "", strange)], np.random.default_rng(0), greedy=False) == ["look"]
    student.remember([Lesson(0, ("look",), "look")])
    assert student.learn(np.random.default_rng(0), 0.0) is None


def test_it_learns_what_it_is_told() -> None:
    student, rng = student_of_one_state(unknown=0.0), np.random.default_rng(0)
    losses = [student.learn(rng, progress=0.0) for _ in range(40)]
    assert losses[0] is not None
    assert losses[-1] is not None
    assert losses[-1] < 0.05 < losses[0]
    student.begin(1)
    assert student.act([Seen(0, "", SEEN)], rng, greedy=True) == ["go to desk 1"]


def test_at_the_end_of_the_schedule_nothing_moves() -> None:
    student = student_of_one_state()
    before = student.trained().arrays

    def still(progress: float) -> bool:
        student.learn(np.random.default_rng(0), progress)
        return all((before[name] == array).all() for name, array in student.trained().arrays.items())

    assert still(progress=1.0)
    assert not still(progress=0.5)


def test_a_loss_that_is_no_number_stops_before_the_weights_change() -> None:
    student = student_of_one_state()
    with torch.no_grad():
        student.network.arrays["last_weights"].fill_(torch.nan)
    bias = student.network.arrays["first_bias"].detach().clone()
    with pytest.raises(LossNotFinite, match="nan"):
        student.learn(np.random.default_rng(0), 0.0)
    assert torch.equal(student.network.arrays["first_bias"], bias)


def test_one_seed_gives_one_set_of_weights_and_another_seed_another() -> None:
    def digest(seed: int) -> str:
        student, rng = student_of_one_state(), np.random.default_rng(seed)
        for _ in range(3):
            student.learn(rng, 0.0)
        return student.trained().digest

    assert digest(0) == digest(0)
    assert digest(0) != digest(1)
    assert MemoryStudent(0).trained().digest != MemoryStudent(1).trained().digest


def test_a_saved_state_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    student = student_of_one_state()
    student.learn(np.random.default_rng(0), 0.1)
    student.save_state(tmp_path)
    student.learn(np.random.default_rng(1), 0.2)
    restored = MemoryStudent(7, MemorySchedule(batch=8))
    restored.load_state(tmp_path)
    restored.learn(np.random.default_rng(1), 0.2)
    assert restored.trained().digest == student.trained().digest


def test_examples_are_written_and_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    examples = [Example(drawn_choices(rng, size), rng.random(size) < 0.5) for size in (3, 1, 20)]
    write_examples(tmp_path / "examples.npz", examples)
    for read, written in zip(read_examples(tmp_path / "examples.npz"), examples, strict=True):
        np.testing.assert_array_equal(read.labels, written.labels)
        for name in ("verbs", "things", "places", "flags", "nouns", "state"):
            np.testing.assert_array_equal(getattr(read.choices, name), getattr(written.choices, name))
    write_examples(tmp_path / "none.npz", [])
    assert list(read_examples(tmp_path / "none.npz")) == []


# -- learning in the world ---------------------------------------------------------------------------------------------


class Misled(MemoryStudent):
    """Is told for every state what is right in another one of the same look: a random command that it could give."""

    def remember(self, lessons: object) -> None:
        rng = np.random.default_rng(len(self._replay))
        told = []
        for pending, lesson in zip(self._pending, lessons, strict=True):  # type: ignore[call-overload]
            commands = pending[1] if pending else [lesson.played]
            told.append(Lesson(lesson.slot, (commands[rng.integers(len(commands))],), lesson.played))
        super().remember(told)


def agreement(student: MemoryStudent) -> float:
    """With the teacher in games that were not learned from, which the teacher plays, after a little of cloning."""
    rng = np.random.default_rng(0)
    make = partial(gym.make, "llm_gym/ALFWorld-v1", split="train")
    with Games(make, partial(teacher, "explorer"), most=32, steps=30) as games:
        taught = games.play(student, games.tasks[:32], rng, Mixture(assistance=1.0))
        assert taught.success == 1
        for _ in range(60):
            student.learn(rng, progress=0.0)
        return games.play(student, games.tasks[32:64], rng, Mixture(assistance=1.0)).agreement


def test_it_learns_from_right_labels_and_not_from_shuffled_ones() -> None:
    schedule = MemorySchedule(batch=64, drawn=0.0, learning_rate=5e-3)
    assert agreement(MemoryStudent(0, schedule)) > 0.4
    assert agreement(Misled(0, schedule)) < 0.2
