"""Opens games wherever they are: those of the package, a store, or files that are made into a store the first time."""

from __future__ import annotations

import hashlib
import logging
from functools import lru_cache
from pathlib import Path

from llm_gym.data import cache_home, data_home
from llm_gym.envs.alfworld.build import build_store
from llm_gym.envs.alfworld.sources import fingerprint
from llm_gym.envs.alfworld.store import FORMAT, GameStore, is_store
from llm_gym.errors import InvalidSetting, MissingData

EMBEDDED = "embedded"
EMBEDDED_FOLDER = Path(__file__).parent / "embedded"
OFFICIAL = "official"
"""The store that `llm-gym download alfworld` makes."""

_log = logging.getLogger(__name__)


def official_folder() -> Path:
    """Where the store of the official games is."""
    return data_home() / "alfworld" / OFFICIAL


def open_games(source: str | Path = EMBEDDED) -> GameStore:
    """Open "embedded", "official", a store, a folder of games, an archive of them, or one `game.tw-pddl`.

    Files are made into a store in the cache folder the first time, which takes some seconds for thousands of games.
    What is open is shared by the whole process.

    Raises:
        MissingData: there is nothing at `source`, or no game in it. DataError: it is damaged.
    """
    if source == EMBEDDED:
        return _opened(EMBEDDED_FOLDER)
    if source == OFFICIAL:
        if not official_folder().is_dir():
            raise MissingData(
                f"The official games are not in {official_folder()}. Get them with `llm-gym download alfworld`."
            )
        return _opened(official_folder())
    path = Path(source).expanduser().resolve()
    if not path.exists():
        raise MissingData(
            f"There are no games at {path}. Give a folder of games, an archive, a store, {EMBEDDED!r}, or get the "
            f"official ones with `llm-gym download alfworld` and give {OFFICIAL!r}: games=… in Python, "
            "--set games=… on the command line."
        )
    return _opened(path if is_store(path) else _built(path))


@lru_cache(maxsize=8)
def _opened(folder: Path) -> GameStore:
    """Environments of one process share what is read only."""
    return GameStore.open(folder)


@lru_cache(maxsize=8)
def _built(source: Path) -> Path:
    key = hashlib.sha256(f"{FORMAT} {source.name} {fingerprint(source)}".encode(errors="surrogateescape")).hexdigest()
    folder = cache_home() / "alfworld" / key[:16]
    if not folder.is_dir():
        _log.warning("Building the game store of %s once, in %s", source, folder)
        try:
            build_store(source, folder)
        except InvalidSetting:
            if not folder.is_dir():  # else another process has built it since we looked
                raise
    return folder
