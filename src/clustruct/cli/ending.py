"""What a command meets at its edges: SIGTERM, streams that are closed, output that nobody takes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(BaseException):
    """SIGTERM has come."""


@contextmanager
def terminating() -> Iterator[None]:
    """SIGTERM becomes an exception, so that what was begun is put away; a second one ends the process.

    A command that runs inside another, and a program that has a handler of its own, keep what they have.
    """
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(signum: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def open_streams() -> bool:
    """Give the standard streams that were closed when Python started a place to go. Whether stdout was open.

    Otherwise the next files that are opened get their numbers, and errors are printed among the data.
    """
    usable = sys.stdout is not None
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free: the one that was closed.
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    return usable


def settle_output() -> None:
    """Where stdout takes no more, Python's own last attempt must not complain either."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
