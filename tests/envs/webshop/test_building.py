"""Building a store: progress, memory, the cache, and several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_gym.envs.webshop.build import build_store
from llm_gym.envs.webshop.store import ProductStore


def test_progress_counts_products_and_then_the_index(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    calls: list[tuple[str, int]] = []
    folder = write_files([make_row(f"B00000{number:04}", "shoe") for number in range(5)])
    build_store(folder, tmp_path / "store", progress=lambda stage, done: calls.append((stage, done)))
    assert [done for stage, done in calls if stage == "products"] == [1, 2, 3, 4, 5]
    stages = [stage for stage, _ in calls]
    assert stages == sorted(stages, key=["products", "index"].index)
    assert [done for stage, done in calls if stage == "index"][-1] == 5


def test_failure_half_way_leaves_nothing_behind(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    folder = write_files([make_row(f"B00000{number:04}", "shoe") for number in range(5)])

    def stop(stage: str, done: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_store(folder, tmp_path / "stores" / "one", progress=stop)
    assert list((tmp_path / "stores").iterdir()) == []


def test_the_same_files_give_the_same_bytes(write_files: Any, make_row: Any, make_options: Any, tmp_path: Path) -> None:
    rows = [
        make_row(f"B00000{number:04}", f"shoe {number}", customization_options=make_options(size=["S", "M"]))
        for number in range(30)
    ]
    folder = write_files(rows, {"B000000001": {"attributes": ["a"]}})
    stores = [build_store(folder, tmp_path / name) for name in ("one", "two")]
    files = [
        {path.relative_to(store.folder): path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
        for store in stores
    ]
    assert files[0] == files[1]


def test_another_product_gives_another_digest(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    digests = set()
    for number, price in enumerate(("$1", "$2")):
        folder = write_files([make_row("B000000001", "shoe", pricing=price)])
        digests.add(build_store(folder, tmp_path / str(number)).digest)
    assert len(digests) == 2


def test_titles_without_nouns_need_a_tagger_and_get_theirs(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    row = make_row("B000000001", "Red leather shoes for women")
    del row["title_nouns"]
    store = build_store(write_files([row, make_row("B000000002", "given", title_nouns=["mine"])]), tmp_path / "store")
    assert "shoes" in store.product(0).title_nouns
    assert "for" not in store.product(0).title_nouns
    assert store.product(1).title_nouns == ("mine",)
    assert store.meta["noun_model"].startswith("en_core_web_")


OPEN = """
import sys, warnings
from llm_gym.envs.webshop.catalogue import Catalogue
catalogue = Catalogue.open(sys.argv[1])
print(catalogue.digest, catalogue.size, catalogue.store.folder)
"""


def test_two_processes_may_build_the_same_cache_at_once(write_files: Any, make_row: Any, tmp_path: Path) -> None:
    folder = write_files([make_row(f"B0000{number:05}", f"shoe {number}") for number in range(1500)])
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", OPEN, str(folder)]
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0]
    built = list((tmp_path / "cache" / "llm_gym" / "webshop").iterdir())
    assert len(built) == 1
    assert len(ProductStore.open(built[0])) == 1500


def test_official_files_are_built_once_into_the_cache(run_python: Any, write_files: Any, make_row: Any) -> None:
    folder = write_files([make_row("B000000001", "shoe")])
    first, second = (run_python(OPEN, folder) for _ in range(2))
    assert first.stdout == second.stdout
    assert "Building the product store" in first.stderr
    assert second.stderr == ""


MEASURE = """
import json, resource, sys
from pathlib import Path
from llm_gym.envs.webshop.build import build_store
build_store(Path(sys.argv[1]), Path(sys.argv[2]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_products(run_python: Any, make_row: Any, tmp_path: Path) -> None:
    """Ten times the products, 36 MB more of text: far less than that more memory."""
    import json

    used = {}
    for count in (2_000, 20_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        with (folder / "items_shuffle.json").open("w", encoding="utf-8") as file:
            for number in range(count):
                row = make_row(f"B0{number:08}", f"shoe {number}", full_description="shoe words " * 180)
                file.write(("[" if number == 0 else ",") + json.dumps(row))
            file.write("]")
        used[count] = int(run_python(MEASURE, folder, tmp_path / f"store{count}").stdout) / 1024
    assert used[20_000] - used[2_000] < 25, used
