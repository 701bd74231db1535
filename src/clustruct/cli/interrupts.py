"""Ctrl-C that ends a training at the end of a round, so that its result is whole."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .progress import Progress


def _say(text: str) -> None:
    """To stderr past Python's buffers: a signal may come within a write, which must not be entered twice."""
    try:
        os.write(sys.stderr.fileno(), text.encode())
    except (OSError, ValueError):  # not a real file
        print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def ending_gently(progress: Progress) -> Iterator[None]:
    """The first Ctrl-C takes effect when training next tells of a round; a second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
        return

    def note(signum: int, frame: Any) -> None:
        if progress.stopping:
            raise KeyboardInterrupt
        progress.stopping = True
        _say(("\n" if progress.drawn else "") + "stopping after this round (Ctrl-C again: at once)\n")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
