"""A folder that appears complete or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`, which takes its place when the block ends well and vanishes when it does not.

    What `folder` held before is replaced. Parents are made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    workshop = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield workshop
        workshop.chmod(0o755)  # mkdtemp makes it readable for its owner only
        _replace(folder, workshop)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _replace(folder: Path, new: Path) -> None:
    if not folder.exists():
        new.replace(folder)
        return
    # No system call puts a folder in the place of a full one: the old one makes way first.
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    folder.replace(old)
    new.replace(folder)
    shutil.rmtree(old, ignore_errors=True)
