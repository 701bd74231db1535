"""What a command prints, and how it ends: exit codes, JSON, signals, streams that are closed."""

from __future__ import annotations

import argparse
import errno
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from clustruct.core.exceptions import NotEnoughMemory

if TYPE_CHECKING:
    from clustruct.data import Remarks

# What printing fails with; files are named in their errors.
UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
OK, FAILED, MISUSED, UNRELIABLE, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


class UsageError(Exception):
    """A command line that cannot be understood."""


def print_json(found: Mapping[str, object]) -> None:
    """One JSON object on one line; what is not finite becomes null, what is not printable is escaped."""
    text = json.dumps(plain(found), ensure_ascii=False, allow_nan=False)
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


def print_remarks(args: argparse.Namespace, found: Remarks) -> None:
    """What a person should know of the groups, beside them: it does not go where the answer goes."""
    for line in () if args.quiet or args.json else found.lines:
        print(f"clustruct: {line}", file=sys.stderr)


def plain(value: object) -> Any:
    """Numbers and arrays of numpy as JSON knows them."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


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


def run_to_exit_code(
    run: Callable[[], int | None],
    complain: Callable[[str], None],
    faults: tuple[type[Exception], ...],
    left: str = "",
) -> int:
    """The exit code of a command: its own (None: done), or that of the fault that ended it.

    ``left`` says what is left of a command that was stopped.
    """
    try:
        with terminating():
            code = run() or OK
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        complain(f"interrupted{left}")
        return INTERRUPTED
    except Terminated:
        complain(f"terminated{left}")
        return TERMINATED
    except BrokenPipeError:  # whoever read the output has stopped
        return FAILED
    except faults as error:
        # A package of an extra that is not installed is a matter for one line; any other import is a fault.
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise
        complain(_error_text(error))
        return FAILED
    finally:
        settle_output()


def _error_text(error: Exception) -> str:
    if isinstance(error, MemoryError) and not isinstance(error, NotEnoughMemory):
        return "not enough memory"
    if isinstance(error, OSError) and error.strerror:
        where = error.filename or ("stdout" if error.errno in UNWRITTEN else None)
        return error.strerror if where is None else f"{where}: {error.strerror}"
    return str(error) or type(error).__name__
