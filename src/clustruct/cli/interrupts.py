"""Ctrl-C that ends a training at the end of a round, so that its result is whole."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .progress import Progress


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
        progress.done()
        print("stopping after this round (Ctrl-C again: at once)", file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
