"""Files of demonstrations: written whole, read as a stream, and never believed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.demonstrations import (
    Demonstration,
    DemonstrationStep,
    Header,
    check_world,
    read_demonstrations,
    write_demonstrations,
)
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData

HEADER = Header("llm_gym/Corridor-v0", {"length": 5, "digest": "abc"}, {"policy": "me", "kept": "all"})
FIRST = '{"format":"llm_gym demonstrations","version":1,"environment":"","description":{}}\n'

texts = st.text(max_size=20)
steps = st.builds(
    lambda page, actions, chosen, image: DemonstrationStep(page, tuple(actions), chosen % len(actions), image),
    texts,
    st.lists(texts, min_size=1, max_size=5),
    st.integers(0, 100),
    st.none() | texts,
)
demonstrations = st.builds(
    Demonstration,
    task_id=texts,
    goal=texts,
    steps=st.lists(steps, min_size=1, max_size=4).map(tuple),
    success=st.none() | st.booleans(),
    score=st.none() | st.floats(0, 100),
    source=texts,
)


@pytest.fixture(params=["demos.jsonl", "demos.jsonl.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


def write_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(demonstrations, min_size=1, max_size=4))
def test_what_is_written_is_read_again(path: Path, written: list[Demonstration]) -> None:
    assert write_demonstrations(path, iter(written), HEADER) == len(written)
    read = read_demonstrations(path)
    assert (read.header, list(read), list(read)) == (HEADER, written, written)


anything = st.none() | st.floats() | texts | st.lists(texts, max_size=3) | st.dictionaries(texts, texts, max_size=3)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80) | anything.map(lambda value: json.dumps(value).encode()))
def test_no_line_whatever_it_holds_does_more_than_break_the_format(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "demos.jsonl"
    write_bytes(path, FIRST.encode() + line + b"\n")
    with pytest.raises(BadRecord, match=r"line [2-9]"):
        list(read_demonstrations(path))


def test_the_first_line_says_what_and_where(path: Path, make: Any) -> None:
    write_demonstrations(path, [make()], HEADER)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    first = json.loads(content.splitlines()[0])
    assert (first["format"], first["version"]) == ("llm_gym demonstrations", 1)
    assert (first["environment"], first["description"]) == ("llm_gym/Corridor-v0", {"length": 5, "digest": "abc"})


def test_equal_demonstrations_give_equal_bytes(path: Path, make: Any) -> None:
    write_demonstrations(path, [make()], HEADER)
    before = path.read_bytes()
    write_demonstrations(path, [make()], HEADER)
    assert path.read_bytes() == before


def test_reading_holds_one_line_at_a_time(path: Path, make: Any) -> None:
    write_demonstrations(path, [make("t1"), make("t2")], HEADER)
    whole = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    write_bytes(path, whole + b"no JSON\n")
    rows = iter(read_demonstrations(path))
    assert [next(rows).task_id, next(rows).task_id] == ["t1", "t2"]
    with pytest.raises(BadRecord, match="line 4: not JSON in UTF-8"):
        next(rows)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n", "line 1: not JSON"),
        (b'{"task_id": "t1"}\n', "line 1: no header"),
        (b"[]\n", "line 1: no header"),
        (b'{"format": "another"}\n', "line 1: no header"),
        (b'{"format": "llm_gym demonstrations", "version": 2}\n', "line 1: format version 2; this llm_gym reads 1"),
        (b'{"format": "llm_gym demonstrations", "version": 1}\n', "line 1: the header lacks"),
        (FIRST.encode()[:-1], "line 1: cut off"),
        (FIRST.encode().replace(b'""', b'"\xff"'), "line 1: not JSON in UTF-8"),
    ],
)
def test_what_is_no_such_file_is_refused_when_it_is_opened(path: Path, content: bytes, said: str) -> None:
    write_bytes(path, content)
    with pytest.raises(BadRecord) as raised:
        read_demonstrations(path)
    assert str(raised.value).startswith(str(path))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (lambda row: row["chosen"].__setitem__(0, 2), "line 2, step 1: the chosen action is number 2"),
        (lambda row: row["images"].append(None), "line 2: observations, actions, chosen and images have 2, 2, 2, 3"),
        (lambda row: row.update(score=float("nan")), "line 2: not JSON"),
        (lambda row: row.update(goal=None), 'line 2: "goal" should be a text'),
    ],
)
def test_a_wrong_row_is_told_with_file_and_line(path: Path, make: Any, row: Any, said: str) -> None:
    changed = make().to_json()
    row(changed)
    write_bytes(path, FIRST.encode() + json.dumps(changed).encode() + b"\n")
    with pytest.raises(BadRecord) as raised:
        list(read_demonstrations(path))
    assert f"{path}, {said}" in str(raised.value)


def test_a_last_line_that_is_cut_off_is_told(path: Path, make: Any) -> None:
    write_bytes(path, FIRST.encode() + json.dumps(make().to_json()).encode())
    with pytest.raises(BadRecord, match="line 2: cut off"):
        list(read_demonstrations(path))


@pytest.mark.parametrize("kept", [10, -10])
def test_a_compressed_file_that_is_cut_off_is_told(tmp_path: Path, make: Any, kept: int) -> None:
    path = tmp_path / "demos.gz"
    write_demonstrations(path, [make(str(number)) for number in range(500)], HEADER)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(BadRecord, match="damaged or cut off"):
        list(read_demonstrations(path))


def test_a_name_that_promises_a_compressed_file_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "demos.gz"
    path.write_text(FIRST)
    with pytest.raises(BadRecord, match="damaged or cut off"):
        read_demonstrations(path)


@pytest.mark.parametrize("name", ["nothing.jsonl", "nothing.gz", ".", "file/inside"])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MissingData, match=r"is no file.*demos record"):
        read_demonstrations(tmp_path / name)


def test_a_failure_on_the_way_leaves_the_older_file(path: Path, make: Any) -> None:
    write_demonstrations(path, [make()], HEADER)
    before = path.read_bytes()

    def breaking() -> Iterator[Demonstration]:
        yield make()
        raise KeyError("a drawer")

    with pytest.raises(KeyError):
        write_demonstrations(path, breaking(), HEADER)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_what_could_not_be_read_again_is_not_written(path: Path, make: Any) -> None:
    with pytest.raises(BadRecord, match=r"demonstration 2 \(t2\): \"score\" should be a finite number"):
        write_demonstrations(path, [make(), make("t2", score=float("nan"))], HEADER)
    with pytest.raises(InvalidSetting, match="no demonstration to write"):
        write_demonstrations(path, [], HEADER)
    assert not path.exists()


def test_half_a_surrogate_pair_can_be_written(path: Path, make: Any) -> None:
    write_demonstrations(path, [make(goal="a \ud83d shoe")], HEADER)
    assert [one.goal for one in read_demonstrations(path)] == ["a � shoe"]


def test_a_header_tells_of_the_environment() -> None:
    header = Header.of(gym.make("llm_gym/Corridor-v0", length=7), policy="me")
    assert header == Header("llm_gym/Corridor-v0", {"length": 7, "split": "all", "tasks": 200}, {"policy": "me"})


@pytest.mark.parametrize(
    "description", [{"catalogue_digest": "abc", "split": "test"}, {"games_digest": "other"}, {}], ids=str
)
def test_demonstrations_of_the_same_data_or_of_none_belong_anywhere(description: dict[str, Any]) -> None:
    check_world(Header("", {"catalogue_digest": "abc", "split": "train"}), description)
    check_world(Header(), {"catalogue_digest": "abc"})


def test_demonstrations_of_another_catalogue_are_refused_in_words() -> None:
    made = Header("llm_gym/WebShop-v1", {"catalogue": "small", "catalogue_digest": "abc"})
    with pytest.raises(DataMismatch) as raised:
        check_world(made, {"catalogue": "large", "catalogue_digest": "def"}, "demos.jsonl")
    assert str(raised.value) == (
        "demos.jsonl were made with other data: catalogue_digest abc (small) there, def (large) here. Choose the "
        "environment that they were made in, or make new ones in this one."
    )
