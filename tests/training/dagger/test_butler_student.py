"""The text agent in training: what its loss is, what it learns from, and that it learns."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch", reason="needs the extra torch")

import torch

from llm_gym.core import Info
from llm_gym.errors import InvalidSetting
from llm_gym.policies.butler.config import ButlerConfig
from llm_gym.policies.butler.policy import ButlerPolicy
from llm_gym.policies.butler.tokens import ButlerTokens
from llm_gym.training.dagger.butler import ButlerSchedule, ButlerStudent
from llm_gym.training.dagger.butler_loss import smoothed_loss
from llm_gym.training.dagger.butler_replay import Excerpt, Moment, Replay, Trajectory
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen

pytestmark = pytest.mark.torch

WORDS = "restart go to take from you see at on the put look nothing a mug vase shelf desk bed room 1 2 3 , . : / -"
GAMES = {
    "get a mug": ("You see a desk 1, a bed 1.", ("go to desk 1", "take mug 1 from desk 1")),
    "get a vase": ("You see a shelf 2, a bed 1.", ("go to shelf 2", "take vase 3 from shelf 2")),
    "look at the bed": ("You see a bed 2.", ("go to bed 2", "look")),
}
"""Task → what is seen first, and what the teacher does."""


def tokenizer() -> str:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = {word: place for place, word in enumerate([*special, *WORDS.split()])}
    made = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(special)
    return str(made.to_str())


def student(seed: int = 0, **settings: float) -> ButlerStudent:
    tokens = ButlerTokens(tokenizer())
    table = torch.randn(len(tokens), 24, generator=torch.Generator().manual_seed(1))
    config = ButlerConfig(width=32, embedding_width=24, convolutions=2, kernel=3)
    schedule = ButlerSchedule(**({"learning_rate": 5e-3, "batch": 4, "first": 3} | settings))  # type: ignore[arg-type]
    return ButlerStudent(tokens, table, config, schedule, seed)


def play(learner: ButlerStudent, assisted: bool = True) -> list[list[str]]:
    """What the student would have done in every game, step by step; the teacher plays where it assists."""
    learner.begin(len(GAMES))
    written: list[list[str]] = []
    pages = [first for first, _ in GAMES.values()]
    for step in range(2):
        seen = [
            Seen(slot, page, cast(Info, {"goal": goal, "page": page}))
            for slot, (goal, page) in enumerate(zip(GAMES, pages, strict=True))
        ]
        written.append(learner.act(seen, np.random.default_rng(0), greedy=True))
        right = [commands[step] for _, commands in GAMES.values()]
        learner.remember([Lesson(slot, (right[slot],), right[slot]) for slot in range(len(GAMES))])
        pages = [f"You are there: {command}." for command in right]
    if assisted:
        learner.end()
    return written


def taught(updates: int, seed: int = 0) -> ButlerStudent:
    learner = student(seed)
    play(learner)
    rng = np.random.default_rng(seed)
    for update in range(updates):
        learner.learn(rng, update / updates)
    return learner


@pytest.fixture(scope="module")
def learned() -> ButlerStudent:
    """A student that has seen enough."""
    return taught(60)


def test_it_learns_to_write_the_command_of_every_state(learned: ButlerStudent) -> None:
    assert play(learned, assisted=False) == [[commands[step] for _, commands in GAMES.values()] for step in range(2)]


def test_it_learns_nothing_before_enough_games_are_played() -> None:
    assert student().learn(np.random.default_rng(0), 0.0) is None


def test_one_seed_gives_one_set_of_weights() -> None:
    first, second, other = (taught(3, seed).writer.model.state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["widen.weight"], other["widen.weight"])


def test_a_student_that_was_put_aside_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    straight, broken = taught(3), taught(3)
    broken.save_state(tmp_path)
    resumed = student(seed=7)
    resumed.load_state(tmp_path)
    for learner in (straight, resumed):
        play(learner)
        learner.learn(np.random.default_rng(9), 0.5)
    expected, found = straight.writer.model.state_dict(), resumed.writer.model.state_dict()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_gradients_reach_every_weight_and_not_the_embeddings() -> None:
    learner = student()
    play(learner)
    model = learner.writer.model
    before = model.table.clone()
    moments = learner._replay.trajectories[0].moments
    learner._replay.trajectories = [Trajectory(one.task, moments * 3) for one in learner._replay.trajectories]
    excerpts = learner._replay.draw(8, 4, 2, np.random.default_rng(4))
    assert {excerpt.graded for excerpt in excerpts} == {0, 2}
    learner.loss(excerpts, np.random.default_rng(1)).backward()  # type: ignore[no-untyped-call]
    assert [name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()] == []
    assert torch.equal(model.table, before)


def test_moments_that_are_burnt_in_teach_nothing_but_are_remembered() -> None:
    learner = student()
    play(learner)
    whole = learner._replay.trajectories[0].moments * 2
    unread = Moment(whole[0].seen[:2], whole[0].target)
    unlabelled = Moment(whole[0].seen, whole[1].target)

    def loss(*moments: Moment) -> float:
        excerpt = Excerpt(learner._replay.trajectories[0].task, moments, graded=2)
        return learner.loss([excerpt], np.random.default_rng(0)).item()

    assert loss(unlabelled, *whole[1:]) == loss(*whole)
    assert loss(unread, *whole[1:]) != loss(*whole)


def test_a_loss_that_is_no_number_leaves_the_weights_as_they_were() -> None:
    learner = taught(1)
    with torch.no_grad():
        learner.writer.model.widen.bias.fill_(float("nan"))
    before = {name: value.clone() for name, value in learner.writer.model.state_dict().items()}
    with pytest.raises(LossNotFinite):
        learner.learn(np.random.default_rng(0), 0.0)
    after = learner.writer.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if name != "widen.bias")


def test_what_it_saves_plays_as_it_did(learned: ButlerStudent, tmp_path: Path) -> None:
    learned.save(tmp_path / "policy")
    policy = ButlerPolicy.from_pretrained(tmp_path / "policy")
    for goal, (first, commands) in GAMES.items():
        policy.reset()
        info = cast(Info, {"goal": goal, "page": first, "admissible_actions": ["look", "inventory"]})
        assert policy.act(first, info).action == commands[0]
        page = f"You are there: {commands[0]}."
        assert policy.act(page, cast(Info, info | {"page": page})).action == commands[1]


@pytest.mark.parametrize("settings", [{"burn_in": 4}, {"burn_in": -1}, {"smoothing": 1.0}])
def test_a_schedule_that_cannot_teach_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidSetting):
        student(**settings)


# -- the loss ----------------------------------------------------------------------------------------------------


def shares() -> npt.NDArray[np.float64]:
    """Of 2 states, 3 tokens, 4 words."""
    drawn: npt.NDArray[np.float64] = np.random.default_rng(3).dirichlet(np.ones(4), size=(2, 3))
    return drawn


@pytest.mark.parametrize("kind", ["standard", "original"])
def test_labels_are_smoothed_outside_or_inside_of_the_logarithm(kind: str) -> None:
    given, targets = shares(), np.array([[0, 3, 1], [2, 0, 0]])
    expected = []
    for row, length in enumerate((3, 1)):
        total = 0.0
        for at in range(length):
            weights = np.full(4, 0.1 / 3)
            weights[targets[row, at]] = 0.9
            inside = weights @ given[row, at]
            total += -np.log(inside) if kind == "original" else -(weights @ np.log(given[row, at]))
        expected.append(total)
    mask = torch.tensor([[1.0, 1, 1], [1, 0, 0]])
    found = smoothed_loss(torch.tensor(given), torch.tensor(targets), mask, 0.1, kind)  # type: ignore[arg-type]
    assert found.numpy() == pytest.approx(np.array(expected))


# -- the replay --------------------------------------------------------------------------------------------------


def trajectory(length: int, name: int = 0) -> Trajectory:
    moments = (Moment(np.array([name, at], np.uint16), np.array([at], np.uint16)) for at in range(length))
    return Trajectory(np.array([name], np.uint16), tuple(moments))


def replay(*lengths: int) -> Replay:
    filled = Replay(10)
    for name, length in enumerate(lengths):
        filled.add(trajectory(length, name), np.random.default_rng(0))
    return filled


def test_an_excerpt_is_graded_from_its_first_moment_only_where_the_game_begins() -> None:
    drawn = replay(9).draw(200, 4, 2, np.random.default_rng(0))
    starts = {int(excerpt.moments[0].target[0]): excerpt.graded for excerpt in drawn}
    assert starts == {0: 0} | dict.fromkeys(range(1, 6), 2)
    assert all(
        np.diff([int(moment.target[0]) for moment in excerpt.moments]).tolist() == [1, 1, 1] for excerpt in drawn
    )


def test_a_short_game_is_drawn_whole() -> None:
    [excerpt] = replay(2).draw(1, 4, 2, np.random.default_rng(0))
    assert (len(excerpt.moments), excerpt.graded) == (2, 0)


def test_games_are_drawn_with_the_same_chance_whatever_their_length() -> None:
    drawn = replay(40, 3).draw(1000, 4, 2, np.random.default_rng(0))
    assert 400 < sum(int(excerpt.task[0]) for excerpt in drawn) < 600


def test_a_full_replay_gives_one_game_up_for_another() -> None:
    full = Replay(3)
    for name in range(20):
        full.add(trajectory(1, name), np.random.default_rng(name))
    names = [int(one.task[0]) for one in full.trajectories]
    assert len(names) == 3
    assert 19 in names


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written, read = replay(3, 1), Replay(10)
    written.trajectories.append(Trajectory(np.array([5], np.uint16), (Moment(np.array([1, 2], np.uint16), _NONE),)))
    written.write(tmp_path / "replay.npz")
    read.read(tmp_path / "replay.npz")
    assert [len(one.moments) for one in read.trajectories] == [3, 1, 1]
    for one, other in zip(written.trajectories, read.trajectories, strict=True):
        assert one.task.tolist() == other.task.tolist()
        assert [tuple(part.tolist() for part in moment) for moment in one.moments] == [
            tuple(part.tolist() for part in moment) for moment in other.moments
        ]


_NONE = np.zeros(0, np.uint16)
