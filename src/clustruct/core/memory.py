"""Estimates of the memory that a step takes, checked before it is taken.

with memory.limit("8G"):      # what is inside may take 8 GiB, whatever is free now
    model.predict(sets)
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from .exceptions import CostWarning, NotEnoughMemory

__all__ = ["limit"]

# A number of bytes, words such as "8G", or None: what is available.
Size: TypeAlias = int | str | None
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# What takes more than this is mentioned, even where there is enough.
WORTH_SAYING = 2**30
# What takes less need not be compared with what is available.
NOTHING = 2**20
# Matrices of m x m numbers that searches hold at one time, at most (measured for m = 3000).
MATRICES = 3

_LIMIT: ContextVar[int | None] = ContextVar("memory limit", default=None)


def parse_size(size: Size) -> int | None:
    """Bytes of a size in words, such as "8G"; None stays None."""
    if size is None:
        return None
    match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)(?:i?B)?\s*", str(size), re.IGNORECASE)
    if match is None or isinstance(size, bool) or float(match[1]) == 0.0:
        raise ValueError(f"a size is a number of bytes or words such as 8G or 500M, not {size!r}")
    return int(float(match[1]) * UNITS[match[2].upper()])


def in_words(n_bytes: float) -> str:
    """A size as people say it, such as "3.0 GB"."""
    for unit in "TGMK":
        if n_bytes >= UNITS[unit]:
            return f"{n_bytes / UNITS[unit]:.1f} {unit}B"
    return f"{n_bytes:.0f} bytes"


@contextmanager
def limit(size: Size) -> Iterator[None]:
    """The limit (bytes, or words such as "8G") of all inside that has none of its own; None: as it is."""
    bytes_allowed = parse_size(size)
    token = _LIMIT.set(_LIMIT.get() if bytes_allowed is None else bytes_allowed)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def available() -> int | None:
    """Bytes that this process can still take: of the machine, of its container, of its own limit.

    None where none of them can be known.
    """
    known = [n for n in (_of_machine(), _of_container(), _of_process()) if n is not None]
    return min(known) if known else None


def require(n_bytes: float, what: str, advice: str = "", limit: Size = None) -> None:
    """Refuse a step that takes more than the limit, and mention one that takes much.

    Without a limit here or around (`limit`) it is what is available.

    >>> require(2**40, "this", "do that", limit="8G")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotEnoughMemory: this would take about 1.0 TB of memory, but 8.0 GB are allowed: do that
    """
    given = parse_size(limit)
    allowed = _LIMIT.get() if given is None else given
    if allowed is None and n_bytes < NOTHING:
        return
    most = available() if allowed is None else allowed
    advised = f"{advice} " if advice else ""
    if most is not None and n_bytes > most:
        held = "available" if allowed is None else "allowed"
        raise NotEnoughMemory(
            f"{what} would take about {in_words(n_bytes)} of memory, but {in_words(most)} are {held}: "
            f"{advised}(or raise memory_limit, --memory-limit)"
        )
    if n_bytes > WORTH_SAYING:
        message = f"{what} will take about {in_words(n_bytes)} of memory" + (f": {advice}" if advice else "")
        warnings.warn(message, CostWarning, stacklevel=3)


def require_matrix(n_items: int, limit: Size = None) -> None:
    """Refuse a set so large that a number for each of all its pairs does not fit."""
    advice = "list likely pairs only (Blocking, pair_index; --block), or cut the table into sets"
    require(8.0 * MATRICES * n_items**2, f"a similarity matrix of {n_items:,} items", advice, limit)


def _of_machine() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_container() -> int | None:
    """What the control group of the process leaves, in either version."""
    pairs = (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    )
    for most, used in pairs:
        with suppress(OSError, ValueError):  # no such file, or "max"
            root = Path("/sys/fs/cgroup")
            return max(0, int((root / most).read_text()) - int((root / used).read_text()))
    return None


def _of_process() -> int | None:
    """What the limit of the address space (ulimit -v) leaves."""
    try:
        import resource
    except ImportError:  # not on this system
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return max(0, most - pages * resource.getpagesize())
    return most
