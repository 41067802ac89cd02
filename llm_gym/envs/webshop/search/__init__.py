"""Search over the products: BM25 that ranks as Lucene does, and Lucene itself to compare with."""

from llm_gym.envs.webshop.search.bm25 import BM25
from llm_gym.envs.webshop.search.engine import SearchEngine
from llm_gym.envs.webshop.search.index import build_index
from llm_gym.envs.webshop.search.lucene import LuceneEngine

__all__ = ["BM25", "LuceneEngine", "SearchEngine", "build_index"]
