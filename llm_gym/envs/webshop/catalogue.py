"""A catalogue: a product store, or its first products, with search over them."""

from __future__ import annotations

import hashlib
import logging
from functools import lru_cache
from pathlib import Path

import numpy as np

from llm_gym.data import cache_home
from llm_gym.envs.webshop.build import BuildSettings, build_store, check_num_products
from llm_gym.envs.webshop.fragments import Fragments
from llm_gym.envs.webshop.goals import GoalKind
from llm_gym.envs.webshop.official import OfficialFiles
from llm_gym.envs.webshop.panels import GoalTable
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.search import BM25, LuceneEngine, SearchEngine
from llm_gym.envs.webshop.store import FORMAT, ProductStore, ShownResult
from llm_gym.errors import InvalidSetting, MissingData, UnknownName

EMBEDDED = "embedded"
EMBEDDED_FOLDER = Path(__file__).parent / "embedded"
_CACHED_PRODUCTS = 2048
SEARCH_ENGINES = ("bm25", "lucene")

_log = logging.getLogger(__name__)


class Catalogue:
    """The products of a world, how they are found, and the goals they carry.

    Attributes:
        name: of the catalogue, shown with every result.
        size: number of products.
        digest: of the products; two catalogues with one digest are the same.
    """

    def __init__(self, store: ProductStore, size: int, digest: str) -> None:
        self.store = store
        self.name = store.name
        self.size = size
        self.digest = digest
        self.find = lru_cache(maxsize=_CACHED_PRODUCTS)(self._find)
        """A product by id; None when this catalogue does not hold it."""
        self.card = lru_cache(maxsize=_CACHED_PRODUCTS)(self._card)
        """What a page of results shows of a product of this catalogue."""
        self.fragments = Fragments(self.find, self.card, _CACHED_PRODUCTS)
        """Rendered parts of pages, shared by all environments of the process."""

    @classmethod
    def open(cls, source: str | Path = EMBEDDED, num_products: int | None = None) -> Catalogue:
        """Open the embedded catalogue, a built store, or a folder of official files.

        Official files are built into a store in the cache folder the first time, which takes seconds for a thousand
        products; build a large world yourself, with `llm-gym build webshop`, and open that.

        Args:
            source: "embedded" or a folder.
            num_products: only the products of so many first rows of the product file; None: all.

        Raises:
            MissingData: the folder holds neither a store nor official files.
        """
        check_num_products(num_products)
        return _opened(EMBEDDED_FOLDER if source == EMBEDDED else Path(source).expanduser().resolve(), num_products)

    def engine(self, name: str = "bm25") -> SearchEngine:
        """Search over exactly these products.

        Raises:
            UnknownName: no such engine. MissingDependency: Lucene is asked for and not installed.
        """
        if name not in SEARCH_ENGINES:
            raise UnknownName("search engine", name, SEARCH_ENGINES)
        return _engine(self, name)

    def goals(self, kind: GoalKind) -> GoalTable:
        """All goals of a kind."""
        return GoalTable.of(self.store, kind, self.size)

    def _find(self, asin: str) -> Product | None:
        position = self.store.position(asin)
        return None if position is None or position >= self.size else self.store.product(position)

    def _card(self, asin: str) -> ShownResult:
        position = self.store.position(asin)
        assert position is not None, "search finds products of the catalogue"
        return self.store.card(position)

    def documents(self) -> list[tuple[str, str]]:
        """Id and searched text of every product."""
        products = (self.store.product(position) for position in range(self.size))
        return [(product.asin, product.document()) for product in products]


@lru_cache(maxsize=8)
def _opened(folder: Path, num_products: int | None) -> Catalogue:
    """Environments of one process share what is read only."""
    store = ProductStore.open(_store_folder(folder))
    size = len(store) if num_products is None else int(np.searchsorted(store.rows, num_products))
    if size == 0:
        raise InvalidSetting(f"The first {num_products} rows of {store.name} hold no product.")
    part = "" if size == len(store) else f"-{size}"
    return Catalogue(store, size, store.digest + part)


def _store_folder(folder: Path) -> Path:
    if (folder / "meta.json").is_file():
        return folder
    if not folder.is_dir():
        raise MissingData(
            f"There is no catalogue at {folder}. Give a folder of official files, a built store, or {EMBEDDED!r}."
        )
    digests = OfficialFiles.find(folder).digests()
    key = hashlib.sha256(repr((FORMAT, sorted(digests.items()))).encode()).hexdigest()[:16]
    built = cache_home() / "webshop" / key
    if not (built / "meta.json").is_file():
        _log.warning("Building the product store of %s once, in %s", folder, built)
        try:
            build_store(folder, built, BuildSettings())
        except InvalidSetting:
            if not (built / "meta.json").is_file():  # else another process has built it since we looked
                raise
    return built


@lru_cache(maxsize=8)
def _engine(catalogue: Catalogue, name: str) -> SearchEngine:
    if name == "lucene":
        folder = cache_home() / "lucene" / catalogue.digest
        if not folder.is_dir():
            LuceneEngine.build(catalogue.documents(), folder, digest=catalogue.digest)
        return LuceneEngine.open(folder)
    if catalogue.size == len(catalogue.store):
        return BM25.open(catalogue.store.folder / "index", expect_digest=catalogue.digest)
    return BM25.in_memory(catalogue.documents(), digest=catalogue.digest)
