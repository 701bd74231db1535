"""The ``clustruct`` command as a person runs it: what it prints, and what it takes."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass
from subprocess import PIPE, Popen
from typing import Any


@dataclass(frozen=True)
class Ran:
    """What a command printed, and what it took."""

    out: dict[str, Any]
    seconds: float
    cpu_seconds: float
    mebibytes: float


def clustruct(*words: Any) -> Ran:
    """Run the command with --json."""
    line = [sys.executable, "-m", "clustruct", *map(str, words), "--json", "--quiet"]
    started = time.perf_counter()
    with Popen(line, stdout=PIPE, text=True) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(line)} ended with code {process.returncode}")
    seconds = time.perf_counter() - started
    return Ran(json.loads(out), seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
