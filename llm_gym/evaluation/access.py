"""Access to a folder: one writer at a time, and what the operating system refuses told in one sentence."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llm_gym.errors import RunFolderError

logger = logging.getLogger(__name__)

LOCK_NAME = ".lock"
_UNSUPPORTED = (errno.ENOLCK, errno.ENOTSUP)
"""What some network file systems answer: the run goes on without the protection."""


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn a full disk, a missing right and the like into a RunFolderError."""
    try:
        yield
    except OSError as error:
        raise RunFolderError(
            f"{folder} cannot be written: {error.strerror or error}. What is finished is kept; run again to resume."
        ) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. A killed process leaves the file `.lock` behind, but never the lock itself.

    Raises:
        RunFolderError: another process holds it, or the folder cannot be written; nothing was touched.
    """
    path = folder / LOCK_NAME
    with writing(folder):
        handle = _acquire(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # while the lock is held, so that nobody else's file is removed
        os.close(handle)


def _acquire(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise RunFolderError(
                f"Another process is writing {path.parent}. Wait for it, or choose another folder."
            ) from None
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                os.close(handle)
                raise
            logger.warning("%s: this file system knows no locks; start no second run in the same folder", path.parent)
            return handle
        if _same_file(handle, path):
            return handle
        os.close(handle)  # its holder removed the file between our open and our lock: lock the new one


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
