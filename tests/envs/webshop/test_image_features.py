"""Features of pictures: the folder that holds them, and what the environment gives of them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.env import WebShop, WebShopV0
from llm_gym.envs.webshop.image_features import EMBEDDED_IMAGES, FeatureStore, write_features
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData

META = {"source": {"pictures": "by hand"}, "catalogue": {"name": "a world", "digest": "0" * 16}}
WORLDS = pytest.mark.parametrize("world", [WebShop, WebShopV0])
Array = npt.NDArray[Any]


def rows(*values: float) -> Array:
    """A row of 512 equal numbers for each."""
    return np.repeat(np.array(values, np.float32)[:, None], 512, axis=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Features of three products, written out of order."""
    write_features(tmp_path / "features", ["B02", "B03", "B01"], rows(2, 3, 0.1), META)
    return tmp_path / "features"


def refused(kind: type[LLMGymError], action: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return str(caught.value)


# -- the folder ----------------------------------------------------------------------------------------------------


def test_a_product_has_its_own_features_as_halves_hold_them(folder: Path) -> None:
    store = FeatureStore.open(folder)
    found = [store.find(identity) for identity in ("B01", "B02", "B03")]
    assert [None if one is None else one.tolist() for one in found] == [
        [float(np.float16(0.1))] * 512,
        [2.0] * 512,
        [3.0] * 512,
    ]
    assert store.ids == ["B01", "B02", "B03"]


@pytest.mark.parametrize("identity", ["", "B00", "B015", "B04", "b01", "\ud800", "B01\n"])
def test_another_product_has_none(folder: Path, identity: str) -> None:
    assert FeatureStore.open(folder).find(identity) is None


def test_features_are_the_same_read_only_array_whenever_they_are_asked_for(folder: Path) -> None:
    features = FeatureStore.open(str(folder)).find("B02")
    assert features is FeatureStore.open(folder).find("B02")
    assert features is not None
    assert features.dtype == np.float32
    assert features.shape == (512,)
    with pytest.raises(ValueError, match="read-only"):
        features[0] = 1


@given(st.sets(st.text("0123456789ABCDEFXYZ", min_size=1, max_size=10), min_size=1, max_size=40), st.randoms())
def test_every_product_is_found_whatever_the_order(
    tmp_path_factory: pytest.TempPathFactory, ids: set[str], random: Any
) -> None:
    order = random.sample(sorted(ids), len(ids))
    folder = tmp_path_factory.mktemp("any") / "features"
    write_features(folder, order, rows(*range(len(order))), META)
    store = FeatureStore.open(folder)
    assert [int(features[7]) for identity in order if (features := store.find(identity)) is not None] == [
        *range(len(order))
    ]


def test_the_digest_tells_features_apart_and_not_their_order(folder: Path, tmp_path: Path) -> None:
    write_features(tmp_path / "again", ["B01", "B02", "B03"], rows(0.1, 2, 3), META)
    write_features(tmp_path / "other", ["B01", "B02", "B03"], rows(0.1, 2, 4), META)
    write_features(tmp_path / "others", ["B01", "B02", "B04"], rows(0.1, 2, 3), META)
    digests = [FeatureStore.open(tmp_path / name).digest for name in ("features", "again", "other", "others")]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("ids", "features", "message"),
    [
        (["B01"], rows(1, 2), r"1 ids need features of shape \(1, 512\), got \(2, 512\)"),
        (["B01"], np.zeros((1, 2048)), r"got \(1, 2048\)"),
        ([], np.zeros((0, 512)), "0 ids"),
        (["B01", "B02", "B01"], rows(1, 2, 3), "'B01' is there twice"),
        (["B01", "B02"], rows(1, np.nan), "'B02' are no numbers"),
        (["B01", "B02"], rows(np.inf, 1), "'B01' are no numbers"),
        (["B01"], rows(70_000), "beyond ±65,504"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_what_cannot_be_stored_is_refused_and_leaves_nothing(
    tmp_path: Path, ids: list[str], features: Array, message: str
) -> None:
    with pytest.raises(InvalidSetting, match=message):
        write_features(tmp_path / "features", ids, features, META)
    assert list(tmp_path.iterdir()) == []


def test_features_never_take_the_place_of_others(folder: Path) -> None:
    message = refused(InvalidSetting, lambda: write_features(folder, ["B09"], rows(9), META))
    assert "exists already" in message
    assert FeatureStore.open(folder).find("B09") is None


def test_a_folder_without_features_is_told(tmp_path: Path) -> None:
    assert "no meta.json" in refused(MissingData, lambda: FeatureStore.open(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["ids.npy", "features.npy"])
def test_a_missing_file_is_told(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"{name} is missing" in refused(MissingData, lambda: FeatureStore.open(folder))


@pytest.mark.parametrize("name", ["ids.npy", "features.npy"])
@pytest.mark.parametrize("kept", [0, 5, 60, -1])
def test_a_truncated_file_is_told(folder: Path, name: str, kept: int) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:kept])
    assert name in refused(BadRecord, lambda: FeatureStore.open(folder))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("features.npy", np.zeros((3, 2048), np.float16), "(3, 512), holds float16 of shape (3, 2048)"),
        ("features.npy", np.zeros((2, 512), np.float16), "holds float16 of shape (2, 512)"),
        ("features.npy", np.zeros((3, 512), np.float64), "holds float64"),
        ("ids.npy", np.array([1, 2, 3]), "should hold ids, holds int64"),
        ("ids.npy", np.array([[b"B01", b"B02", b"B03"]]), "of shape (1, 3)"),
        ("ids.npy", np.array([b"B01", b"B02", b"B02"]), "'B02' is there twice or out of order"),
        ("ids.npy", np.array([b"B02", b"B01", b"B03"]), "'B01' is there twice or out of order"),
    ],
)
def test_a_file_of_another_shape_or_with_wrong_ids_is_told(folder: Path, name: str, array: Array, message: str) -> None:
    np.save(folder / name, array)
    assert message in refused(BadRecord, lambda: FeatureStore.open(folder))


class Trap:
    """What unpickling would touch."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return pytest.fail, ("unpickled",)


def test_objects_are_never_unpickled(folder: Path) -> None:
    np.save(folder / "ids.npy", np.array([Trap()] * 3, dtype=object), allow_pickle=True)
    assert "ids.npy" in refused(BadRecord, lambda: FeatureStore.open(folder))


@pytest.mark.parametrize(
    ("meta", "kind", "message"),
    [
        ("{", BadRecord, "is no JSON"),
        ("[]", DataMismatch, "format 1"),
        ('{"format": 2}', DataMismatch, "format 1"),
        ('{"format": 1, "source": {}, "catalogue": {"name": "x", "digest": "y"}}', BadRecord, "lacks 'digest'"),
        ('{"format": 1, "digest": "1", "source": {}, "catalogue": {"name": "x"}}', BadRecord, "of the catalogue"),
        ('{"format": 1, "digest": "1", "source": {}, "catalogue": "x"}', BadRecord, "of the catalogue"),
    ],
)
def test_a_wrong_description_is_told(folder: Path, meta: str, kind: type[LLMGymError], message: str) -> None:
    (folder / "meta.json").write_text(meta, encoding="utf-8")
    assert message in refused(kind, lambda: FeatureStore.open(folder))


def test_what_is_no_number_is_told_when_it_is_asked_for(folder: Path) -> None:
    features = rows(1, 2, 3).astype(np.float16)
    features[1, 300] = np.nan
    np.save(folder / "features.npy", features)
    store = FeatureStore.open(folder)
    assert store.find("B01") is not None
    assert "the features of B02 are no numbers" in refused(BadRecord, lambda: store.find("B02"))


# -- the environment -----------------------------------------------------------------------------------------------


def features_for(world: Path, ids: list[str], folder: Path) -> Path:
    catalogue = Catalogue.open(world)
    meta = {"source": {}, "catalogue": {"name": catalogue.name, "digest": catalogue.digest}}
    write_features(folder, ids, rows(*range(1, len(ids) + 1)), meta)
    return folder


WALK = ["search[shared]", "click[b0shared01]", "click[small]", "click[description]", "click[< prev]", "click[features]"]
"""Actions; all but the first lead to a page of the product."""


@WORLDS
def test_the_pages_of_a_product_name_its_picture_and_give_the_features(
    world: type[WebShop], nasty_world: Path, tmp_path: Path
) -> None:
    folder = features_for(nasty_world, ["B0SHARED01", "B0RANGE001"], tmp_path / "features")
    env = world(nasty_world, goals="human", image_features=folder)
    infos = [env.reset()[1], *(env.step(action)[4] for action in WALK)]
    assert not any("invalid_action" in info for info in infos)
    assert [info.get("image_id") for info in infos] == [None, None, *["B0SHARED01"] * 5]
    features = [info.get("image_features") for info in infos]
    assert features[:2] == [None, None]
    assert all(one is features[2] for one in features[2:])
    assert features[2] is not None
    assert features[2].tolist() == [1.0] * 512
    back = [env.step("click[back to search]")[4]]
    for action in ("search[range]", "click[b0range001]", "click[buy now]"):
        back.append(env.step(action)[4])
    assert ["image_id" in info for info in back] == [False, False, True, False]
    assert back[2]["image_features"].tolist() == [2.0] * 512


@WORLDS
def test_a_product_without_features_has_none_and_is_named_all_the_same(
    world: type[WebShop], nasty_world: Path, tmp_path: Path
) -> None:
    folder = features_for(nasty_world, ["B0RANGE001"], tmp_path / "features")
    for env in (world(nasty_world, goals="human"), world(nasty_world, goals="human", image_features=str(folder))):
        env.reset()
        infos = [env.step(action)[4] for action in WALK]
        assert infos[-1]["image_id"] == "B0SHARED01"
        assert not any("image_features" in info for info in infos)


def test_an_impossible_action_leaves_the_picture(nasty_world: Path, tmp_path: Path) -> None:
    env = WebShop(
        nasty_world,
        goals="human",
        image_features=features_for(nasty_world, ["B0SHARED01"], tmp_path / "features"),
    )
    env.reset()
    for action in WALK[:2]:
        *_, info = env.step(action)
    *_, after = env.step("click[nothing of the kind]")
    assert after["image_features"] is info["image_features"]


def test_an_info_with_features_can_be_sent_to_another_process(nasty_world: Path, tmp_path: Path) -> None:
    env = WebShop(
        nasty_world,
        goals="human",
        image_features=features_for(nasty_world, ["B0SHARED01"], tmp_path / "features"),
    )
    env.reset()
    for action in WALK[:2]:
        *_, info = env.step(action)
    sent = pickle.loads(pickle.dumps(info))
    assert np.array_equal(sent.pop("image_features"), info.pop("image_features"))
    assert sent == info


def test_gymnasiums_checker_finds_nothing_with_features(nasty_world: Path, tmp_path: Path) -> None:
    folder = features_for(nasty_world, ["B0SHARED01"], tmp_path / "features")
    check_env(WebShop(nasty_world, goals="human", image_features=folder), skip_render_check=True)


@WORLDS
def test_the_description_names_features_that_were_given_and_no_others(
    world: type[WebShop], nasty_world: Path, tmp_path: Path
) -> None:
    folder = features_for(nasty_world, ["B0SHARED01"], tmp_path / "features")
    described = world(nasty_world, goals="human", image_features=folder).description()
    assert json.loads(json.dumps(described))["image_features"] == FeatureStore.open(folder).digest
    assert world(nasty_world, goals="human").description().items() <= described.items()
    assert "image_features" not in world(nasty_world, goals="human").description()
    assert "image_features" not in world().description()


def test_features_of_another_catalogue_are_refused_with_counts(nasty_world: Path, tmp_path: Path) -> None:
    write_features(tmp_path / "features", ["B01", "B02"], rows(1, 2), META)
    message = refused(DataMismatch, lambda: WebShop(nasty_world, goals="human", image_features=tmp_path / "features"))
    assert "features of 2 products of the catalogue 'a world', of none of the 25 products of this one" in message


def test_features_of_a_larger_catalogue_serve_a_smaller_one(nasty_world: Path, tmp_path: Path) -> None:
    write_features(tmp_path / "features", ["B01", "B0SHARED01"], rows(1, 2), META)
    env = WebShop(nasty_world, goals="human", image_features=tmp_path / "features")
    env.reset()
    for action in WALK[:2]:
        *_, info = env.step(action)
    assert info["image_features"][0] == 2.0


@WORLDS
def test_the_embedded_catalogue_brings_features_of_all_its_products(world: type[WebShop]) -> None:
    env = world()
    env.reset(options={"task": env.panel[0]})
    for action in env.solution()[:2]:
        *_, info = env.step(action)
    assert info["image_id"] == env.goal.asin
    assert info["image_features"] is FeatureStore.open(EMBEDDED_IMAGES).find(env.goal.asin)


def test_the_embedded_features_are_of_the_embedded_catalogue_and_small() -> None:
    catalogue = Catalogue.open()
    store = FeatureStore.open(EMBEDDED_IMAGES)
    assert store.meta["catalogue"] == {"name": catalogue.name, "digest": catalogue.digest}
    assert set(store.ids) == {catalogue.store.asin(position) for position in range(catalogue.size)}
    assert sum(file.stat().st_size for file in EMBEDDED_IMAGES.iterdir()) <= 1_300_000
    features = np.array([store.find(identity) for identity in store.ids])
    assert np.isfinite(features).all()
    assert np.square(features).sum(axis=1).mean() == pytest.approx(512, rel=0.1)
