"""Plain arrays in files: what is read, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from llm_gym.errors import BadRecord
from llm_gym.policies.stored_arrays import read_arrays, read_config

SHAPES = {"first": (2, 3), "second": (4,)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.savez(tmp_path / "arrays.npz", first=np.ones((2, 3), np.float32), second=np.arange(4, dtype=np.float32))
    return tmp_path / "arrays.npz"


def test_arrays_are_read_by_their_names(path: Path) -> None:
    arrays = read_arrays(path, SHAPES)
    assert arrays.keys() == SHAPES.keys()
    assert arrays["second"].tolist() == [0, 1, 2, 3]
    assert read_arrays(path, {"second": (4,)}).keys() == {"second"}


@pytest.mark.parametrize("shapes", [{"third": (1,)}, {"first": (3, 2)}])
def test_arrays_that_are_missing_or_of_another_shape_are_named(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(BadRecord, match=rf"{next(iter(shapes))}' should be finite numbers"):
        read_arrays(path, shapes)


@pytest.mark.parametrize("second", [[0.0, 1.0, 2.0, np.inf], np.arange(4), [None] * 4])
def test_only_finite_numbers_of_the_right_type_are_read(path: Path, second: object) -> None:
    np.savez(path, second=np.array(second, np.float32 if isinstance(second, list) and None not in second else None))
    with pytest.raises(BadRecord):
        read_arrays(path, {"second": (4,)})


def test_what_unpacks_to_far_more_than_its_arrays_is_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("second.npy", b"\0" * 10_000_000)
    with pytest.raises(BadRecord, match="unpacks to 10,000,000 bytes"):
        read_arrays(path, {"second": (4,)})


@pytest.mark.parametrize("length", [0, 10, 200])
def test_a_truncated_file_is_refused(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(BadRecord, match="is truncated or no file of arrays"):
        read_arrays(path, SHAPES)


@pytest.mark.parametrize(("text", "said"), [("{", "is no JSON"), ("[1]", "should hold an object, holds list")])
def test_a_config_is_an_object(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(BadRecord, match=said):
        read_config(path)
    path.write_text('{"kind": "x"}')
    assert read_config(path) == {"kind": "x"}
