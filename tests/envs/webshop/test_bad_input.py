"""What is wrong is said in one clear sentence: files, settings, queries, actions, ids."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_gym.envs.base import MAX_ACTION_CHARS
from llm_gym.envs.webshop.build import BuildSettings, build_store
from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.env import WebShop, WebShopV0
from llm_gym.envs.webshop.store import FORMAT, ProductStore
from llm_gym.errors import BadRecord, DataError, DataMismatch, InvalidSetting, LLMGymError, MissingData, UnknownName

WORLDS = pytest.mark.parametrize("world", [WebShopV0, WebShop])


def message_of(kind: type[LLMGymError], action: Callable[[], object]) -> str:
    """The text of the error, which must be one line."""
    with pytest.raises(kind) as caught:
        action()
    assert type(caught.value) is kind
    text = str(caught.value)
    assert "\n" not in text
    return text


# -- files ---------------------------------------------------------------------------------------------------------


def test_missing_folder_and_missing_product_file_are_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert message_of(MissingData, lambda: build_store(nowhere, tmp_path / "s")) == f"{nowhere} is not a folder."
    text = message_of(MissingData, lambda: build_store(tmp_path, tmp_path / "s"))
    assert text == f"{tmp_path} holds neither items_shuffle.json nor items_shuffle_1000.json."
    assert not (tmp_path / "s").exists()


def test_missing_catalogue_says_what_may_be_given(tmp_path: Path) -> None:
    text = message_of(MissingData, lambda: WebShop(tmp_path / "nowhere"))
    assert text.startswith(f"There is no catalogue at {tmp_path / 'nowhere'}.")
    assert "'embedded'" in text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "damaged or cut off after record 0 (it does not begin with a list)."),
        (b"{}", "damaged or cut off after record 0 (it does not begin with a list)."),
        (b"\x00\x01\x02", "damaged or cut off after record 0 (it does not begin with a list)."),
        (b'[{"asin": "B000000001"', "damaged or cut off after record 0"),
        (b'[{"asin": "B000000001", "title_nouns": []}, {"asin": "B0', "damaged or cut off after record 1"),
        (b'[{"asin": "B000000001", "title_nouns": []}', "damaged or cut off after record 1"),
        (b'[{"asin": "\xe9"}]', "damaged or cut off after record 0 (it is not UTF-8)."),
        (b'[{"asin": "B000000001", "title_nouns": []}] and more', "after record 1 (something stands after its end)."),
        (b"[]", "holds no usable product."),
    ],
)
def test_damaged_product_file_is_named_with_the_last_good_record(
    content: bytes, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "items_shuffle.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        build_store(tmp_path, tmp_path / "store")
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["items_shuffle.json"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"[]", "damaged or cut off after entry 0 (it does not begin with an object)."),
        (b'{"B000000001": {"attributes": ["a"]}, "B00', "damaged or cut off after entry 1"),
    ],
)
@pytest.mark.parametrize("name", ["items_ins_v2.json", "items_human_ins.json"])
def test_damaged_side_file_is_named(
    content: bytes, complaint: str, name: str, write_files: Any, make_row: Any, tmp_path: Path
) -> None:
    folder = write_files([make_row("B000000001", "shoe")])
    (folder / name).write_bytes(content)
    text = message_of(BadRecord, lambda: build_store(folder, tmp_path / "store"))
    assert text.startswith(f"{folder / name}: {complaint}")


def test_nan_and_long_integers_are_read_as_the_original_reads_them(
    write_files: Any, make_row: Any, tmp_path: Path
) -> None:
    row = make_row("B000000001", "shoe") | {"full_description": float("nan"), "page": 10**30}
    store = build_store(write_files([row]), tmp_path / "store")
    assert store.product(0).description == ""


def test_half_a_character_is_a_bad_record(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    row = make_row("B000000001", "shoe") | {"full_description": "\ud83d"}
    text = message_of(BadRecord, lambda: build_store(write_files([row]), tmp_path / "store"))
    assert 'record 1: "full_description" holds half a character' in text


def test_side_files_may_be_absent(make_world: Any, make_row: Any) -> None:
    store = ProductStore.open(make_world([make_row("B000000001", "shoe")]))
    assert store.product(0).attributes == ("DUMMY_ATTR",)
    assert store.meta["goals"] == {"human": 0, "synthetic": 0}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"asin": None}, 'a product has no "asin"'),
        ({"asin": ""}, 'a product has no "asin"'),
        ({"name": 5}, '"name" should be a text, is int'),
        ({"full_description": ["x"]}, '"full_description" should be a text, is list'),
        ({"small_description": [1]}, '"small_description" should be a list of texts'),
        ({"small_description": {"a": 1}}, '"small_description" should be a list of texts'),
        ({"images": "x"}, '"images" should be a list of texts'),
        ({"customization_options": ["x"]}, '"customization_options" should be an object, is list'),
        ({"customization_options": {"size": [None]}}, "option group 'size' should be a list of objects"),
        ({"title_nouns": "shoe"}, '"title_nouns" should be a list of texts'),
        ({"title_nouns": None}, '"title_nouns" should be a list of texts'),
    ],
)
def test_malformed_record_is_named_by_file_and_number_or_skipped_and_counted(
    change: dict[str, Any], complaint: str, write_files: Any, make_row: Any, tmp_path: Path
) -> None:
    good = [make_row("B000000001", "one"), make_row("B000000003", "three")]
    folder = write_files([good[0], make_row("B000000002", "two") | change, good[1]])
    text = message_of(BadRecord, lambda: build_store(folder, tmp_path / "store"))
    assert text == f"items_shuffle.json: record 2: {complaint}. Mend it, or skip bad records (--skip-bad)."
    store = build_store(folder, tmp_path / "store", BuildSettings(skip_bad=True))
    assert [product.asin for product in store] == ["B000000001", "B000000003"]
    assert store.meta["bad_records"] == [f"items_shuffle.json: record 2: {complaint}"]
    assert store.rows.tolist() == [0, 2]


def test_a_record_that_is_no_object_is_named(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    folder = write_files([make_row("B000000001", "one"), "two", None, 3])
    assert "record 2: a product has no" in message_of(BadRecord, lambda: build_store(folder, tmp_path / "store"))
    store = build_store(folder, tmp_path / "store", BuildSettings(skip_bad=True))
    assert len(store.meta["bad_records"]) == 3


@pytest.mark.parametrize(
    ("mined", "human", "complaint"),
    [
        ({"B000000001": []}, {}, "its entry in the attribute file should be an object, is list"),
        ({"B000000001": {"attributes": "x"}}, {}, '"attributes" should be a list of texts'),
        ({"B000000001": {"instruction": 5}}, {}, '"instruction" should be a text, is int'),
        ({}, {"B000000001": {}}, None),
        ({}, {"B000000001": "x"}, "human instructions should be a list of objects"),
        ({}, {"B000000001": [{"instruction_attributes": [1]}]}, '"instruction_attributes" should be a list of texts'),
    ],
)
def test_malformed_side_entry_is_named_with_its_product(
    mined: Any, human: Any, complaint: str | None, write_files: Any, make_row: Any, tmp_path: Path
) -> None:
    folder = write_files([make_row("B000000001", "one")], mined, human)
    if complaint is None:
        assert build_store(folder, tmp_path / "store").meta["goals"]["human"] == 0
        return
    assert f"record 1: {complaint}." in message_of(BadRecord, lambda: build_store(folder, tmp_path / "store"))


def test_a_product_with_too_many_combinations_is_refused(
    write_files: Any, make_row: Any, make_options: Any, tmp_path: Path
) -> None:
    groups = make_options(**{name: [str(number) for number in range(50)] for name in "abc"})
    mined = {"B000000001": {"instruction": "x", "instruction_attributes": ["a"], "attributes": []}}
    folder = write_files([make_row("B000000001", "one", customization_options=groups)], mined)
    text = message_of(BadRecord, lambda: build_store(folder, tmp_path / "store"))
    assert "record 1: its options have 125,000 combinations" in text


@pytest.mark.parametrize("pricing", ["15 dollars", "$1.2.3", "", None, "$"])
def test_price_text_that_is_none_costs_a_hundred_dollars(pricing: Any, make_world: Any, make_row: Any) -> None:
    product = ProductStore.open(make_world([make_row("B000000001", "one", pricing=pricing)])).product(0)
    assert (product.pricing, product.price_tag) == ((), "$100.0")


def test_duplicate_and_unusable_ids_are_left_out_and_counted(make_world: Any, make_row: Any) -> None:
    rows = [
        make_row("B000000001", "first"),
        make_row("B000000001", "second of the same id"),
        make_row("nan", "no id"),
        make_row("B0000000001", "eleven characters"),
        make_row("B000000002", "last"),
    ]
    store = ProductStore.open(make_world(rows))
    assert [product.title for product in store] == ["first", "last"]
    assert (store.meta["duplicate_ids"], store.meta["unusable_ids"], store.meta["rows_read"]) == (1, 2, 5)


def test_ids_that_only_the_attribute_file_has_are_counted(make_world: Any, make_row: Any) -> None:
    mined = {asin: {"attributes": ["a"]} for asin in ("B000000001", "B000000008", "B000000009")}
    store = ProductStore.open(make_world([make_row("B000000001", "one"), make_row("B000000002", "two")], mined))
    assert store.meta["ids_only_in_attribute_file"] == 2
    assert [product.attributes for product in store] == [("a",), ("DUMMY_ATTR",)]


def test_only_the_first_rows_are_read_duplicates_included(make_world: Any, make_row: Any) -> None:
    rows = [make_row(f"B00000000{number}", "shoe") for number in (1, 1, 2, 3)]
    store = ProductStore.open(make_world(rows, settings=BuildSettings(num_products=3)))
    assert [product.asin for product in store] == ["B000000001", "B000000002"]


def test_building_over_something_is_refused(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    folder = write_files([make_row("B000000001", "one")])
    (tmp_path / "store").mkdir()
    build_store(folder, tmp_path / "store")
    text = message_of(InvalidSetting, lambda: build_store(folder, tmp_path / "store"))
    assert text == f"{tmp_path / 'store'} exists already. Remove it, or build somewhere else."


def test_byte_order_mark_does_not_matter(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    folder = write_files([make_row("B000000001", "one")], {"B000000001": {"attributes": ["a"]}})
    for path in folder.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert build_store(folder, tmp_path / "store").product(0).attributes == ("a",)


def test_an_unusual_character_survives_the_store(make_world: Any, make_row: Any) -> None:
    name = "zero\u0000 surrogate pair 👟 right-to-left \u202e end"
    assert ProductStore.open(make_world([make_row("B000000001", name)])).product(0).title == name


# -- the built store -----------------------------------------------------------------------------------------------


@pytest.fixture
def store(nasty_world: Path, tmp_path: Path) -> Path:
    """A copy that may be spoilt."""
    return Path(shutil.copytree(nasty_world, tmp_path / "copy"))


def test_store_in_a_folder_that_cannot_be_written_opens(store: Path) -> None:
    for path in [*store.rglob("*"), store]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(path.name for path in store.rglob("*"))
    env = WebShop(store, goals="human")
    env.reset()
    env.step("search[shoe]")
    assert sorted(path.name for path in store.rglob("*")) == before
    for path in [store, *store.rglob("*")]:
        path.chmod(0o755)


ARRAYS = ("offsets", "asins", "by_asin", "rows", "pricing")


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("kept", [0, 50, 140])
def test_truncated_array_is_named(name: str, kept: int, store: Path) -> None:
    path = store / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:kept])
    text = message_of(DataError, lambda: ProductStore.open(store))
    assert text.startswith(f"{path} is damaged: ")
    assert text.endswith("Build the store again.")


@pytest.mark.parametrize("name", ARRAYS)
def test_array_of_another_length_is_noticed(name: str, store: Path) -> None:
    path = store / f"{name}.npy"
    np.save(path, np.load(path)[:-1])
    text = message_of(DataError, lambda: ProductStore.open(store))
    assert text == f"{store}: the store is damaged (its parts differ in length). Build it again."


@pytest.mark.parametrize("kept", [0, 10])
def test_truncated_records_are_noticed(kept: int, store: Path) -> None:
    path = store / "products.bin"
    path.write_bytes(path.read_bytes()[:kept])
    assert str(store) in message_of(DataError, lambda: ProductStore.open(store))


def test_overwritten_record_is_named_when_it_is_read(store: Path) -> None:
    path = store / "products.bin"
    path.write_bytes(b"?" * 20 + path.read_bytes()[20:])
    opened = ProductStore.open(store)
    assert opened.product(1).asin == "B0UNICODE1"
    assert message_of(DataError, lambda: opened.product(0)).startswith(f"{store}: product 1 is damaged")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b'{"format": %d}' % FORMAT, b'{"name": "x"}'])
def test_damaged_description_is_named(content: bytes, store: Path) -> None:
    (store / "meta.json").write_bytes(content)
    assert message_of(DataError, lambda: ProductStore.open(store)).startswith(f"{store / 'meta.json'} is damaged: ")


@pytest.mark.parametrize("name", ["products.bin", "asins.npy", "offsets.npy"])
def test_missing_part_is_named(name: str, store: Path) -> None:
    (store / name).unlink()
    text = message_of(MissingData, lambda: ProductStore.open(store))
    assert text == f"{store / name} is missing. Build the store again."


def test_damaged_groups_are_named(store: Path) -> None:
    (store / "groups_query.json").write_bytes(b"[")
    assert "groups_query.json is damaged" in message_of(DataError, lambda: ProductStore.open(store).groups("query"))


def test_store_of_another_format_is_refused(store: Path) -> None:
    meta = json.loads((store / "meta.json").read_text(encoding="utf-8"))
    (store / "meta.json").write_text(json.dumps(meta | {"format": 999}), encoding="utf-8")
    text = message_of(DataMismatch, lambda: ProductStore.open(store))
    assert f"{store} has store format 999" in text


def test_index_of_another_catalogue_is_refused(store: Path, make_world: Any, make_row: Any) -> None:
    other = make_world([make_row("B000000001", "one")])
    shutil.rmtree(store / "index")
    shutil.copytree(other / "index", store / "index")
    mine, others = (ProductStore.open(folder).digest for folder in (store, other))
    text = message_of(DataMismatch, lambda: Catalogue.open(store).engine())
    assert mine in text
    assert others in text


# -- settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, -1, "ten", 2.5, True])
def test_number_of_products_must_be_positive(number: Any, nasty_world: Path, tmp_path: Path) -> None:
    text = f"num_products is a positive whole number, not {number!r}."
    assert message_of(InvalidSetting, lambda: WebShop(nasty_world, num_products=number)) == text
    settings = BuildSettings(num_products=number)
    assert message_of(InvalidSetting, lambda: build_store(nasty_world, tmp_path / "x", settings)) == text


def test_first_rows_without_a_product_are_refused(make_world: Any, make_row: Any) -> None:
    store = make_world([make_row("nan", "none"), make_row("B000000001", "one")])
    text = message_of(InvalidSetting, lambda: Catalogue.open(store, num_products=1))
    assert text == "The first 1 rows of items_shuffle hold no product."


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"observation_mode": "text_ritch"},
            "Unknown observation mode 'text_ritch'. Did you mean 'text_rich'?",
        ),
        ({"search_engine": "bm52"}, "Unknown search engine 'bm52'. Did you mean 'bm25'?"),
        ({"split": "al"}, "Unknown split 'al'. Did you mean 'all'?"),
        (
            {"split": "test"},
            "Unknown split 'test'. "
            "Known: all, train_products, heldout_products, training_products, validation_products.",
        ),
        ({"goals": "humans"}, "Unknown kind of goals 'humans'. Did you mean 'human'?"),
        ({"render_mode": "htlm"}, "Unknown render mode 'htlm'. Did you mean 'html'?"),
    ],
)
def test_unknown_names_are_answered_with_the_near_ones(settings: dict[str, Any], text: str, nasty_world: Path) -> None:
    assert message_of(UnknownName, lambda: WebShop(nasty_world, **({"goals": "human"} | settings))) == text


def test_goals_that_a_world_does_not_have_are_said_to_be_missing(make_world: Any, make_row: Any) -> None:
    store = make_world([make_row("B000000001", "one")])
    text = message_of(InvalidSetting, lambda: WebShop(store, goals="human"))
    assert text == "Panel 'all' holds no task. Choose another split or other goals."


@pytest.mark.parametrize(
    "task",
    ["", "B0SHARED01", "B0SHARED01.h2", "B0SHARED01.h00", "B0SHARED01.s0", "\ud800.h0", "x.h" + "9" * 5000, 7, None],
)
def test_unknown_task_is_answered_with_the_panel(task: object, nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human")
    with pytest.raises(UnknownName, match=r"^Unknown task of panel 'all' .*(Did you mean|Known:) .*B0\w+\.h\d"):
        env.reset(options={"task": task})


def test_misspelt_task_is_answered_with_the_near_one(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human")
    text = message_of(UnknownName, lambda: env.reset(options={"task": "B0SHARED1.h0"}))
    assert text.startswith("Unknown task of panel 'all' 'B0SHARED1.h0'. Did you mean 'B0SHARED01.h0'")


def test_unknown_reset_option_is_named(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human")
    text = message_of(UnknownName, lambda: env.reset(options={"tsk": env.panel[0]}))
    assert text == "Unknown reset option 'tsk'. Did you mean 'task'?"


# -- queries and actions -------------------------------------------------------------------------------------------


@WORLDS
@pytest.mark.parametrize(
    "query", ["the of and", "!!! ???", "   x   ", "zzzzzz", "靴 👟", "\x00", "shoe " * 20_000, "é" * 50_000]
)
def test_any_query_is_answered_with_results_or_none(world: type[WebShop], query: str, nasty_world: Path) -> None:
    env = world(nasty_world, goals="human")
    env.reset()
    observation, reward, ended, cut, info = env.step(f"search[{query}]")
    assert (reward, ended, cut) == (0.0, False, False)
    assert info["screen"] == "results"
    assert len(info["results"]) in (0, 1, 2, 10)
    assert "Page 1 (Total results: " in observation


@WORLDS
@pytest.mark.parametrize("query", ["the of and", "!!!", "zzzzzz"])
def test_query_without_a_known_word_finds_nothing(world: type[WebShop], query: str, nasty_world: Path) -> None:
    env = world(nasty_world, goals="human")
    env.reset()
    observation, *_, info = env.step(f"search[{query}]")
    assert info["results"] == ()
    assert "Page 1 (Total results: 0)\n[button] Next > [button_]\n" in observation


BAD_ACTIONS: list[tuple[object, str]] = [
    (None, "An action is a string, not NoneType: None"),
    (7, "An action is a string, not int: 7"),
    (b"search[x]", "An action is a string, not bytes: b'search[x]'"),
    (["search[x]"], "An action is a string, not list: ['search[x]']"),
    ("", "The action is empty."),
    (" \n", "The action is empty."),
    ("x" * (MAX_ACTION_CHARS + 1), "An action has at most 200,000 characters, this one has 200,001."),
    ("buy", "'buy' is not an action: write search[words] or click[what the page shows]."),
    ("click[nothing]", "There is nothing called 'nothing' to click on this page."),
    ("click[search]", "There is nothing called 'search' to click on this page."),
    ("click[buy now]", "There is nothing called 'buy now' to click on this page."),
    ("click[\ud800]", "There is nothing called '\\ud800' to click on this page."),
]


@WORLDS
@pytest.mark.parametrize(("action", "reason"), BAD_ACTIONS, ids=range(len(BAD_ACTIONS)))
def test_what_is_no_action_changes_nothing_and_is_explained(
    world: type[WebShop], action: Any, reason: str, nasty_world: Path
) -> None:
    env = world(nasty_world, goals="human")
    page, before = env.reset()
    observation, reward, ended, cut, info = env.step(action)
    assert (observation, reward, ended, cut) == (page, 0.0, False, False)
    assert info == before | {"invalid_action": reason}


def test_long_target_is_cut_in_the_explanation(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human")
    env.reset()
    assert len(env.step(f"click[{'x' * 100_000}]")[-1]["invalid_action"]) < 200
    assert len(env.step("x" * 100_000)[-1]["invalid_action"]) < 200


def test_results_do_not_belong_to_the_environment_once_given(nasty_world: Path) -> None:
    env = WebShop(nasty_world, goals="human")
    _, info = env.reset()
    info["admissible_actions"].clear()
    info["metrics"].clear()
    assert env.step("nonsense")[-1]["admissible_actions"]
    assert env.reset(options={"task": info["task_id"]})[1]["admissible_actions"]
