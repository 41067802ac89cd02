"""Search over the products' texts."""

from llm_gym.envs.webshop.search.bm25 import BM25
from llm_gym.envs.webshop.search.engine import SearchEngine
from llm_gym.envs.webshop.search.index import build_index

__all__ = ["BM25", "SearchEngine", "build_index"]
