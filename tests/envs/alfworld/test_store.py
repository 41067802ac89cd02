"""The game store: what is written is read back, whatever it is; what is damaged is said to be."""

from __future__ import annotations

import hashlib
import json
import random
import re
import tarfile
import threading
import time
import zlib
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.build import build_store
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.packing import fixed_part, ids_of, pack, unpack
from llm_gym.envs.alfworld.problem import PREDICATES, Problem
from llm_gym.envs.alfworld.reading import read_game
from llm_gym.envs.alfworld.sources import GAME_FILE
from llm_gym.envs.alfworld.store import GameStore, write_store
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.errors import BadRecord, DataError, DataMismatch, InvalidSetting, MissingData, UnknownName

# -- facts -------------------------------------------------------------------------------------------------------

WORDS = st.one_of(
    st.from_regex(r"[a-z]{1,6}(_bar_(_minus_|_plus_)?[0-9]{2}_dot_[0-9]{2}){0,3}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs", "Z", "C"], exclude_characters="();"), min_size=1, max_size=8),
)


@st.composite
def facts(draw):
    names = draw(st.lists(WORDS, min_size=1, max_size=6))
    chosen = st.sampled_from(sorted(PREDICATES)).flatmap(
        lambda predicate: st.tuples(st.just(predicate), *[st.sampled_from(names)] * len(PREDICATES[predicate]))
    )
    return frozenset(draw(st.lists(chosen, max_size=20)))


@given(facts())
def test_packed_facts_are_unpacked_alike(some):
    assert unpack(pack(some)) == some


@given(facts(), facts())
def test_facts_are_packed_relative_to_ids_that_are_known(some, others):
    known = ids_of(others)
    packed = pack(some, known)
    assert unpack(packed, known) == some
    assert set(known).isdisjoint(ids_of(some)) or len(packed.ids.split()) < len(ids_of(some))


@given(facts(), st.sampled_from(["agent1", "mug_bar_1"]))
def test_what_is_the_house_never_speaks_of_the_agent_or_of_what_can_be_picked_up(some, name):
    some |= {("pickupable", "mug_bar_1"), ("objecttype", name, "x"), ("openable", "desk_bar_1")}
    fixed = fixed_part(some)
    loose = {fact[1] for fact in some if fact[0] == "pickupable"} | {"agent1"}
    assert fixed <= some
    assert all(loose.isdisjoint(fact) for fact in fixed)
    assert all(not loose.isdisjoint(fact) for fact in some - fixed)


# -- games -------------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
GOAL = Problem.parse("(define (:init) (:goal (and (opened a) (not (= b c)))))").goal


@st.composite
def games(draw):
    task_id = draw(st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4})?", fullmatch=True))
    return Game(
        task_id=task_id,
        split=draw(st.sampled_from(["train", "valid_seen", "mine"])),
        goal=draw(TEXTS),
        problem=Problem(draw(WORDS), draw(facts()), GOAL),
        walkthrough=draw(st.none() | st.lists(TEXTS, max_size=3).map(tuple)),
        annotations=tuple(draw(st.lists(TEXTS, max_size=3))),
        solvable=draw(st.booleans()),
    )


@given(st.lists(games(), min_size=1, max_size=6, unique_by=lambda game: (game.split, game.task_id)))
def test_every_game_is_read_back_as_it_was(tmp_path_factory, some):
    store = write_store(tmp_path_factory.mktemp("any") / "store", some, name="any", about={"note": "a"})
    assert sum(store.splits.values()) == len(some)
    for game in some:
        assert store.game(game.split, game.task_id) == game
    for split in store.splits:
        entries = store.entries(split)
        assert [entry.task_id for entry in entries] == sorted(game.task_id for game in some if game.split == split)
        for entry in entries:
            assert len(store.game(split, entry.task_id).annotations) == entry.annotations
    assert store.meta["note"] == "a"


@pytest.fixture
def small_games(game_file):
    """Six games of two splits, in two houses."""
    made = []
    for number in range(6):
        game = read_game(game_file(), "here", f"pick-{number}/trial", "train" if number < 4 else "valid_seen")
        facts = game.problem.facts | {("openable", "shelf_bar_1")} if number % 2 else game.problem.facts
        made.append(replace(game, problem=replace(game.problem, facts=facts), annotations=("mug.",) * number))
    return made


@pytest.fixture
def small_store(small_games, tmp_path):
    return write_store(tmp_path / "store", small_games, name="small", about={})


def test_listing_needs_no_game(small_store):
    (small_store.folder / "records.bin").write_bytes(b"")
    entries = small_store.entries("valid_seen")
    assert [tuple(entry) for entry in entries] == [
        ("pick-4/trial", "pick_and_place_simple", 4),
        ("pick-5/trial", "pick_and_place_simple", 5),
    ]
    assert small_store.splits == {"train": 4, "valid_seen": 2}
    assert small_store.entries("valid_unseen") == ()


def test_the_order_in_which_games_come_changes_no_byte(small_store, small_games, tmp_path):
    random.Random(5).shuffle(small_games)
    other = write_store(tmp_path / "other", small_games, name="small", about={})
    for file in small_store.folder.iterdir():
        assert file.read_bytes() == (other.folder / file.name).read_bytes()


def digest_of(games):
    sha = hashlib.sha256()
    for game in games:
        problem = game.problem
        content = [game.split, game.task_id, problem.name, sorted(problem.facts), problem.goal]
        content += [game.goal, game.walkthrough, game.annotations, game.solvable]
        sha.update(hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).digest())
    return sha.hexdigest()[:16]


def test_the_digest_is_that_of_all_that_the_games_hold(small_store, small_games, tmp_path):
    assert small_store.digest == digest_of(small_games)  # splits in the order of the releases, ids sorted
    changed = [replace(small_games[0], goal="put a mug in the desk."), *small_games[1:]]
    assert write_store(tmp_path / "changed", changed, name="small", about={}).digest != small_store.digest


def test_a_game_that_is_not_there_is_named_with_near_ones(small_store):
    with pytest.raises(UnknownName, match="Did you mean 'pick-3/trial'"):
        small_store.game("train", "pick-3/trail")
    with pytest.raises(UnknownName, match="There are none"):
        small_store.game("valid_unseen", "pick-3/trial")


def test_a_game_comes_once(small_games, tmp_path):
    with pytest.raises(BadRecord, match=r"two games pick-1/trial in split train"):
        write_store(tmp_path / "store", [*small_games, small_games[1]], name="x", about={})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("task_id", ["a#1", "a\nb", "a\udc80"])
def test_an_id_that_would_be_misread_is_refused(small_games, tmp_path, task_id):
    with pytest.raises(BadRecord, match="cannot be stored"):
        write_store(tmp_path / "store", [replace(small_games[0], task_id=task_id)], name="x", about={})


def test_a_problem_that_would_be_misread_is_refused(small_games, tmp_path):
    facts = frozenset({("objecttype", "a b", "c")})
    game = replace(small_games[0], problem=replace(small_games[0].problem, facts=facts))
    with pytest.raises(BadRecord, match="cannot be stored"):
        write_store(tmp_path / "store", [game], name="x", about={})


def test_an_old_store_is_never_overwritten(small_store, small_games):
    with pytest.raises(InvalidSetting, match="exists already"):
        write_store(small_store.folder, small_games, name="x", about={})


def test_a_store_without_games_is_none(tmp_path):
    with pytest.raises(MissingData, match="no game"):
        write_store(tmp_path / "store", [], name="x", about={})
    assert list(tmp_path.iterdir()) == []


def test_threads_read_at_once(small_store, small_games):
    store, wrong = GameStore.open(small_store.folder), []

    def read():
        for _ in range(50):
            wrong.extend(game.task_id for game in small_games if store.game(game.split, game.task_id) != game)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- damage ------------------------------------------------------------------------------------------------------


def test_a_folder_without_a_store(tmp_path):
    with pytest.raises(MissingData, match=r"holds no game store \(no meta.json\)"):
        GameStore.open(tmp_path)


@pytest.mark.parametrize("name", ["index.bin", "records.bin"])
def test_a_part_that_is_missing_is_named(small_store, name):
    (small_store.folder / name).unlink()
    with pytest.raises(MissingData, match=name):
        GameStore.open(small_store.folder)


def test_a_store_of_another_format_is_refused(small_store):
    (small_store.folder / "meta.json").write_bytes(orjson.dumps(small_store.meta | {"format": 2}))
    with pytest.raises(DataMismatch, match="has store format 2"):
        GameStore.open(small_store.folder)


def _index(store, change):
    """Rewrite index.bin."""
    path = store.folder / "index.bin"
    content = orjson.loads(zlib.decompress(path.read_bytes()))
    change(content)
    path.write_bytes(zlib.compress(orjson.dumps(content)))


def _cut(name):
    def cut(store):
        path = store.folder / name
        path.write_bytes(path.read_bytes()[:-9])

    return cut


def _write(name, content):
    return lambda store: (store.folder / name).write_bytes(content)


def _without_digest(store):
    meta = {key: value for key, value in store.meta.items() if key != "digest"}
    (store.folder / "meta.json").write_bytes(orjson.dumps(meta))


@pytest.mark.parametrize(
    "damage",
    [
        _cut("meta.json"),
        _cut("index.bin"),
        _cut("records.bin"),
        _write("meta.json", b"[]"),
        _write("meta.json", b"\xff"),
        _write("index.bin", b"no index"),
        _write("index.bin", zlib.compress(b"{}")),
        _write("index.bin", zlib.compress(b"0" * 2**27)),
        _write("records.bin", b""),
        _without_digest,
        lambda store: _index(store, lambda content: content[1].pop()),
        lambda store: _index(store, lambda content: content[3].append("x")),
        lambda store: _index(store, lambda content: content[0]["train"][0].pop()),
    ],
)
def test_a_damaged_store_does_not_open(small_store, damage):
    damage(small_store)
    with pytest.raises(DataError, match=rf"{re.escape(str(small_store.folder))} is damaged: .*Build it again"):
        GameStore.open(small_store.folder)


def test_a_game_in_a_house_that_is_not_there(small_store):
    for number in (99, -1):
        _index(small_store, lambda content, house=number: content[1].__setitem__(0, house))
        with pytest.raises(DataError, match=r"is damaged \(pick-0/trial: it has no house"):
            GameStore.open(small_store.folder).game("train", "pick-0/trial")


def test_no_flipped_bit_of_the_records_makes_a_wrong_game(small_store, small_games):
    records, noticed = (small_store.folder / "records.bin").read_bytes(), 0
    positions = range(0, len(records), 5)
    for position in positions:
        changed = bytearray(records)
        changed[position] ^= 1 << position % 8
        (small_store.folder / "records.bin").write_bytes(changed)
        store = GameStore.open(small_store.folder)
        try:
            assert all(store.game(game.split, game.task_id) == game for game in small_games)
        except DataError:
            noticed += 1
    assert noticed > 0.9 * len(positions)  # the other bits mean nothing: they fill up the last byte of a record


# -- the releases ------------------------------------------------------------------------------------------------

BY_TYPE = {  # in the order pick, clean, heat, cool, look, two
    "train": (790, 650, 459, 533, 308, 813),
    "valid_seen": (35, 27, 16, 25, 13, 24),
    "valid_unseen": (24, 31, 23, 21, 18, 17),
    "valid_train": (46, 37, 25, 28, 19, 45),
}


def _by_type(store):
    return {split: tuple(counts[name] for name in TASK_TYPES) for split, counts in store.meta["games"].items()}


@pytest.mark.data
def test_the_current_release_has_the_known_numbers_of_games(official_store):
    assert _by_type(official_store) == BY_TYPE
    assert official_store.splits == {"train": 3553, "valid_seen": 140, "valid_unseen": 134, "valid_train": 200}
    assert official_store.meta["left_out"] == {}
    assert official_store.meta["wording"] == "current"


@pytest.mark.data
def test_the_original_release_has_one_game_more(original_store):
    assert _by_type(original_store) == BY_TYPE | {"train": (790, 651, 459, 533, 308, 813)}
    assert original_store.splits["train"] == 3554
    assert original_store.meta["left_out"] == {"Sliced in its name": 12, "movable in its name": 4, "not solvable": 1190}
    assert original_store.meta["wording"] == "original"


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "digest"), [("official_store", "336e35a4b4fbd24f"), ("original_store", "d68b65275e41fc15")]
)
def test_every_game_that_is_read_is_that_of_the_release(name, digest, request):
    """The digests were computed from the archives with `json`, `re` and `hashlib` alone."""
    store = request.getfixturevalue(name)
    assert store.digest == digest
    places = ((split, entry.task_id) for split in store.splits for entry in store.entries(split))
    assert digest_of(store.game(*place) for place in places) == digest


@pytest.mark.data
def test_the_goal_of_a_game_is_of_the_kind_that_its_folder_names(official_store, original_store):
    for store in (official_store, original_store):
        for split in store.splits:
            for entry in store.entries(split):
                assert entry.task_id.startswith(f"{entry.task_type}-")


@pytest.mark.data
def test_the_releases_share_their_problems_and_goals(official_store, original_store):
    for split in official_store.splits:
        for entry in official_store.entries(split)[::9]:
            current, original = (store.game(split, entry.task_id) for store in (official_store, original_store))
            assert current == replace(original, walkthrough=current.walkthrough)
            assert original.walkthrough is None


@pytest.mark.data
def test_the_store_is_small_and_a_game_is_read_in_no_time(official_store):
    assert sum(file.stat().st_size for file in official_store.folder.iterdir()) < 3_000_000
    ids = [entry.task_id for entry in official_store.entries("valid_seen")]
    for task_id in ids:  # the houses are read now
        official_store.game("valid_seen", task_id)
    times = []
    for task_id in ids:
        begin = time.process_time()
        official_store.game("valid_seen", task_id)
        times.append(time.process_time() - begin)
    assert sorted(times)[len(times) // 2] < 0.001


@pytest.mark.data
def test_a_folder_and_an_archive_of_the_same_games_are_the_same_store(alfworld_folder, tmp_path):
    with tarfile.open(alfworld_folder / "games_v2.1.3_tw-pddl.tar.xz") as archive:
        members = [member for member in archive if "/valid_seen/pick_cool" in member.name]
        archive.extractall(tmp_path / "files", members, filter="data")
    with tarfile.open(tmp_path / "some.tar.gz", "w:gz") as archive:
        for path in sorted((tmp_path / "files").rglob(GAME_FILE), reverse=True):
            archive.add(path, str(path.relative_to(tmp_path / "files")))
    folder = build_store(tmp_path / "files", tmp_path / "a")
    packed = build_store(tmp_path / "some.tar.gz", tmp_path / "b")
    assert folder.splits == {"valid_seen": 25}
    assert folder.digest == packed.digest
    assert (folder.folder / "records.bin").read_bytes() == (packed.folder / "records.bin").read_bytes()
