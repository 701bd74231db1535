"""Commands in processes of their own, for what cannot be tried within this one."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .commands import Ran

SOURCES = Path(__file__).parents[2] / "src"
HOOKS = "import sys; from clustruct.cli.{} import main; sys.exit(main())"


def words_of(command: str, words: Sequence[object]) -> list[str]:
    """The command as a line for a process."""
    start = ["-m", "clustruct"] if command == "clustruct" else ["-c", HOOKS.format(command.split("-")[1])]
    return [sys.executable, *start, *map(str, words)]


@dataclass(frozen=True)
class Bounded:
    """What a process did and took."""

    ran: Ran
    seconds: float
    peak: int
    out_of_time: bool


def run(
    words: Sequence[str],
    folder: Path,
    env: Mapping[str, str] | None = None,
    cpu: float = 60.0,
    memory: int | None = None,
    **streams: Any,
) -> Bounded:
    """Run a line in a folder, ended after ``cpu`` seconds of processor, or beyond so many bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 5))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    held = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **streams}
    known = {**os.environ, "PYTHONPATH": str(SOURCES)} if env is None else dict(env)
    started = time.perf_counter()
    process = subprocess.Popen(words, cwd=folder, env=known, preexec_fn=limit, **held)
    out, err = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = Ran(
        process.returncode, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace")
    )
    return Bounded(
        ran, time.perf_counter() - started, after.ru_maxrss * 1024, process.returncode == -signal.SIGXCPU
    )
