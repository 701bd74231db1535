"""The side of the parent: workers that are watched, replaced when they die, and killed when they hang."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .tally import Limits, Outcome, Part, Tally, fault

ROOT = Path(__file__).parents[2]
LOOK = 0.25
START = 300.0
TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that answers one case after the other."""

    def __init__(self, part: str, folder: Path, seed: int, limits: Limits) -> None:
        words = [sys.executable, "-m", "tests.torture.worker", part, str(folder), str(seed)]
        with tempfile.TemporaryFile() as said:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
            self.process = subprocess.Popen(words, cwd=ROOT, **pipes)
            self.limits = limits
            if self._line(START, START) != b"ready\n":
                self.close()
                said.seek(0)
                raise RuntimeError(f"a worker of {part} did not start:\n{said.read().decode()[-2000:]}")

    def ask(self, case: str) -> tuple[Outcome, float]:
        """The outcome of a case and its seconds; a worker that dies or hangs is gone afterwards."""
        started = time.perf_counter()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(case).encode() + b"\n")
        self.process.stdin.flush()
        answer = self._line(self.limits.cpu, self.limits.wall)
        if answer is None:
            self.close()
            return fault("hang", f"over {self.limits.cpu:g} s of processor"), time.perf_counter() - started
        if not answer.endswith(b"\n"):
            self.close()
            return fault("died", f"exit code {self.process.returncode}"), time.perf_counter() - started
        found = json.loads(answer)
        return Outcome(found["status"], found["kind"], found["detail"]), found["seconds"]

    def _line(self, cpu: float, wall: float) -> bytes | None:
        """The next line; None where it takes too long, without an end where the process has gone."""
        assert self.process.stdout is not None
        before, deadline = self._used(), time.monotonic() + wall
        while not select.select([self.process.stdout], [], [], LOOK)[0]:
            if self._used() - before > cpu or time.monotonic() > deadline:
                return None
        return self.process.stdout.readline()

    def _used(self) -> float:
        """Seconds of processor so far, with those of processes that have ended below it."""
        try:
            numbers = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(map(int, numbers[11:15])) / TICKS

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def run_part(
    part: Part,
    cases: Sequence[str],
    folder: Path,
    seed: int,
    tell: Callable[[Tally], None] | None = None,
    workers: int | None = None,
) -> Tally:
    """All cases, by the workers of the part, or fewer."""
    tally, started, lock = Tally(part.name), time.perf_counter(), threading.Lock()
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    broken: list[BaseException] = []

    def serve() -> None:
        worker = None
        try:
            while not broken:
                case = waiting.get_nowait()
                if worker is None or not worker.alive:
                    worker = Worker(part.name, folder, seed, part.limits)
                outcome, seconds = worker.ask(case)
                with lock:
                    tally.add(case, outcome, seconds)
                    tally.seconds = time.perf_counter() - started
                    if tell is not None:
                        tell(tally)
        except queue.Empty:
            pass
        except BaseException as error:
            broken.append(error)
        finally:
            if worker is not None:
                worker.close()

    threads = [
        threading.Thread(target=serve) for _ in range(min(part.workers, workers or part.workers, len(cases)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if broken:
        raise broken[0]
    tally.seconds = time.perf_counter() - started
    return tally
