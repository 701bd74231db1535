"""``python -m tests.torture [PART ...] [--seed N] [--scale 1.0]``: counts by part, exit code 1 on a fault."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from .parts import PARTS
from .pool import run_part
from .tally import Tally, table

SHOWN = 20


def main(argv: list[str] | None = None) -> int:
    """Run the parts and show the table."""
    args = _parser().parse_args(argv)
    tallies = []
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        for name in args.parts or PARTS:
            there = Path(folder, name)
            there.mkdir()
            tallies.append(_run(name, there, args))
    print(f"\nseed {args.seed}, scale {args.scale:g}\n\n{table(tallies)}")
    if args.json:
        found = {tally.name: tally.as_json() for tally in tallies}
        Path(args.json).write_text(
            json.dumps({"seed": args.seed, "scale": args.scale, "parts": found}, indent=1)
        )
    return int(any(tally.faults for tally in tallies))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.torture", description=__doc__)
    listed = "; ".join(f"{name}: {part.about}" for name, part in PARTS.items())
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[[], *PARTS], help=listed)
    parser.add_argument("--seed", type=int, default=0, help="random numbers (0)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the cases (1.0)")
    parser.add_argument("--only", metavar="CASE", action="append", help="these cases of the part alone")
    parser.add_argument("--workers", type=int, help="processes at a time, at most those of the part (2)")
    parser.add_argument("--json", metavar="FILE", help="write counts and faults there, too")
    return parser


def _run(name: str, folder: Path, args: argparse.Namespace) -> Tally:
    part = PARTS[name]()
    print(f"{name}: {part.about}", flush=True)
    started = last = time.monotonic()

    def tell(tally: Tally) -> None:
        nonlocal last
        if time.monotonic() - last > 30.0:
            last = time.monotonic()
            print(f"  {tally.counts.total()} of {len(cases)}, {len(tally.faults)} faults", flush=True)

    part.prepare(folder, args.seed)
    cases = args.only or part.cases(args.scale, args.seed)
    tally = run_part(part, cases, folder, args.seed, tell, args.workers)
    tally.seconds = time.monotonic() - started
    _show(tally, args)
    return tally


def _show(tally: Tally, args: argparse.Namespace) -> None:
    counts = ", ".join(f"{status} {n}" for status, n in tally.counts.most_common())
    slow = f"slowest {tally.slowest[0]:.1f} s ({tally.slowest[1]})"
    print(f"  tried {tally.tried}: {counts}; {slow}; {tally.seconds:.0f} s")
    for case, outcome in tally.details.items() if args.only else ():
        print(f"  {case}: {outcome.status} {outcome.kind} {outcome.detail}")
    for why, n in tally.skips.most_common():
        print(f"  skipped {n}: {why}")
    for case, outcome in tally.faults[:SHOWN]:
        again = f"python -m tests.torture {tally.name} --seed {args.seed} --only {case!r}"
        print(f"  FAULT {outcome.kind}: {outcome.detail}\n    {again}")
    if len(tally.faults) > SHOWN:
        print(f"  ... {len(tally.faults) - SHOWN} more faults (--json FILE lists all)")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
