"""The side of a worker process: cases come in one per line, outcomes go out as JSON, memory is limited.

``python -m tests.torture.worker PART FOLDER SEED``. What the code under test prints goes nowhere.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path

from .tally import Outcome, Part, fault


def attempt(part: Part, case: str, folder: Path, seed: int) -> Outcome:
    """One case; whatever comes out of it uncaught is a fault."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return part.run(case, folder, seed)
    except MemoryError:
        return fault("memory", "MemoryError")
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return fault("traceback", describe(error))


def describe(error: BaseException) -> str:
    """An error and where it came from, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    last = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    ours = [f for f in frames if "clustruct" in f.filename and "torture" not in Path(f.filename).parts[-2]]
    via = f" via {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}: {error}{last}{via}"


def limit_memory(extra: int | None) -> None:
    """From now on so many bytes more than now, no more."""
    if extra is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        allowed = pages * resource.getpagesize() + extra
        resource.setrlimit(resource.RLIMIT_AS, (allowed, resource.RLIM_INFINITY))


def named(name: str) -> Part:
    """The part of this name."""
    if name == "selftest":
        from .selftest import SelfTest

        return SelfTest()
    from .parts import PARTS

    return PARTS[name]()


def main() -> None:
    """Answer until there are no more lines."""
    name, folder, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    questions, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(nowhere, fd)
    part = named(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part.start(folder, seed)
    limit_memory(part.limits.memory)
    os.dup2(nowhere, 2)
    print("ready", file=answers, flush=True)
    for line in questions:
        started = time.perf_counter()
        outcome = attempt(part, json.loads(line), folder, seed)
        found = {**asdict(outcome), "seconds": time.perf_counter() - started}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
