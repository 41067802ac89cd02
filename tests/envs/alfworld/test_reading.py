"""`game.tw-pddl` and where such files are found: folders, archives, single files; all that can be wrong with them."""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile

import pytest

from llm_gym.envs.alfworld import sources
from llm_gym.envs.alfworld.reading import GameFile, read_game, reason_to_leave_out
from llm_gym.envs.alfworld.sources import GAME_FILE, find_files
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL
from llm_gym.errors import BadRecord, DataError, MissingData


def test_a_game_of_the_current_wording(game_file):
    game = read_game(game_file(walkthrough=["go to shelf 1", "move mug 1 to shelf 1"]), "here", "a/b", "train")
    assert (game.task_id, game.split, game.goal, game.solvable) == ("a/b", "train", "put a mug in shelf.", True)
    assert game.walkthrough == ("go to shelf 1", "move mug 1 to shelf 1")
    assert game.task_type == "pick_and_place_simple"
    assert ("inreceptacle", "mug_bar_1", "desk_bar_1") in game.problem.facts


def test_a_walkthrough_of_the_old_wording_is_told_in_the_current_one(game_file):
    content = game_file(wording=ORIGINAL, walkthrough=["put mug 1 in/on shelf 1"])
    assert read_game(content, "here", "a/b", "train").walkthrough == ("move mug 1 to shelf 1",)
    assert GameFile.parse(content, "here").wording() is ORIGINAL
    assert GameFile.parse(game_file(), "here").wording() is CURRENT


def test_a_file_that_does_not_say_whether_it_is_solvable_counts_as_not_solvable(game_file):
    assert read_game(game_file(solvable=None), "here", "a/b", "train").solvable is False
    assert read_game(game_file(walkthrough=None), "here", "a/b", "train").walkthrough is None


def test_a_goal_may_hold_what_json_writes_in_another_way(game_file):
    assert (
        read_game(game_file(goal='put the \\"best\\" m\\u00fcg.'), "here", "a/b", "train").goal == 'put the "best" müg.'
    )


@pytest.mark.parametrize(
    ("task_id", "solvable", "reason"),
    [
        ("pick-Mug/trial", True, None),
        ("pick-Mug/trial", False, "not solvable"),
        ("pick-Mug/trial", None, "not said to be solvable"),
        ("pick-AppleSliced-None/trial", True, "Sliced in its name"),
        ("pick_and_place_with_movable_recep-Mug/trial", False, "movable in its name"),
    ],
)
def test_games_that_the_original_leaves_out(game_file, task_id, solvable, reason):
    assert reason_to_leave_out(task_id, GameFile.parse(game_file(solvable=solvable), "here")) == reason


def _without(key):
    return lambda content: json.dumps({name: value for name, value in json.loads(content).items() if name != key})


def _with(key, value):
    return lambda content: json.dumps(json.loads(content) | {key: value})


def _replaced(key, old, new):
    def change(content):
        data = json.loads(content)
        assert old in data[key]
        return json.dumps(data | {key: data[key].replace(old, new)})

    return change


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda content: content[:-40], "is no JSON"),
        (lambda content: b"", "is no JSON"),
        (lambda content: b"\xff\xfe" + content, "is no JSON"),
        (lambda content: b"[]", "holds no JSON object"),
        (_without("grammar"), "grammar is missing"),
        (_without("pddl_problem"), "pddl_problem is missing"),
        (_with("pddl_problem", 5), "pddl_problem is no text"),
        (_with("pddl_problem", ""), r"has a part \(:init"),
        (_with("solvable", "yes"), "solvable is true or false, not 'yes'"),
        (_with("walkthrough", "look"), "walkthrough is a list of commands"),
        (_with("walkthrough", ["look", 5]), "walkthrough is a list of commands"),
        (_replaced("grammar", "You open the {r.name}. #examine", "You open the {r.name}. #other"), "neither release"),
        (_replaced("grammar", "Your task is to: ", "You shall "), "says nothing after 'Your task is to: '"),
        (_replaced("grammar", "put a mug", "put a \\q mug"), "is no JSON text"),
        (_replaced("pddl_problem", "(openable", "(breakable"), "Unknown predicate 'breakable' in the initial state"),
        (_replaced("pddl_problem", "(inreceptacle ?o ?r)", "(likes ?o ?r)"), "Unknown predicate 'likes' in the goal"),
        (_replaced("pddl_problem", "(exists (?r - rec", "(either (?r - rec"), "unknown shape"),
    ],
)
def test_a_damaged_game_is_refused_in_one_sentence_that_names_the_file(game_file, damage, said):
    damaged = damage(game_file())
    content = damaged if isinstance(damaged, bytes) else damaged.encode()
    with pytest.raises(BadRecord, match=said) as raised:
        read_game(content, "some/folder/game.tw-pddl", "a/b", "train")
    assert str(raised.value).startswith("some/folder/game.tw-pddl")


# -- where they are found ----------------------------------------------------------------------------------------


def _write(folder, paths, content=b"game"):
    for path in paths:
        (folder / path).mkdir(parents=True)
        (folder / path / GAME_FILE).write_bytes(content)
    return folder


def _found(source):
    return [(found.split, found.task_id, found.content) for found in find_files(source, GAME_FILE)]


GAMES = ["json_2.1.1/train/pick-A/trial_1", "json_2.1.1/train/pick-A/trial_2", "json_2.1.1/valid_seen/heat-B/trial_1"]
PLACES = [
    ("train", "pick-A/trial_1", b"game"),
    ("train", "pick-A/trial_2", b"game"),
    ("valid_seen", "heat-B/trial_1", b"game"),
]


@pytest.mark.parametrize(
    ("inside", "expected"), [("", PLACES), ("json_2.1.1", PLACES), ("json_2.1.1/train", PLACES[:2])]
)
def test_a_folder_may_be_all_of_the_data_or_one_split(tmp_path, inside, expected):
    _write(tmp_path, reversed(GAMES))
    (tmp_path / "json_2.1.1/train/pick-A/notes.txt").write_text("no game")
    assert _found(tmp_path / inside) == expected


def test_games_below_no_folder_of_a_split_are_in_the_split_game(tmp_path):
    assert _found(_write(tmp_path / "mine", ["pick-A/trial_1"])) == [("game", "pick-A/trial_1", b"game")]


def test_a_single_file_is_named_by_its_folders(tmp_path):
    file = _write(tmp_path, ["mine/pick-A/trial_1"]) / "mine/pick-A/trial_1" / GAME_FILE
    assert _found(file) == [("game", "pick-A/trial_1", b"game")]


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".tgz"])
def test_a_tar_archive_is_read_without_being_unpacked(tmp_path, ending):
    _write(tmp_path / "files", GAMES)
    archive = tmp_path / f"games{ending}"
    kind = {".tar": "w", ".tgz": "w:gz"}.get(ending, f"w:{ending.rpartition('.')[2]}")
    with tarfile.open(archive, kind) as tar:
        tar.add(tmp_path / "files" / "json_2.1.1", ".")
    before = sorted(tmp_path.rglob("*"))
    assert sorted(_found(archive)) == PLACES
    assert sorted(tmp_path.rglob("*")) == before


def test_a_zip_archive_is_read_without_being_unpacked(tmp_path):
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in GAMES:
            file.writestr(f"{path}/{GAME_FILE}", b"game")
    assert _found(archive) == PLACES


def test_links_and_paths_that_lead_out_of_an_archive_open_nothing(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    archive = tmp_path / "games.tar"
    with tarfile.open(archive, "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            link = tarfile.TarInfo(f"train/link/{GAME_FILE}")
            link.type, link.linkname = kind, str(secret)
            tar.addfile(link)
        outside = tarfile.TarInfo(f"../../train/../pick-A/trial_1/{GAME_FILE}")
        outside.size = 4
        tar.addfile(outside, io.BytesIO(b"game"))
    assert _found(archive) == [("train", "pick-A/trial_1", b"game")]


def test_a_file_that_is_far_too_big_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_FILE_BYTES", 1000)
    content = b"x" * 1001
    folder = _write(tmp_path / "files", ["train/pick-A/trial_1"], content)
    with tarfile.open(tmp_path / "games.tar.gz", "w:gz") as tar:
        tar.add(folder, ".")
    with zipfile.ZipFile(tmp_path / "games.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(f"train/pick-A/trial_1/{GAME_FILE}", content)
    for source in (folder, tmp_path / "games.tar.gz", tmp_path / "games.zip"):
        with pytest.raises(BadRecord, match=rf"{re.escape(GAME_FILE)} is larger than 1,000 bytes"):
            _found(source)


def _cut(archive):
    archive.write_bytes(archive.read_bytes()[:-200])


def _flip(archive):
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)


def _replace(archive):
    archive.write_bytes(b"no archive at all" * 50)


@pytest.mark.parametrize("ending", [".tar.xz", ".tar.gz", ".zip"])
@pytest.mark.parametrize("damage", [_cut, _flip, _replace])
def test_a_damaged_archive_is_named(tmp_path, ending, damage):
    archive = tmp_path / f"games{ending}"
    noise = bytes(range(256)) * 40
    folder = _write(tmp_path / "files", GAMES, noise)
    if ending == ".zip":
        with zipfile.ZipFile(archive, "w") as file:
            for path in GAMES:
                file.writestr(f"{path}/{GAME_FILE}", noise)
    else:
        with tarfile.open(archive, f"w:{ending[5:]}") as tar:
            tar.add(folder, ".")
    damage(archive)
    with pytest.raises(DataError, match=re.escape(str(archive))):
        _found(archive)


def test_what_is_no_source_of_games(tmp_path):
    (tmp_path / "notes.txt").write_text("no games")
    with pytest.raises(DataError, match="is no source of games"):
        _found(tmp_path / "notes.txt")
    with pytest.raises(MissingData, match="There is nothing at"):
        _found(tmp_path / "nowhere")


@pytest.mark.data
def test_the_three_odd_games_of_the_original_release_are_refused(alfworld_folder):
    files = find_files(alfworld_folder / "games_v2.1.1_tw-pddl.tar.xz", GAME_FILE)
    odd = [found for found in files if b'"solvable"' not in found.content]
    assert len(odd) == 3
    for found in odd:
        with pytest.raises(BadRecord, match=r"words things as neither release 2\.1\.1 nor 2\.1\.3 does"):
            read_game(found.content, found.where, found.task_id, found.split)
