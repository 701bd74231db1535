"""Seconds until help is shown and until the package is imported: ``python -m benchmarks.start``."""

from __future__ import annotations

import sys
import time
from subprocess import PIPE, Popen
from typing import Any

from benchmarks.printing import command


def start(quick: bool) -> list[dict[str, Any]]:
    """The shortest of five runs: other work on the machine only ever adds."""
    rows = []
    for what, line in (
        ("clustruct --help", [sys.executable, "-m", "clustruct", "--help"]),
        ("import clustruct", [sys.executable, "-c", "import clustruct"]),
    ):
        taken = []
        for _ in range(5):
            started = time.perf_counter()
            with Popen(line, stdout=PIPE) as process:
                process.communicate()
            taken.append(time.perf_counter() - started)
        rows.append({"what": what, "seconds": min(taken)})
    return rows


PARTS = {"start": start}

if __name__ == "__main__":
    command(PARTS, __doc__)
