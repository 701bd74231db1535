"""``python -m tests.strangers``: all oddities alone, then triples, and counts; exit code 1 on a finding."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from .cases import Case, singles, triples
from .checks import Verdict
from .report import summary
from .worker import Job, check_safely


def main(argv: list[str] | None = None) -> int:
    """Run the cases and print what was found."""
    args = _parser().parse_args(argv)
    if args.public:
        return _public(args.only)
    cases = [replace(case, n_groups=30) if args.commands else case for case in _cases(args)]
    started, verdicts = time.monotonic(), list[Verdict]()
    with tempfile.TemporaryDirectory(prefix="strangers-") as folder:
        for verdict in _checked(cases, Path(folder), args):
            verdicts.append(verdict)
            _show(verdict, len(verdicts), len(cases))
            if args.minutes is not None and time.monotonic() - started > 60 * args.minutes:
                print(f"stopped after {len(verdicts)} of {len(cases)} cases")
                break
    print(f"\nseed {args.seed}, {time.monotonic() - started:.0f} s\n\n{summary(verdicts)}")
    if args.json:
        Path(args.json).write_text(json.dumps([asdict(v) for v in verdicts], indent=1))
    return int(any(verdict.findings for verdict in verdicts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.strangers", description=__doc__)
    add = parser.add_argument
    add("--seed", type=int, default=0, help="tables and triples are drawn by it (0)")
    add("--triples", type=int, default=500, metavar="N", help="so many triples (500)")
    add("--only", action="append", metavar="CASE", help="this case alone: 'persons/0 bom & text: tags'")
    add("--family", action="append", metavar="NAME", help="oddities of this family alone, no triples")
    add("--public", action="store_true", help="other people's tables, of the packages that are there")
    add("--minutes", type=float, metavar="M", help="end after so many, with the counts so far")
    add("--commands", action="store_true", help="commands alone, on small tables: nothing is compared")
    add("--workers", type=int, default=1, help="processes (1)")
    add("--json", metavar="FILE", help="write all verdicts there, too")
    return parser


def _public(only: list[str] | None) -> int:
    """Go through other people's tables."""
    from .public import PUBLIC, check_public

    found = 0
    with tempfile.TemporaryDirectory(prefix="strangers-") as folder:
        for name in only or PUBLIC:
            result = check_public(name, Path(folder, name))
            found += len(result.findings)
            print(f"{name}: {result.line}", flush=True)
            for finding in result.findings:
                print(f"  {finding.kind.upper()} {finding.command}: {finding.text[:300]}", flush=True)
    print(f"{found} findings")
    return int(found > 0)


def _cases(args: argparse.Namespace) -> list[Case]:
    if args.only:
        return [Case.of_word(word) for word in args.only]
    alone = singles(args.seed)
    if args.family:
        return [case for case in alone if case.parts[0].family in args.family]
    return [*alone, *triples(args.seed, args.triples)]


def _checked(cases: list[Case], folder: Path, args: argparse.Namespace) -> Iterator[Verdict]:
    """The verdicts as they come; cases of one table go to one process, which keeps its plain figures."""
    every = bool(args.only)
    jobs = [
        Job(case, folder, every or k % 5 == 0, every or k % 10 == 3, args.commands)
        for k, case in enumerate(cases)
    ]
    jobs.sort(key=lambda job: (job.case.draw, job.case.kind))
    if args.workers == 1:
        yield from map(check_safely, jobs)
        return
    with multiprocessing.get_context("spawn").Pool(args.workers) as pool:
        yield from pool.imap_unordered(check_safely, jobs, chunksize=8)


def _show(verdict: Verdict, n: int, of: int) -> None:
    for finding in verdict.findings:
        print(f"{finding.kind.upper()} {finding.command}: {finding.text[:300]}\n    --only {verdict.case!r}")
    for line in verdict.refused if of < 10 else ():
        print(f"refused, {line}")
    if n % 25 == 0:
        print(f"  {n} of {of}", flush=True)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
