"""A case in a worker process: whatever comes out of it uncaught, or takes too long, is a stop."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

from .cases import Case
from .checks import Verdict, check, check_commands
from .runs import Finding

LONGEST = 300


class Job(NamedTuple):
    """A case, where its files go, and what is asked of it."""

    case: Case
    folder: Path
    dear: bool
    forms: bool
    commands: bool


def check_safely(job: Job) -> Verdict:
    """A verdict whatever happens: what comes out uncaught, or takes too long, is a stop."""
    case, folder = job.case, job.folder / str(os.getpid())
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return check_commands(case, folder) if job.commands else check(case, folder, job.dear, job.forms)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        return Verdict(case.word, [Finding("stop", "gauntlet", text)])
    finally:
        signal.alarm(0)


def _too_long(number: int, frame: object) -> None:
    raise TimeoutError(f"over {LONGEST} s")
