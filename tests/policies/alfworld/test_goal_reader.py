"""The reader of goals in people's own words: what it is shown, what its network computes, what it says."""

from __future__ import annotations

import json
import math
import pickle
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.annotations import read_annotations
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.goal_reader.model import CONFIG, SHIPPED, WEIGHTS, GoalModel, Names
from llm_gym.policies.alfworld.goal_reader.tokens import KINDS, errand_of, kind_of, target_of, tokens
from llm_gym.policies.alfworld.goals import Errand, Look, Put
from llm_gym.policies.alfworld.places import known_places
from llm_gym.training.goal_examples import goal_examples

KITCHEN = frozenset({"cabinet", "countertop", "diningtable", "drawer", "fridge", "microwave", "sinkbasin"})
BEDROOM = frozenset({"bed", "desk", "drawer", "dresser", "shelf", "sidetable"})
NAMES = Names(("cup", "lamp", "the cup"), ("cup", "pen"), ("bed", "desk", "desklamp"), ("desklamp",))


@pytest.fixture(scope="module")
def shipped() -> GoalReader:
    return GoalReader.pretrained()


@pytest.fixture
def model() -> GoalModel:
    """Untrained, of width 2."""
    rng = np.random.default_rng(1)
    return GoalModel(
        NAMES, {name: rng.normal(size=shape).astype(np.float32) for name, shape in NAMES.shapes(2).items()}
    )


# -- what it is shown ----------------------------------------------------------------------------------------------


def test_it_is_shown_words_pairs_rules_and_furniture() -> None:
    read = tokens("Wash the mug!", {"bed", "shelf"})
    assert {"wash", "the", "mug", "< wash", "wash the", "the mug", "mug >"} <= read
    assert {"@bed", "@shelf", "kind=clean", "thing=mug"} <= read
    assert not any(token.startswith("target=") and token not in ("target=bed", "target=shelf") for token in read)


def test_without_words_only_the_furniture_is_left() -> None:
    assert tokens("?!", {"bed"}) == {"< >", "@bed"}


@pytest.mark.parametrize(
    ("errand", "kind", "target"),
    [
        (Put("mug", "shelf"), "pick", "shelf"),
        (Put("mug", "shelf", 2), "two", "shelf"),
        (Put("egg", "fridge", 1, "heat"), "heat", "fridge"),
        (Put("egg", "fridge", 1, "cool"), "cool", "fridge"),
        (Put("egg", "fridge", 1, "clean"), "clean", "fridge"),
        (Look("pen", "desklamp"), "look", "desklamp"),
    ],
)
def test_an_errand_is_its_three_parts(errand: Errand, kind: str, target: str) -> None:
    assert (kind_of(errand), target_of(errand)) == (kind, target)
    assert errand_of(kind, errand.thing, target) == errand


# -- the network ---------------------------------------------------------------------------------------------------


def test_the_probabilities_are_a_softmax_over_all_that_is_possible(model: GoalModel) -> None:
    """Against loops over every errand."""
    array = {name: values.astype(float).tolist() for name, values in model.arrays.items()}
    hidden = [max(0.0, array["vectors"][0][d] + array["vectors"][2][d] + array["bias"][d]) for d in range(2)]

    def part(name: str, at: int) -> float:
        return sum(hidden[d] * array[f"{name}_weights"][d][at] for d in range(2))

    raised = {}
    for kind, thing, target in product(range(6), range(2), range(3)):
        if (KINDS[kind] == "look") == (NAMES.targets[target] == "desklamp") and NAMES.targets[target] != "bed":
            pairs = array["kind_thing"][kind][thing] + array["kind_target"][kind][target]
            pairs += array["thing_target"][thing][target]
            own = part("kind", kind) + part("thing", thing) + part("target", target)
            raised[kind, thing, target] = math.exp(own + pairs)
    found = model.probabilities({"cup", "the cup", "unheard of"}, {"desk", "shelf"})
    assert found.shape == (6, 2, 3)
    assert found.sum() == pytest.approx(1)
    for at, value in np.ndenumerate(found):
        assert value == pytest.approx(raised.get(at, 0.0) / sum(raised.values()), rel=1e-4)  # type: ignore[call-overload]


def test_a_room_without_known_places_leaves_the_lamps(model: GoalModel) -> None:
    found = model.probabilities({"cup"}, {"throne"})
    assert found.sum() == pytest.approx(1)
    assert found[KINDS.index("look"), :, 2].sum() == pytest.approx(1)


def test_where_nothing_is_possible_nothing_is_probable() -> None:
    names = Names((), ("cup",), ("bed",), ())
    model = GoalModel(names, {name: np.zeros(shape, np.float32) for name, shape in names.shapes(1).items()})
    assert not model.probabilities((), {"shelf"}).any()


# -- the reader ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "places", "errand"),
    [
        ("Put a chilled potato on the table.", KITCHEN, Put("potato", "diningtable", 1, "cool")),
        ("place two pillows on the bed", BEDROOM, Put("pillow", "bed", 2)),
        ("Rinse off a fork, put it in the drawer.", KITCHEN, Put("fork", "drawer", 1, "clean")),
        ("Look at the book by the light of the lamp.", BEDROOM, Look("book", "desklamp")),
        ("microwave an egg and put it in the trash", KITCHEN | {"garbagecan"}, Put("egg", "garbagecan", 1, "heat")),
    ],
)
def test_plain_wishes_are_understood(shipped: GoalReader, goal: str, places: frozenset[str], errand: Errand) -> None:
    first = shipped.ranked(goal, places)[0]
    assert first.errand == errand
    assert first.probability > 0.5


def test_a_word_of_several_meanings_depends_on_the_room(shipped: GoalReader) -> None:
    said = "Put a cup on the table."
    assert target_of(shipped.readings(said, KITCHEN)[0]) == "diningtable"
    assert target_of(shipped.readings(said, BEDROOM)[0]) in ("desk", "sidetable", "dresser")


@given(st.text(max_size=60), st.frozensets(st.sampled_from([*known_places(), "throne", ""])))
def test_whatever_it_reads_no_place_is_meant_that_is_not_there(goal: str, places: frozenset[str]) -> None:
    reader = _SHARED
    found = reader.ranked(goal, places)
    shares = [reading.probability for reading in found]
    assert len({reading.errand for reading in found}) == len(found) <= 10
    assert shares == sorted(shares, reverse=True) or max(np.diff(shares)) < 1e-5
    assert sum(shares) <= 1 + 1e-5
    assert all(isinstance(reading.errand, Look) or reading.errand.place in places for reading in found)


_SHARED = GoalReader()


@pytest.mark.parametrize("goal", ["", "Be happy.", "Sing a song on the table.", "Покорми кота"])
def test_what_it_does_not_understand_has_no_reading(shipped: GoalReader, goal: str) -> None:
    assert shipped.readings(goal, BEDROOM) == []


def test_the_same_question_has_the_same_answer_after_others(shipped: GoalReader) -> None:
    first = shipped.ranked("Put a mug on the desk.", BEDROOM)
    shipped.ranked("Put a mug on the shelf.", BEDROOM)
    assert shipped.ranked("Put a mug on the desk.", set(BEDROOM)) == first


def test_it_reads_the_same_where_it_is_sent(shipped: GoalReader) -> None:
    sent = pickle.loads(pickle.dumps(shipped))
    assert sent.__dict__["_model"] is None
    assert sent.readings("Put a mug on the desk.", BEDROOM) == shipped.readings("Put a mug on the desk.", BEDROOM)
    assert sent.digest == shipped.digest


def test_the_shipped_reader_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 1_000_000


@pytest.mark.data
def test_most_of_what_people_wrote_about_new_rooms_is_understood(
    official_store: GameStore, alfworld_folder: Path, shipped: GoalReader
) -> None:
    written = read_annotations(alfworld_folder / "traj_data_valid.tar.xz")
    first, listed = [], []
    for example in goal_examples(official_store, "valid_unseen", templated=True):
        for sentence in written["valid_unseen", example.game]:
            found = shipped.readings(sentence, example.places)
            first.append(found[:1] == [example.errand])
            listed.append(example.errand in found)
    assert len(first) == 429
    assert sum(first) >= 0.82 * len(first)
    assert sum(listed) >= 0.98 * len(listed)


# -- files ---------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read(model: GoalModel, tmp_path: Path) -> None:
    model.write(tmp_path / "new")
    again = GoalModel.read(tmp_path / "new")
    assert again.names == model.names
    assert again.digest == model.digest
    assert {name: array.tolist() for name, array in again.arrays.items()} == {
        name: array.tolist() for name, array in model.arrays.items()
    }


def test_the_digest_follows_what_decides(model: GoalModel) -> None:
    other = {**model.arrays, "bias": model.arrays["bias"] + 1}
    assert GoalModel(NAMES, other).digest != model.digest
    assert GoalModel(NAMES, model.arrays, {"seed": 3}).digest == model.digest


def test_a_reader_can_be_saved_and_read(shipped: GoalReader, tmp_path: Path) -> None:
    shipped.save_pretrained(tmp_path / "copy")
    assert GoalReader.from_pretrained(tmp_path / "copy").digest == shipped.digest
    with pytest.raises(InvalidSetting):
        shipped.save_pretrained(tmp_path / "copy")


def rewrite(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        config = json.loads((folder / CONFIG).read_text())
        change(config)
        (folder / CONFIG).write_text(json.dumps(config))

    return spoil


def cut(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-100])


def nan(folder: Path) -> None:
    with np.load(folder / WEIGHTS) as stored:
        arrays = dict(stored)
    arrays["bias"][0] = np.nan
    np.savez(folder / WEIGHTS, allow_pickle=False, **arrays)


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda folder: (folder / CONFIG).unlink(), MissingData, "has no config.json"),
        (lambda folder: (folder / WEIGHTS).unlink(), MissingData, "has no reader.npz"),
        (lambda folder: (folder / CONFIG).write_text("{"), BadRecord, "is no JSON"),
        (rewrite(lambda config: config.update(kind="webshop-match")), DataMismatch, "of kind 'webshop-match'"),
        (rewrite(lambda config: config.update(format=2)), DataMismatch, "another version"),
        (rewrite(lambda config: config.update(kinds=["pick"])), DataMismatch, "another version"),
        (rewrite(lambda config: config.update(width=True)), BadRecord, "width"),
        (rewrite(lambda config: config.update(things="cup")), BadRecord, "things"),
        (rewrite(lambda config: config.update(things=["cup", "cup"])), BadRecord, "each once"),
        (rewrite(lambda config: config.update(tokens=[1])), BadRecord, "tokens"),
        (rewrite(lambda config: config.update(tokens=[["cup"]])), BadRecord, "tokens"),
        (rewrite(lambda config: config.pop("lamps")), BadRecord, "lamps"),
        (rewrite(lambda config: config["tokens"].append("more")), BadRecord, "'vectors' should be"),
        (cut, BadRecord, "truncated"),
        (nan, BadRecord, "'bias' should be finite"),
    ],
)
def test_a_spoilt_folder_is_refused_in_one_sentence(
    model: GoalModel, tmp_path: Path, spoil: Callable[[Path], None], error: type[LLMGymError], says: str
) -> None:
    folder = tmp_path / "reader"
    model.write(folder)
    spoil(folder)
    with pytest.raises(error, match=says):
        GoalReader.from_pretrained(folder)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="is no goal reader"):
        GoalReader.from_pretrained(tmp_path / "nowhere")
    reader = GoalReader(tmp_path / "later")  # read when it is asked first
    shutil.copytree(SHIPPED, tmp_path / "later")
    assert reader.readings("Put a mug on the desk.", BEDROOM)
