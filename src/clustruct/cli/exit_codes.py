"""Exit codes, and how faults and warnings become lines for people."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OK, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


class UsageError(Exception):
    """A command line that cannot be understood."""


def guarded(
    run: Callable[[], int],
    complain: Callable[[str], None],
    faults: tuple[type[Exception], ...],
    interrupted: str = "interrupted",
) -> int:
    """The exit code of a command: its own, or that of the fault that ended it, which is complained of."""
    try:
        return run()
    except KeyboardInterrupt:
        complain(interrupted)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has stopped; Python's own last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except faults as error:
        # A package of an extra that is not installed is a matter for one line; any other import is a fault.
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise
        complain(
            "not enough memory" if isinstance(error, MemoryError) else str(error) or type(error).__name__
        )
        return FAILED


@contextmanager
def warnings_to(show: Callable[[str], None], kind: type[Warning] = Warning) -> Iterator[None]:
    """Warnings of this kind become lines, others are passed over; those for users always come through."""

    def shown(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
        if issubclass(category, kind):
            show(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = shown
        yield
