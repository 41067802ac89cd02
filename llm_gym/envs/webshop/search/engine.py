"""The seam between the shop and its search: what every engine offers."""

from typing import Protocol


class SearchEngine(Protocol):
    """Ranks the products of one catalogue for a query; safe to share between threads."""

    @property
    def digest(self) -> str:
        """Digest of the catalogue that the index was built from."""
        ...

    def search(self, query: str, k: int = 50) -> list[str]:
        """Ids of at most `k` documents, best first; none when no word of the query is searchable or known."""
        ...
