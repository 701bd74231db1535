"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["check_target", "replacing"]


def check_target(path: Path, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Find out before the work that the file can be written after it, and is none of those to be read."""
    for given in inputs:
        if path.exists() and Path(given).exists() and path.samefile(given):
            raise ValueError(f"{path} would be written over, and it is a file to be read: give another name")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a file name is wanted")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"{path}: the folder {path.parent} cannot be written to")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to; it takes the place of ``path`` when all is written, and vanishes on an error."""
    check_target(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        beside.chmod(_mode(path))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The rights of the file replaced, or those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
