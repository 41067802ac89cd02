"""Invented games: every one is a game, whatever the seed, and the same seed makes the same games."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.generator import Settings, build_invented, invented_games
from llm_gym.envs.alfworld.generator.dice import Dice
from llm_gym.envs.alfworld.generator.plan import apportioned
from llm_gym.envs.alfworld.generator.tables import ROOM_KINDS, tables
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.planner import Planner
from llm_gym.envs.alfworld.problem import Problem, written
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.tasks import TASK_TYPES, Look, Place
from llm_gym.envs.alfworld.wording import CURRENT
from llm_gym.errors import InvalidSetting

SPLITS = ("train", "valid_seen", "valid_unseen")
FEWEST = 18
SEEDS = st.integers(0, 2**32)
few = settings(max_examples=4)

# The templates of ALFWorld's goal library, as patterns.
SENTENCES = {
    "pick": (r"put a (\w+) in (\w+)\.", r"put some (\w+) on (\w+)\."),
    "clean": (r"put a clean (\w+) in (\w+)\.", r"clean some (\w+) and put it in (\w+)\."),
    "heat": (r"put a hot (\w+) in (\w+)\.", r"heat some (\w+) and put it in (\w+)\."),
    "cool": (r"put a cool (\w+) in (\w+)\.", r"cool some (\w+) and put it in (\w+)\."),
    "look": (r"look at (\w+) under the (\w+)\.", r"examine the (\w+) with the (\w+)\."),
    "two": (r"put two (\w+) in (\w+)\.", r"find two (\w+) and put them in (\w+)\."),
}
METRES = r"(_bar__(plus|minus)_\d\d_dot_\d\d){3}"
SHAPES = {
    "object": rf"[a-z]+{METRES}",
    "receptacle": rf"[a-z]+{METRES}(_bar_(sinkbasin|bathtubbasin))?",
    "location": r"loc(_bar_(_minus_)?\d+){2}_bar_[0-3]_bar_(_minus_)?\d+",
}


@lru_cache(maxsize=8)
def invented(seed: int, games: int = FEWEST) -> tuple[Game, ...]:
    return tuple(invented_games(Settings(games, seed)))


@pytest.fixture(scope="module")
def embedded() -> GameStore:
    return open_games("embedded")


def room_of(game: Game) -> str:
    return game.task_id.partition("/")[0].rpartition("-")[2]


def arguments(game: Game, predicate: str) -> list[tuple[str, ...]]:
    return [fact[1:] for fact in game.problem.facts if fact[0] == predicate]


def furniture(game: Game) -> frozenset[tuple[str, ...]]:
    return frozenset(arguments(game, "receptacleatlocation"))


# -- games -------------------------------------------------------------------------------------------------------


@few
@given(SEEDS)
def test_a_problem_is_read_back_from_its_text(seed: int) -> None:
    for game in invented(seed):
        assert Problem.parse(game.problem.to_pddl()) == game.problem


@few
@given(SEEDS)
def test_the_walkthrough_wins_at_its_last_command_and_no_earlier(seed: int) -> None:
    engine = NativeEngine()
    for game in invented(seed):
        replies = [engine.begin(game, game.goal, CURRENT)]
        for command in game.walkthrough or ():
            assert command in replies[-1].admissible
            replies.append(engine.respond(command))
        assert [reply.won for reply in replies] == [False] * (len(replies) - 1) + [True]
        assert len(replies) > 3


@few
@given(SEEDS)
def test_the_planner_finds_nothing_shorter_than_the_walkthrough(seed: int) -> None:
    for game in invented(seed):
        house = House.of(game.problem)
        assert Planner(house).distance(house.initial) == len(game.walkthrough or ())


@few
@given(SEEDS)
def test_folder_sentence_and_formula_ask_for_the_same(seed: int) -> None:
    for game in invented(seed):
        task_type, thing, nothing, target, _ = game.task_id.partition("/")[0].split("-")
        assert (task_type, nothing) == (game.task_type, "None")
        patterns = SENTENCES[TASK_TYPES[task_type]]
        [said] = [match.groups() for pattern in patterns if (match := re.fullmatch(pattern, game.goal))]
        assert said == (thing.lower(), target.lower())
        match game.task:
            case Place(object_type, receptacle_type):
                assert (object_type, receptacle_type) == tuple(f"{word}type" for word in said)
            case Look(object_type, lamp_type):
                assert (object_type, lamp_type) == tuple(f"{word}type" for word in said)
            case other:
                pytest.fail(f"{game.task_id} asks for {other}")


@few
@given(SEEDS)
def test_nothing_that_is_to_be_put_away_is_there_already(seed: int) -> None:
    for game in invented(seed):
        if game.task_type in ("pick_and_place_simple", "pick_two_obj_and_place"):
            assert isinstance(game.task, Place)
            wanted = {thing for thing, kind in arguments(game, "objecttype") if kind == game.task.object_type}
            targets = {place for place, kind in arguments(game, "receptacletype") if kind == game.task.receptacle_type}
            assert not [pair for pair in arguments(game, "inreceptacle") if pair[0] in wanted and pair[1] in targets]


@few
@given(SEEDS)
def test_ids_have_the_official_shapes_and_every_thing_is_one_thing(seed: int) -> None:
    for game in invented(seed):
        kinds = game.problem.kinds()
        for name, kind in kinds.items():
            assert re.fullmatch(SHAPES.get(kind, ".*"), name), name
        for predicate, kind in (("objecttype", "object"), ("receptacletype", "receptacle")):
            types = arguments(game, predicate)
            assert sorted(name for name, _ in types) == sorted(name for name in kinds if kinds[name] == kind)
        located = Counter(name for name, _ in arguments(game, "objectatlocation"))
        assert set(located.values()) == {1}
        assert len(furniture(game)) == len(arguments(game, "receptacletype"))


@few
@given(SEEDS)
def test_nobody_begins_at_a_receptacle(seed: int) -> None:
    for game in invented(seed):
        [(_, start)] = arguments(game, "atlocation")
        assert start not in {location for _, location in furniture(game)}


@few
@given(SEEDS)
def test_every_type_is_in_every_split_and_unseen_rooms_are_unseen(seed: int) -> None:
    games = invented(seed)
    assert Counter((game.split, game.task_type) for game in games) == {
        (split, task_type): 1 for split in SPLITS for task_type in TASK_TYPES
    }
    rooms = {split: {room_of(game) for game in games if game.split == split} for split in SPLITS}
    assert not rooms["valid_unseen"] & (rooms["train"] | rooms["valid_seen"])
    layouts = {split: {furniture(game) for game in games if game.split == split} for split in SPLITS}
    assert not layouts["valid_unseen"] & (layouts["train"] | layouts["valid_seen"])


@few
@given(SEEDS)
def test_two_games_of_a_room_have_its_furniture_and_fixtures_in_the_same_places(seed: int) -> None:
    pickupable = tables().flags["pickupable"]
    movable = {f"{kind.lower()}type" for kind in pickupable}
    seen: dict[str, object] = {}
    for game in invented(seed, 40):
        fixed = {name for name, kind in arguments(game, "objecttype") if kind not in movable}
        standing = frozenset(pair for pair in arguments(game, "objectatlocation") if pair[0] in fixed)
        assert seen.setdefault(room_of(game), (furniture(game), standing)) == (furniture(game), standing)


# -- the same again ----------------------------------------------------------------------------------------------


@few
@given(SEEDS)
def test_the_same_seed_makes_the_same_games_and_another_one_others(seed: int) -> None:
    assert tuple(invented_games(Settings(FEWEST, seed))) == invented(seed)
    others = {game.problem.facts for game in invented_games(Settings(FEWEST, seed + 1))}
    assert others.isdisjoint(game.problem.facts for game in invented(seed))


def test_the_games_of_the_package_are_those_of_the_standard_settings(tmp_path: Path, embedded: GameStore) -> None:
    again = build_invented(Settings(), tmp_path / "again")
    assert (again.name, again.digest) == (embedded.name, embedded.digest), "make them again: docs/alfworld.md says how"
    for split in SPLITS:
        entries = embedded.entries(split)
        assert again.entries(split) == entries
        assert [again.game(split, entry.task_id) for entry in entries[::20]] == [
            embedded.game(split, entry.task_id) for entry in entries[::20]
        ]


def test_the_games_of_the_package_are_small(embedded: GameStore) -> None:
    assert sum(file.stat().st_size for file in embedded.folder.iterdir()) < 400_000


def test_types_are_as_frequent_as_in_the_official_games(embedded: GameStore) -> None:
    """All 134 of the official unseen split; 60 of 140 seen and 300 of 3,553 training games, to the nearest."""
    counts = {
        split: [Counter(entry.task_type for entry in embedded.entries(split))[task_type] for task_type in TASK_TYPES]
        for split in SPLITS
    }
    assert counts == {
        "train": [67, 55, 39, 45, 26, 68],
        "valid_seen": [15, 12, 7, 11, 5, 10],
        "valid_unseen": [24, 31, 23, 21, 18, 17],
    }


def test_rooms_of_every_kind_are_in_every_split(embedded: GameStore) -> None:
    for split, fewest in (("train", 40), ("valid_seen", 20), ("valid_unseen", 14)):
        rooms = {entry.task_id.partition("/")[0].rpartition("-")[2] for entry in embedded.entries(split)}
        assert len(rooms) >= fewest
        assert {room.rstrip("0123456789") for room in rooms} == set(ROOM_KINDS)


def test_progress_counts_the_games(tmp_path: Path) -> None:
    heard: list[int] = []
    build_invented(Settings(FEWEST, 3), tmp_path / "store", heard.append)
    assert heard == list(range(1, FEWEST + 1))


def test_a_store_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("here")
    with pytest.raises(InvalidSetting, match=re.escape(str(tmp_path))):
        build_invented(Settings(FEWEST, 3), tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "here"


def test_too_few_games_for_all_splits_and_types_are_refused() -> None:
    with pytest.raises(ValueError, match="games must be at least 18, one of each type in each split; got 17"):
        Settings(games=17)


# -- draws and shares --------------------------------------------------------------------------------------------

SHARES = st.dictionaries(st.text(max_size=2), st.floats(0.001, 1000), min_size=1, max_size=8)


@given(SHARES, st.integers(0, 3), st.integers(0, 500))
def test_shares_sum_to_the_total_and_are_the_nearest_whole_numbers(
    shares: dict[str, float], fewest: int, more: int
) -> None:
    total = fewest * len(shares) + more
    counts = apportioned(total, shares, fewest)
    assert sum(counts.values()) == total
    assert min(counts.values()) >= fewest
    if fewest == 0:
        exact = {name: total * share / sum(shares.values()) for name, share in shares.items()}
        assert all(abs(counts[name] - exact[name]) < 1 + 1e-9 for name in shares)


@given(SEEDS, st.dictionaries(st.integers(), st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1))
def test_what_has_no_weight_is_never_drawn(seed: int, weights: dict[int, float]) -> None:
    if any(weights.values()):
        assert weights[Dice(seed).weighted(weights)] > 0


@given(SEEDS, SHARES, st.integers(1, 40))
def test_draws_that_are_spread_are_as_even_as_they_can_be(seed: int, shares: dict[str, float], draws: int) -> None:
    drawn = Counter(Dice(seed).spread(shares, draws))
    assert drawn.total() == draws
    for name, share in shares.items():
        assert abs(drawn[name] - draws * share / sum(shares.values())) < 2


@given(SEEDS, st.lists(st.integers()))
def test_shuffling_loses_nothing(seed: int, items: list[int]) -> None:
    assert sorted(Dice(seed).shuffled(items)) == sorted(items)


# -- the official games ------------------------------------------------------------------------------------------


@pytest.mark.data
def test_formulas_are_those_of_the_official_games(official_store: GameStore, embedded: GameStore) -> None:
    def shapes(store: GameStore) -> set[tuple[str, str]]:
        return {
            (entry.task_type, re.sub(r"\w+type\)", "T)", written(store.game(split, entry.task_id).problem.goal)))
            for split in SPLITS
            for entry in store.entries(split)
        }

    assert shapes(embedded) == shapes(official_store)


@pytest.mark.data
def test_what_can_be_done_with_things_is_what_it_is_in_the_official_games(
    official_store: GameStore, embedded: GameStore
) -> None:
    def rules(store: GameStore) -> tuple[set[tuple[str, ...]], dict[str, set[tuple[str, ...]]]]:
        allowed: set[tuple[str, ...]] = set()
        flags: dict[str, set[tuple[str, ...]]] = {}
        for split in SPLITS:
            for entry in store.entries(split)[::5]:
                game = store.game(split, entry.task_id)
                allowed.update(arguments(game, "cancontain"))
                held: dict[str, set[str]] = {}
                for flag in tables().flags:
                    for (name,) in arguments(game, flag.lower()):
                        held.setdefault(name, set()).add(flag)
                for name, kind in arguments(game, "objecttype"):
                    flags.setdefault(kind, set()).add(tuple(sorted(held.get(name, ()))))
        return allowed, flags

    allowed, flags = rules(embedded)
    official_allowed, official_flags = rules(official_store)
    assert allowed <= official_allowed
    assert all(found <= official_flags[kind] for kind, found in flags.items())


@pytest.mark.data
def test_no_room_is_an_official_one(official_store: GameStore, embedded: GameStore) -> None:
    """Of a house, no two receptacles and no location are where they are in an official one."""

    def layouts(store: GameStore) -> set[frozenset[tuple[str, ...]]]:
        return {furniture(store.game(split, entry.task_id)) for split in SPLITS for entry in store.entries(split)[::5]}

    official = layouts(official_store)
    assert not [mine for mine in layouts(embedded) if any(len(mine & theirs) > 1 for theirs in official)]
