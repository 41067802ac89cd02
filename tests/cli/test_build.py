"""`llm-gym build webshop`."""

from __future__ import annotations

import orjson
import pytest

from llm_gym.envs.webshop.store import ProductStore


def row(asin: str, name: str = "red shoe") -> dict:
    """A row of a product file with its nouns, so that no tagger is needed."""
    return {
        "asin": asin,
        "name": name,
        "category": "fashion",
        "query": "shoes",
        "product_category": "Clothing › Shoes",
        "full_description": "",
        "small_description": ["a shoe"],
        "pricing": "$10.00",
        "customization_options": {},
        "images": [""],
        "title_nouns": ["shoe"],
    }


@pytest.fixture
def official(tmp_path):
    """A folder of official files: two products, one twice, one damaged, an id that only the attributes know."""
    folder = tmp_path / "official"
    folder.mkdir()
    damaged = row("B000000003") | {"customization_options": 5}
    rows = [row("B000000001"), row("B000000001"), row("B000000002"), damaged]
    (folder / "items_shuffle_1000.json").write_bytes(orjson.dumps(rows))
    mined = {asin: {"attributes": ["red"]} for asin in ("B000000001", "B000000002", "B000000009")}
    (folder / "items_ins_v2_1000.json").write_bytes(orjson.dumps(mined))
    return folder


def lines(out: str) -> dict[str, str]:
    """The two columns of the table."""
    parts = (line.strip().split("   ", 1) for line in out.splitlines() if "   " in line.strip())
    return {name: value.strip() for name, value in parts}


def test_the_report_tells_what_became_of_the_rows(run, official, tmp_path):
    target = tmp_path / "my store"
    ran = run("build", "webshop", "--from", str(official), "--to", str(target), "--skip-bad")
    assert ran.code == 0, ran.err
    told = lines(ran.out)
    assert told["products"] == "2"
    assert told["rows read"] == "4"
    assert told["left out: id seen before"] == "1"
    assert told["left out: damaged"] == "1"
    assert told["ids only in the attribute file"] == "1"
    assert told["digest"] == ProductStore.open(target).digest
    assert "record 4" in ran.out
    assert f"llm-gym play WebShop-v1 --set 'catalogue={target}'" in ran.err


def test_a_damaged_record_stops_the_build_and_the_flag_is_named(run, official, tmp_path):
    ran = run("build", "webshop", "--from", str(official), "--to", str(tmp_path / "store"))
    assert ran.code == 2
    assert "items_shuffle_1000.json: record 4" in ran.err
    assert "--skip-bad" in ran.err
    assert not (tmp_path / "store").exists()


def test_the_first_rows_only(run, official, tmp_path):
    ran = run("build", "webshop", "--from", str(official), "--to", str(tmp_path / "store"), "--num-products", "2")
    assert lines(ran.out)["products"] == "1"


def test_an_old_store_is_never_overwritten(run, official, tmp_path):
    words = ("build", "webshop", "--from", str(official), "--to", str(tmp_path / "store"), "--num-products", "3")
    assert run(*words).code == 0
    ran = run(*words)
    assert ran.code == 2
    assert "exists already" in ran.err


def test_an_invented_shop_is_built_twice_alike_and_can_be_played(run, tmp_path):
    for name in ("a", "b"):
        target = tmp_path / name
        words = ("build", "webshop", "--invented", "hard", "--products", "120", "--seed", "3", "--to", str(target))
        ran = run(*words, watched=True)
        assert ran.code == 0, ran.err
        assert "120/120" in ran.err
    first, second = ProductStore.open(tmp_path / "a"), ProductStore.open(tmp_path / "b")
    assert (first.name, len(first), first.digest) == ("invented-hard-120-3", 120, second.digest)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]  # no raw files are left
    catalogue = f"catalogue={tmp_path / 'a'}"
    ran = run("evaluate", "WebShop-v1", "--policy", "rule", "--set", catalogue, "--set", "split=all", "-n", "5")
    assert ran.code == 0, ran.err
    assert "catalogue invented-hard-120-3" in ran.out
    assert run("evaluate", "WebShop-v0", "--policy", "rule", "--set", catalogue, "--set", "split=all").code == 0
