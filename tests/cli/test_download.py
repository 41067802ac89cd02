"""`llm-gym download alfworld`, from a server on this machine."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
import zipfile
from dataclasses import asdict

import pytest

from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.installation import install, installed
from llm_gym.envs.alfworld.releases import RELEASES, Release, write_digests
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.errors import DataError, DataMismatch, InvalidSetting

PROBLEM = """
(define (problem tiny) (:domain alfred)
(:init (atLocation agent1 loc_bar_0) (objectType {thing}_bar_1 {thing}Type) (pickupable {thing}_bar_1)
  (receptacleType Shelf_bar_1 ShelfType) (receptacleAtLocation Shelf_bar_1 loc_bar_1)
  (receptacleType Desk_bar_1 DeskType) (receptacleAtLocation Desk_bar_1 loc_bar_2) (canContain DeskType {thing}Type)
  (inReceptacle {thing}_bar_1 Shelf_bar_1) (objectAtLocation {thing}_bar_1 loc_bar_1))
(:goal (and (exists (?r - receptacle) (exists (?o - object)
  (and (inReceptacle ?o ?r) (objectType ?o {thing}Type) (receptacleType ?r DeskType)))))))
"""
GRAMMAR = (
    'Your task is to: put a {thing} on the desk.";  You arrive at {{r.name}}. #examineReceptacle.feedback# '
    "You move the {{o.name}} to the {{r.name}}. You open the {{r.name}}. #examineReceptacle.feedback#"
)
PLACES = {
    "Mug": "json_2.1.1/train/pick_and_place_simple-Mug-None-Desk-301/trial_1",
    "Pen": "json_2.1.1/valid_seen/pick_and_place_simple-Pen-None-Desk-302/trial_2",
    "Book": "json_2.1.1/valid_unseen/pick_and_place_simple-Book-None-Desk-303/trial_3",
}


def game(thing: str, **changes) -> bytes:
    content = {"pddl_domain": "", "grammar": GRAMMAR.format(thing=thing.lower()), "solvable": True}
    return json.dumps(content | {"pddl_problem": PROBLEM.format(thing=thing)} | changes).encode()


def annotation(text: str) -> bytes:
    return json.dumps({"turk_annotations": {"anns": [{"task_desc": text}]}}).encode()


def games_zip(path, **more):
    """Three games, one that cannot be solved, and enough else for the archive to be cut in the middle."""
    with zipfile.ZipFile(path, "w") as archive:
        for thing, place in PLACES.items():
            archive.writestr(f"{place}/game.tw-pddl", more.get(thing, game(thing)))
        archive.writestr("json_2.1.1/train/pick-Cup-1/trial_4/game.tw-pddl", game("Cup", solvable=False))
        archive.writestr("README", random.Random(0).randbytes(300_000))
    return path.read_bytes()


def annotations_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        for thing, place in PLACES.items():
            archive.writestr(f"{place}/traj_data.json", annotation(f"Bring the {thing} to the desk."))
        archive.writestr("json_2.1.1/train/pick-Cup-1/trial_4/traj_data.json", b"of no game of the list, so not read")
        archive.writestr("README", random.Random(1).randbytes(300_000))
    return path.read_bytes()


@pytest.fixture
def release(file_server, tmp_path) -> Release:
    """A small release, served by `file_server`; it bears the name of a real one."""
    games, annotations = games_zip(tmp_path / "g.zip"), annotations_zip(tmp_path / "a.zip")
    file_server.files |= {"/json_2.1.3_tw-pddl.zip": games, "/json_2.1.1_json.zip": annotations}
    assert write_digests(tmp_path / "g.zip", tmp_path / "digests.txt.xz") == 3
    return Release(
        "2.1.3",
        "official",
        f"{file_server.url}/json_2.1.3_tw-pddl.zip",
        f"{file_server.url}/json_2.1.1_json.zip",
        hashlib.sha256(annotations).hexdigest(),
        tmp_path / "digests.txt.xz",
    )


def quiet(stage, done, total):
    """Nobody watches."""


def put(release, target, *, annotations=True, keep=False, tell=quiet):
    return install(release, target, annotations=annotations, keep=keep, tell=tell)


def folder(path):
    return sorted(str(entry.relative_to(path)) for entry in path.rglob("*"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder of official data."""
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home" / "alfworld"


def test_a_release_becomes_a_store_and_nothing_else_stays(release, tmp_path):
    told = []
    target = tmp_path / "worlds" / "official"
    store = put(release, target, tell=lambda stage, done, total: told.append((stage.name, done, total)))
    assert store.splits == {"train": 1, "valid_seen": 1, "valid_unseen": 1}
    assert store.name == "official-2.1.3"
    assert store.meta["left_out"] == {"not in the list of the release": 1}
    assert (store.meta["files_read"], store.meta["wording"], store.meta["annotated"]) == (4, "current", 3)
    mug = store.game("train", "pick_and_place_simple-Mug-None-Desk-301/trial_1")
    assert (mug.goal, mug.annotations) == ("put a mug on the desk.", ("Bring the Mug to the desk.",))
    assert [path.name for path in (tmp_path / "worlds").iterdir()] == ["official"]
    names = list(dict.fromkeys(name for name, _, _ in told))
    assert names == [
        "json_2.1.3_tw-pddl.zip",
        "comparing the games",
        "json_2.1.1_json.zip",
        "reading the annotations",
        "building the store",
    ]
    assert told[-1] == ("building the store", 3, 3)


def test_annotations_may_be_left_out_and_archives_kept(release, file_server, tmp_path):
    store = put(release, tmp_path / "official", annotations=False, keep=True)
    assert store.meta["annotated"] == 0
    assert [path for path, _ in file_server.asked] == ["/json_2.1.3_tw-pddl.zip"]
    assert folder(tmp_path / "official.download") == ["json_2.1.3_tw-pddl.zip"]


def test_what_is_there_is_not_fetched_again(release, file_server, tmp_path):
    first = put(release, tmp_path / "official")
    asked = len(file_server.asked)
    assert put(release, tmp_path / "official").digest == first.digest
    assert len(file_server.asked) == asked
    assert installed(release, tmp_path / "official", annotations=False).digest == first.digest


def test_what_is_in_the_way_is_told_before_anything_is_fetched(release, file_server, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").touch()
    with pytest.raises(InvalidSetting, match=r"mine exists already and holds no games\. Choose another folder"):
        put(release, tmp_path / "mine")
    put(release, tmp_path / "official", annotations=False)
    with pytest.raises(InvalidSetting, match="made without annotations"):
        put(release, tmp_path / "official")
    with pytest.raises(InvalidSetting, match=r"holds release 2\.1\.3, not release 2\.1\.1"):
        put(RELEASES["2.1.1"], tmp_path / "official")
    assert len(file_server.asked) == 1


def test_a_changed_game_installs_nothing_and_the_archive_goes(release, file_server, tmp_path):
    file_server.files["/json_2.1.3_tw-pddl.zip"] = games_zip(tmp_path / "changed.zip", Pen=game("Pen", walkthrough=[]))
    with pytest.raises(DataMismatch, match=r"1 of 3 differ \(valid_seen/pick.*removed, and nothing was installed"):
        put(release, tmp_path / "official")
    assert not (tmp_path / "official").exists()
    assert folder(tmp_path / "official.download") == []
    file_server.files["/json_2.1.3_tw-pddl.zip"] = (tmp_path / "g.zip").read_bytes()
    assert len(put(release, tmp_path / "official").splits) == 3


def test_a_damaged_archive_goes_too(release, file_server, tmp_path):
    file_server.files["/json_2.1.3_tw-pddl.zip"] = b"<html>Sign in to the network</html>"
    with pytest.raises(DataError, match=r"is damaged.*removed, and nothing was installed"):
        put(release, tmp_path / "official")
    assert folder(tmp_path / "official.download") == []


def test_other_annotations_install_nothing(release, file_server, tmp_path):
    file_server.files["/json_2.1.1_json.zip"] = b"something else"
    with pytest.raises(DataMismatch, match="SHA-256"):
        put(release, tmp_path / "official")
    assert not (tmp_path / "official").exists()
    assert folder(tmp_path / "official.download") == ["json_2.1.3_tw-pddl.zip"]


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("archive", ["json_2.1.3_tw-pddl.zip", "json_2.1.1_json.zip"])
def test_a_stopped_process_is_gone_on_with(release, file_server, tmp_path, archive, kill):
    def half(request):
        request.good(cut=150_000)
        request.wfile.flush()
        time.sleep(5)

    def good(request):
        request.good()

    file_server.script = [half] if archive == "json_2.1.3_tw-pddl.zip" else [good, half]
    code = f"""
        from pathlib import PosixPath
        from llm_gym.envs.alfworld.installation import install
        from llm_gym.envs.alfworld.releases import Release
        release = Release(**{asdict(release)!r})
        install(release, PosixPath({str(tmp_path / "official")!r}), annotations=True, keep=False, tell=print)
    """
    part = tmp_path / "official.download" / f"{archive}.part"
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], **streams) as process:
        while process.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.01)
        process.send_signal(kill)
        process.wait(timeout=30)
    assert not (tmp_path / "official").exists()
    arrived = part.stat().st_size
    assert 0 < arrived <= 150_000
    asked = len(file_server.asked)
    assert put(release, tmp_path / "official").splits == {"train": 1, "valid_seen": 1, "valid_unseen": 1}
    ranges = {path: headers.get("Range") for path, headers in file_server.asked[asked:]}
    assert ranges[f"/{archive}"] == f"bytes={arrived}-"
    assert "/json_2.1.3_tw-pddl.zip" in ranges or archive == "json_2.1.1_json.zip"
    assert not (tmp_path / "official.download").exists()


def test_ctrl_c_is_no_traceback_and_says_what_to_do(release, home, file_server):
    def half(request):
        request.good(cut=150_000)
        request.wfile.flush()
        time.sleep(5)

    file_server.script = [half]
    command = [sys.executable, "-m", "llm_gym", "download", "alfworld", "--from-url", file_server.url]
    part = home / "official.download" / "json_2.1.3_tw-pddl.zip.part"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines() == ["What has arrived is kept. The same command goes on there.", "Interrupted."]
    assert part.stat().st_size > 0


def test_the_command_says_when_all_is_there_and_how_to_play(run, release, home, file_server):
    put(release, home / "official")
    asked = len(file_server.asked)
    ran = run("download", "alfworld", "--from-url", file_server.url)
    assert ran.code == 0, ran.err
    assert f"The games are in {home / 'official'} already: nothing was fetched." in ran.err
    assert "llm-gym play ALFWorld-v1 --set games=official" in ran.err
    assert "1 train, 1 valid_seen, 1 valid_unseen" in ran.out
    assert len(file_server.asked) == asked
    assert open_games("official").splits == {"train": 1, "valid_seen": 1, "valid_unseen": 1}


def test_other_games_at_a_mirror_are_refused_with_their_numbers(run, release, home, file_server):
    ran = run("download", "alfworld", "--from-url", f"{file_server.url}/", watched=True)
    assert ran.code == 2
    assert "4,027 of 4,027 are missing (train/look_at_obj_in_light-AlarmClock" in ran.err
    assert "4 are none of its games. The archive was removed" in ran.err
    assert not (home / "official").exists()


def test_a_mirror_without_the_archives_is_told(run, home, file_server, tmp_path):
    words = ("download", "alfworld", "--release", "2.1.1", "--from-url", file_server.url, "--to", str(tmp_path / "w"))
    ran = run(*words)
    assert ran.code == 2
    assert f"{file_server.url}/json_2.1.1_tw-pddl.zip is not to be had: the server answers 404 Not Found" in ran.err


def test_an_address_of_another_kind_is_told(run, home):
    ran = run("download", "alfworld", "--from-url", "file:///tmp")
    assert (ran.code, "begins with https://" in ran.err) == (2, True)


@pytest.mark.data
def test_the_official_games_are_installed(run, file_server, data_folder, tmp_path):
    packed = tmp_path / "official.zip"
    with (
        tarfile.open(data_folder / "alfworld" / "games_v2.1.3_tw-pddl.tar.xz") as tar,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for member in tar:
            if member.isfile():
                archive.writestr(member.name, tar.extractfile(member).read())
    file_server.files["/json_2.1.3_tw-pddl.zip"] = packed.read_bytes()
    file_server.script = [lambda request: request.good(cut=10_000_000)]
    target = tmp_path / "my games"
    words = ("download", "alfworld", "--no-annotations", "--from-url", file_server.url, "--to", str(target))
    ran = run(*words, watched=True)
    assert ran.code == 0, ran.err
    assert f"llm-gym play ALFWorld-v1 --set 'games={target}'" in ran.err
    splits = {"train": 3553, "valid_seen": 140, "valid_unseen": 134, "valid_train": 200}
    assert GameStore.open(target).splits == splits
