"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["check_target", "replacing"]


def check_target(path: Path, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Find out before the work that the file can be written after it, and is none of those to be read.

    A link stands for the file it leads to. Devices and pipes are refused: to replace one would take it away.
    """
    for given in inputs:
        if path.exists() and Path(given).exists() and path.samefile(given):
            raise ValueError(f"{path} would be written over, and it is a file to be read: give another name")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a file name is wanted")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise ValueError(f"{path} is a device or a pipe; a file name is wanted")
    target = _followed(path)
    if not target.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{path}: the folder {target.parent} cannot be written to")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to; it takes the place of ``path`` when all is written, and vanishes on an error."""
    check_target(path)
    target = _followed(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        beside.chmod(_mode(target))
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _followed(path: Path) -> Path:
    """Where a link leads to, whether or not there is a file yet; any other path as it was given."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise ValueError(f"{path} is a link that leads to itself")
    return target


def _mode(path: Path) -> int:
    """The rights of the file replaced, or those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
