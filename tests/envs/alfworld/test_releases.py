"""The games of a release are known by their bytes."""

from __future__ import annotations

import hashlib
import json
import lzma
import tarfile
import zipfile

import pytest

from llm_gym.envs.alfworld.releases import RELEASES, listed, read_digests, verify, write_digests
from llm_gym.envs.alfworld.sources import GAME_FILE
from llm_gym.errors import BadRecord, DataError, DataMismatch


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


GAMES = {f"train/pick-Mug-{number}/trial_{number}": b"game %d" % number for number in range(5)}
DIGESTS = {key: digest(content) for key, content in GAMES.items()}


@pytest.fixture
def archive(tmp_path):
    def archive(games, prefix="json_2.1.1/", name="games.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as file:
            for key, content in games.items():
                file.writestr(f"{prefix}{key}/{GAME_FILE}", content)
        return tmp_path / name

    return archive


def quiet(done, total):
    """Nobody watches."""


def test_the_games_of_the_list_are_right_wherever_they_stand_in_the_archive(archive):
    told = []
    assert verify(archive(GAMES), DIGESTS, lambda done, total: told.append((done, total))) == 0
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    assert verify(archive(dict(reversed(GAMES.items())), prefix=""), DIGESTS, quiet) == 0


def test_games_that_differ_or_are_missing_are_counted_and_the_first_named(archive):
    changed = {key: content + b"!" for key, content in list(GAMES.items())[:4]}
    with pytest.raises(DataMismatch) as caught:
        verify(archive(changed | {"train/pick-Cup-1/trial_1": b"more"}), DIGESTS, quiet)
    assert str(caught.value) == (
        "games.zip does not hold the games of the release: 4 of 5 differ (train/pick-Mug-0/trial_0, "
        "train/pick-Mug-1/trial_1, train/pick-Mug-2/trial_2, …); 1 of 5 are missing (train/pick-Mug-4/trial_4); "
        "1 are none of its games."
    )


def test_a_second_game_of_the_same_name_must_be_right_too(tmp_path):
    key = next(iter(GAMES))
    with zipfile.ZipFile(tmp_path / "games.zip", "w") as file:
        for prefix, content in (("a", GAMES[key]), ("b", b"another")):
            file.writestr(f"{prefix}/{key}/{GAME_FILE}", content)
    with pytest.raises(DataMismatch, match="1 of 1 differ"):
        verify(tmp_path / "games.zip", {key: DIGESTS[key]}, quiet)


def test_games_beyond_the_list_are_counted_and_passed_over(archive):
    path = archive(GAMES | {"train/pick-Cup-1/trial_1": b"more", "valid_seen/pick-Mug-1/trial_1": b"game 1"})
    assert verify(path, DIGESTS, quiet) == 2
    assert [found.content for found in listed(path, GAME_FILE, DIGESTS)] == list(GAMES.values())


def test_paths_that_lead_elsewhere_are_names_only(archive, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    path = archive(GAMES, prefix="../../")
    assert verify(path, DIGESTS, quiet) == 0
    assert sorted(tmp_path.rglob("*")) == [*before, path]


@pytest.mark.parametrize("content", [b"", b"PK no zip", b"PK\x03\x04" + bytes(300)])
def test_a_damaged_archive_is_told(tmp_path, content):
    (tmp_path / "games.zip").write_bytes(content)
    with pytest.raises(DataError, match=r"games\.zip is damaged"):
        verify(tmp_path / "games.zip", DIGESTS, quiet)


def test_a_list_holds_the_games_of_panels_only(archive, tmp_path):
    def game(**more):
        return json.dumps({"grammar": "", "pddl_problem": "", **more}).encode()

    games = {
        "train/b/trial_1": game(solvable=True),
        "train/a/trial_1": game(solvable=True, walkthrough=["look"]),
        "train/c/trial_1": game(solvable=False),
        "train/d/trial_1": game(),
        "train/pick_and_place_with_movable_recep/trial_1": game(solvable=True),
        "train/pick-AppleSliced/trial_1": game(solvable=True),
    }
    target = tmp_path / "list.txt.xz"
    assert write_digests(archive(games), target) == 2
    a, b = digest(games["train/a/trial_1"]), digest(games["train/b/trial_1"])
    assert lzma.decompress(target.read_bytes()).decode() == f"{a} train/a/trial_1\n{b} train/b/trial_1\n"
    assert read_digests(target) == {"train/a/trial_1": a, "train/b/trial_1": b}


@pytest.mark.parametrize(
    "content", [b"", b"no xz", lzma.compress(b"one"), lzma.compress(b"\xff a"), lzma.compress(b"a b c")]
)
def test_a_damaged_list_is_told(tmp_path, content):
    (tmp_path / "list.txt.xz").write_bytes(content)
    with pytest.raises(BadRecord, match="no list of digests"):
        read_digests(tmp_path / "list.txt.xz")


@pytest.mark.parametrize(("name", "train"), [("2.1.3", 3553), ("2.1.1", 3554)])
def test_the_lists_of_the_package_hold_the_games_that_the_field_counts(name, train):
    splits = [key.partition("/")[0] for key in read_digests(RELEASES[name].digests)]
    assert {split: splits.count(split) for split in splits} == {
        "train": train,
        "valid_seen": 140,
        "valid_unseen": 134,
        "valid_train": 200,
    }


def test_the_lists_are_small():
    assert sum(release.digests.stat().st_size for release in RELEASES.values()) <= 250_000


@pytest.mark.data
@pytest.mark.parametrize("name", RELEASES)
def test_the_lists_are_those_of_the_official_files(data_folder, name):
    listed_games = read_digests(RELEASES[name].digests)
    found = set()
    with tarfile.open(data_folder / "alfworld" / f"games_v{name}_tw-pddl.tar.xz") as tar:
        for member in tar:
            key = "/".join(member.name.split("/")[-4:-1])
            if key in listed_games:
                content = tar.extractfile(member).read()
                assert listed_games[key] == digest(content)
                assert b'"solvable": true' in content
                found.add(key)
    assert found == set(listed_games)


def test_a_mirror_has_the_archives_under_their_names():
    mirrored = RELEASES["2.1.3"].mirrored("https://mirror.example/alfworld/")
    assert mirrored.games == "https://mirror.example/alfworld/json_2.1.3_tw-pddl.zip"
    assert mirrored.annotations == "https://mirror.example/alfworld/json_2.1.1_json.zip"
    assert mirrored.digests == RELEASES["2.1.3"].digests
