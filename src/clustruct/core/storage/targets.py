"""Where files are written: whole or not at all, through links, never over a file that is read.

A file is written beside its target, without a name where the system has files without one (Linux), and gets
its name when all of it is there: whatever ends the process, nothing half-written stays. Where a file needs a
name, it is locked while it is written. One that nobody holds was left by a process that was killed, and the
next write to the same target takes it away. Devices and pipes are written to as they are.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# As many characters of a name as leave room for what is put round them, four bytes each.
LONGEST_PART = 50
MOST_LINKS = 40
# Seconds for which a reader of a pipe is waited for, when all is ready to be written.
PATIENCE = 5.0
# How to ask for a file without a name; None where there are none.
NAMELESS: int | None = getattr(os, "O_TMPFILE", None)


def check_target(path: Path, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Find out before the work that the file can be written after it, and is none of those to be read.

    A link stands for the file it leads to, and two names of one file for each other.
    """
    for given in inputs:
        if path.exists() and Path(given).exists() and path.samefile(given):
            raise ValueError(f"{path} would be written over, and it is a file to be read: give another name")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a file name is wanted")
    if path.is_block_device() or path.is_socket():
        raise ValueError(f"{path} is a disk or a socket; a file name is wanted")
    if is_stream(path):
        return
    target = _link_target(path)
    if not target.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        # Not the user's mistake but the machine's state, and said as the system would.
        raise PermissionError(errno.EACCES, f"the folder {target.parent} cannot be written to", str(path))


def is_same(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Whether two names, of files that need not be there, lead to one place; links that go round do not."""
    return os.path.realpath(first) == os.path.realpath(second)


def is_stream(path: Path) -> bool:
    """Whether a path is a device, a pipe or an open file, which is written to and not replaced."""
    return path.is_char_device() or path.is_fifo() or descriptor(path) is not None


def descriptor(path: Path) -> int | None:
    """The number of the open file that a path like /dev/stdout or /dev/fd/3 leads to; None for others."""
    folders = {os.path.realpath(folder) for folder in ("/dev/fd", "/proc/self/fd")}
    here = os.path.abspath(path)
    for _ in range(MOST_LINKS):
        folder, name = os.path.split(here)
        if name.isdecimal() and os.path.realpath(folder) in folders:
            return int(name)
        if not os.path.islink(here):
            break
        here = os.path.abspath(os.path.join(os.path.realpath(folder), os.readlink(here)))
    return None


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to; it takes the place of ``path`` when all is written, and vanishes on an error."""
    check_target(path)
    with _naming(path), _write_at_end(path) if is_stream(path) else _replacement(_link_target(path)) as f:
        yield f


@contextmanager
def creating(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to; it gets its name when all is written, if nobody has it (`FileExistsError`)."""
    check_target(path)
    _remove_leftovers(path)
    with _naming(path):
        handle, beside = _draft(path, 0o666)
        try:
            with open(handle, "wb") as f:
                yield f
                f.flush()
                os.fsync(handle)
                if beside is None:
                    _link(handle, path)
            if beside is not None:
                os.link(beside, path)
        finally:
            if beside is not None:
                beside.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """A disk that is full says so without a name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def _write_at_end(path: Path) -> Iterator[IO[bytes]]:
    """What is to go down a pipe or to a device goes there at the end: before an error, nothing does."""
    held, number = io.BytesIO(), descriptor(path)
    yield held
    if number == 1 and sys.stdout:
        sys.stdout.flush()
    # To open a file anew by its number would begin at its start, over what was written there before.
    with open(_open_stream(path) if number is None else os.dup(number), "wb") as f:
        f.write(held.getbuffer())


def _open_stream(path: Path) -> int:
    """A device, or a pipe that somebody reads from or begins to soon: not to wait for ever for nobody."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(handle, True)
            return handle
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            if time.monotonic() > until:
                raise OSError(errno.ENXIO, "nobody reads from the pipe", str(path)) from None
        time.sleep(0.02)


@contextmanager
def _replacement(target: Path) -> Iterator[IO[bytes]]:
    _remove_leftovers(target)
    # The rights of the file replaced; None: those of any new file.
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    handle, beside = _draft(target, 0o666 if mode is None else mode)
    try:
        with open(handle, "wb") as f:
            yield f
            f.flush()
            os.fsync(handle)
            if mode is not None:
                os.chmod(handle if beside is None else beside, mode)
            # On Windows an open file keeps its name.
            ready = _Ready(None if fcntl is None else os.dup(handle), beside, target)
            beside = None
        waiting = _WAITING.get()
        if waiting is not None:
            waiting.append(ready)
        else:
            ready.name()
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


class _Ready(NamedTuple):
    """A file that is written and waits for the name of its target."""

    handle: int | None
    beside: Path | None
    target: Path

    def name(self) -> None:
        """Give it the name, whatever has it now; where that fails nothing stays."""
        try:
            if self.beside is not None:
                self.beside.replace(self.target)
            elif self.handle is not None:
                _name(self.handle, self.target)
        finally:
            self.close()

    def close(self) -> None:
        """Let go of it: without a name it is gone."""
        if self.handle is not None:
            os.close(self.handle)
        if self.beside is not None:
            self.beside.unlink(missing_ok=True)


_WAITING: ContextVar[list[_Ready] | None] = ContextVar("files that wait for their names", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Files whose writing ends inside get their names at the end, one after the other; after an error none
    does. What goes to devices and pipes goes there before.
    """
    waiting: list[_Ready] = []
    token = _WAITING.set(waiting)
    try:
        yield
        while waiting:
            with _naming(waiting[0].target):
                waiting.pop(0).name()
    finally:
        _WAITING.reset(token)
        for ready in waiting:
            ready.close()


def _draft(target: Path, mode: int) -> tuple[int, Path | None]:
    """An open file in the folder of the target, and its name where it has one."""
    if NAMELESS is not None and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # not every file system has them
            return os.open(target.parent, NAMELESS | os.O_WRONLY, mode), None
    while True:
        beside = _beside(target)
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)
        if _lock(handle) and os.fstat(handle).st_nlink == 0:
            os.close(handle)  # taken for an abandoned one in the moment before it was locked
            continue
        return handle, beside


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:LONGEST_PART]}.{secrets.token_hex(8)}.part")


def _name(handle: int, target: Path) -> None:
    """Give a file that has none the name of the target."""
    with suppress(FileExistsError):
        _link(handle, target)
        return
    # A link does not replace a file; a new name for one does. Locked, in case it is seen in between.
    _lock(handle)
    beside = _beside(target)
    try:
        _link(handle, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _link(handle: int, name: Path) -> None:
    # Given a folder, even one not needed, Python makes the call that follows the link to the open file.
    os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=handle, follow_symlinks=True)


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that are gone left beside the target."""
    left = re.compile(rf"\.{re.escape(target.name[:LONGEST_PART])}\.[0-9a-f]{{16}}\.part")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for name in [entry.path for entry in entries if left.fullmatch(entry.name)]:
            with suppress(OSError), open(name, "rb") as f:
                if _lock(f.fileno(), wait=False):
                    os.unlink(name)


def _lock(handle: int, wait: bool = True) -> bool:
    """Lock an open file until it is closed; False where that is not possible."""
    if fcntl is None:
        return False
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
    return False


def _link_target(path: Path) -> Path:
    """Where a link leads to, whether or not there is a file yet; any other path as it was given."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise ValueError(f"{path} is a link that leads to itself")
    return target
