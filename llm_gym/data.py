"""Where data outside the package lives, and how files are written so that a kill leaves no half of one."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llm_gym.errors import InvalidSetting

DATA_VARIABLE = "LLM_GYM_DATA"


def data_home() -> Path:
    """The folder of official data: `$LLM_GYM_DATA`, or `~/.local/share/llm_gym`."""
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".local" / "share" / "llm_gym"


def cache_home() -> Path:
    """The folder of things that can be built again: `llm_gym` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llm_gym"


def sha256_of(path: Path) -> str:
    """Hexadecimal digest of a file's bytes; reads it once, in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """A temporary file beside `target` that takes its place when the block ends well, and vanishes when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(target: Path, content: bytes) -> None:
    """Write a whole file or leave the old one as it was."""
    with atomic_path(target) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder beside `target` that becomes it when the block ends well, and vanishes when it does not.

    Where another process has made `target` meanwhile, that one stays.

    Raises:
        InvalidSetting: there is something at `target` already.
    """
    if target.exists() and any(target.iterdir() if target.is_dir() else [target]):
        raise InvalidSetting(f"{target} exists already. Remove it, or build somewhere else.")
    target.parent.mkdir(parents=True, exist_ok=True)
    workshop = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        yield workshop
        workshop.chmod(0o755)  # mkdtemp makes it readable for its owner only
        _become(workshop, target)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _become(workshop: Path, target: Path) -> None:
    try:
        workshop.replace(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
