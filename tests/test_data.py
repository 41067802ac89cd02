"""Folders that appear whole or not at all."""

from __future__ import annotations

import pytest

from llm_gym.data import new_folder
from llm_gym.errors import InvalidSetting


def test_a_new_folder_appears_when_all_is_done(tmp_path):
    target = tmp_path / "parent/target"
    with new_folder(target) as workshop:
        (workshop / "file").write_text("content")
        assert not target.exists()
    assert (target / "file").read_text() == "content"
    assert list(target.parent.iterdir()) == [target]


def test_an_empty_folder_may_be_there_already(tmp_path):
    with new_folder(tmp_path) as workshop:
        (workshop / "file").write_text("content")
    assert (tmp_path / "file").read_text() == "content"


def test_nothing_is_left_of_work_that_failed(tmp_path):
    def fail():
        with new_folder(tmp_path / "target") as workshop:
            (workshop / "file").write_text("half")
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "make", [lambda path: path.write_text("a file"), lambda path: (path / "full").mkdir(parents=True)]
)
def test_what_is_there_is_never_replaced(tmp_path, make):
    make(tmp_path / "target")
    with pytest.raises(InvalidSetting, match="target exists already"), new_folder(tmp_path / "target"):
        raise AssertionError("the block is not entered")


def test_the_folder_of_a_faster_process_stays(tmp_path):
    target = tmp_path / "target"
    with new_folder(target) as workshop:
        (workshop / "file").write_text("slower")
        target.mkdir()
        (target / "file").write_text("faster")
    assert (target / "file").read_text() == "faster"
    assert list(tmp_path.iterdir()) == [target]
