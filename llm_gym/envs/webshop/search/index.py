"""The inverted index: its arrays, and how they lie in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.search.index_builder import IndexBuilder
from llm_gym.envs.webshop.search.storage import Arrays, FolderStorage, MemoryStorage
from llm_gym.envs.webshop.search.string_table import StringTable
from llm_gym.envs.webshop.search.whole_folder import written_whole
from llm_gym.errors import DataError, DataMismatch, MissingData

FORMAT = 1
_HEADER = "index.json"


@dataclass(frozen=True, slots=True)
class Index:
    """Postings of every term; documents are numbered in the order of their ids.

    Attributes:
        digest: what the index was built from.
        ids: the documents' ids, (N,).
        terms: the terms, (T,).
        posting_starts: int64, (T + 1,), where the postings of each term start.
        documents: int32, (P,), ascending within a term.
        frequencies: uint16, (P,), how often the document holds the term.
        impacts: float32, (P,), what the term adds to the document's score when the query holds it once.
        length_codes: uint8, (N,), the documents' lengths in Lucene's one-byte code.
        norms: float32, (256,), `weights.inverse_norms` for the average length of these documents.
        searchable_documents: how many documents hold a term at all (the N of the formula).
    """

    digest: str
    ids: StringTable
    terms: StringTable
    posting_starts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.uint16]
    impacts: npt.NDArray[np.float32]
    length_codes: npt.NDArray[np.uint8]
    norms: npt.NDArray[np.float32]
    searchable_documents: int

    @classmethod
    def in_memory(cls, documents: Iterable[tuple[str, str]], *, digest: str = "") -> Index:
        """Index of (id, text) pairs, for as many as fit into memory."""
        storage = MemoryStorage()
        builder = IndexBuilder(storage)
        for document_id, text in documents:
            builder.add(document_id, text)
        return cls._of(storage.arrays, digest, builder.finish())

    @classmethod
    def open(cls, folder: Path, *, expect_digest: str | None = None) -> Index:
        """Map an index that `build_index` wrote; costs milliseconds, whatever its size.

        Raises:
            MissingData: there is no index in the folder, or one of its files is gone.
            DataError: a file is damaged or of another version.
            DataMismatch: the index was built from something else than `expect_digest`.
        """
        header = _read_header(folder / _HEADER)
        if expect_digest is not None and header["digest"] != expect_digest:
            raise DataMismatch(
                f"The search index in {folder} was built from the catalogue {header['digest']!r}, "
                f"not from {expect_digest!r}. Build it again."
            )
        arrays = {name: _map(folder / f"{name}.npy", size) for name, size in header["bytes"].items()}
        return cls._of(arrays, header["digest"], header["searchable_documents"])

    @classmethod
    def _of(cls, arrays: Arrays, digest: str, searchable_documents: int) -> Index:
        return cls(
            digest=digest,
            ids=StringTable(arrays["id_text"], arrays["id_starts"]),
            terms=StringTable(arrays["term_text"], arrays["term_starts"]),
            posting_starts=arrays["posting_starts"],
            documents=arrays["documents"],
            frequencies=arrays["frequencies"],
            impacts=arrays["impacts"],
            length_codes=arrays["length_codes"],
            norms=arrays["norms"],
            searchable_documents=searchable_documents,
        )


def build_index(
    documents: Iterable[tuple[str, str]],
    folder: Path,
    *,
    digest: str,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the index of a stream of (id, text) pairs, in any order; an index already in the folder is replaced.

    The folder appears complete or not at all. Needs memory for the ids and the vocabulary; postings go through files.

    Args:
        documents: ids are distinct; texts need no preparation.
        folder: where the index goes; its parents are made.
        digest: names the catalogue; `Index.open` compares it.
        progress: called with the number of documents read so far.

    Raises:
        DataError: an id occurs twice. Nothing is left behind.
    """
    with written_whole(folder) as workshop:
        storage = FolderStorage(workshop)
        builder = IndexBuilder(storage)
        for count, (document_id, text) in enumerate(documents, start=1):
            builder.add(document_id, text)
            if progress is not None:
                progress(count)
        searchable_documents = builder.finish()
        storage.close()
        _write_header(workshop, digest, searchable_documents)


def _write_header(folder: Path, digest: str, searchable_documents: int) -> None:
    sizes = {file.stem: file.stat().st_size for file in sorted(folder.glob("*.npy"))}
    header = {"format": FORMAT, "digest": digest, "searchable_documents": searchable_documents, "bytes": sizes}
    (folder / _HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")


def _read_header(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise MissingData(f"There is no search index: {path} does not exist. Build it with build_index.")
    try:
        header = json.loads(path.read_bytes())
        if header["format"] != FORMAT:
            raise DataError(f"{path} has format {header['format']} instead of {FORMAT}. Build the index again.")
        return {key: header[key] for key in ("digest", "searchable_documents", "bytes")}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is damaged ({error!r}). Build the index again.") from error


def _map(path: Path, size: int) -> npt.NDArray[Any]:
    if not path.is_file():
        raise MissingData(f"The search index is incomplete: {path} does not exist. Build the index again.")
    if path.stat().st_size != size:
        raise DataError(f"{path} has {path.stat().st_size} bytes instead of {size}. Build the index again.")
    try:
        # A plain array over the map: np.memmap's own bookkeeping costs a microsecond at every slice.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError as error:
        raise DataError(f"{path} is damaged ({error}). Build the index again.") from error
