"""python -m tests.golden --write | --mended | --check [--tol 1e-9] [name ...]: make or compare the record.

--mended keeps, apart from the record, what the cases give that a mended defect has changed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time

from . import record
from .cases import EXPECTED_CHANGES, excuse

SHOWN = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="compute all cases (or those named) and keep them")
    what.add_argument("--mended", action="store_true", help="keep the cases that a mended defect changed")
    what.add_argument("--check", action="store_true", help="compute again and compare")
    parser.add_argument("--tol", type=float, default=1e-9, help="relative difference allowed (1e-9)")
    parser.add_argument("--times", action="store_true", help="show the seconds of each case")
    parser.add_argument("names", nargs="*", help="these cases only")
    args = parser.parse_args()
    unknown = sorted(set(args.names) - set(record.CASES))
    if unknown:
        parser.error(f"there is no case {', '.join(unknown)}")
    names = args.names or list(record.CASES)
    if args.mended:
        record.write({name: record.computed(name) for name in EXPECTED_CHANGES}, record.MENDED)
        return 0
    return write(names, args.times) if args.write else check(names, args.tol, args.times)


def write(names: list[str], times: bool) -> int:
    held = record.written() if set(names) != set(record.CASES) else {}
    for name in names:
        started = time.perf_counter()
        held[name] = record.computed(name)
        print(f"{name}{_seconds(started, times)}", flush=True)
    record.write(held)
    return 0


def check(names: list[str], tol: float, times: bool) -> int:
    held, wrong = record.written(), 0
    for name in names:
        started = time.perf_counter()
        if name not in held:
            print(f"NEW   {name}: not in the record")
            wrong += 1
            continue
        new = record.computed(name)
        found = record.differences(held[name], new, tol)
        expected = excuse(name)
        size = record.largest(held[name], new)
        if not found:
            print(f"ok    {name} (largest difference {size:.1e}){_seconds(started, times)}", flush=True)
            continue
        wrong += expected is None
        kind = "DIFF " if expected is None else "meant"
        why = "" if expected is None else f" (expected: {expected})"
        numbers = [s for _, s, _ in found if s < math.inf]
        most = f", largest relative difference {max(numbers):.1e}" if numbers else ""
        print(f"{kind} {name}: {len(found)} values differ{most}{why}", flush=True)
        for where, _, said in found[:SHOWN]:
            print(f"        {where}: {said}")
        if len(found) > SHOWN:
            print(f"        ... and {len(found) - SHOWN} more")
    gone = sorted(set(held) - set(record.CASES)) if names == list(record.CASES) else []
    for name in gone:
        print(f"GONE  {name}: in the record, but no case")
    wrong += len(gone)
    print(f"{len(names)} cases, {wrong} not as recorded")
    return 1 if wrong else 0


def _seconds(started: float, times: bool) -> str:
    return f"  {time.perf_counter() - started:.2f} s" if times else ""


if __name__ == "__main__":
    sys.exit(main())
