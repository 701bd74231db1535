"""What a command takes: ``python -m benchmarks.tables.measure SECONDS COMMAND ...`` prints it as JSON.

The command is started by this small process, not by the benchmark: until a child has replaced its memory it
shows that of its parent as its own peak.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Cost:
    """CPU seconds (user and system) and the largest resident set of a process and its children.

    A command that ran out of time has `over` set and what it took until then.
    """

    cpu: float
    wall: float
    gigabytes: float
    over: bool = False

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.cpu + other.cpu,
            self.wall + other.wall,
            max(self.gigabytes, other.gigabytes),
            self.over or other.over,
        )


class CommandFailed(Exception):
    """A command ended with an error, which it has written to stderr."""


def measured(command: Sequence[str], seconds: float = 3600.0) -> Cost:
    """Run a command; its output goes to stderr."""
    line = [sys.executable, "-m", "benchmarks.tables.measure", str(seconds), *map(str, command)]
    ran = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        raise CommandFailed(" ".join(map(str, command)))
    return Cost(**json.loads(ran.stdout))


def main() -> int:
    """Start the command in a group of processes of its own, wait, print."""
    limit, command = float(sys.argv[1]), sys.argv[2:]
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=sys.stderr, start_new_session=True)
    over = False

    def stop(*_: object) -> None:
        nonlocal over
        over = True
        os.killpg(child.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, used = os.wait4(child.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    wall = time.perf_counter() - started
    print(json.dumps(asdict(Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 2**20, over))))
    return 0 if over else abs(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    sys.exit(main())
