"""``clustruct report``: a page with figures."""

from __future__ import annotations

import argparse
from pathlib import Path

import clustruct

from .arguments import add_data, add_model, add_needs, read_model, sets_as_they_are
from .output import print_json

SUMMARY = "a page with figures (HTML)"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = ("--set", "--id", "--cluster", "--where")
DESCRIPTION = "Write one self-contained HTML page: scores, weights, convergence, errors, similarity matrices."
EXAMPLES = "example\n  clustruct report test.jsonl --model news.model --out report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, model file, and where the page goes."""
    add_data(parser)
    add_model(parser)
    add_needs(parser)
    parser.add_argument("--out", metavar="FILE", default="report.html", help="the page (report.html)")


def run(args: argparse.Namespace) -> None:
    """Write the page."""
    clustruct.core.storage.check_target(Path(args.out), [*args.data, args.model])
    saved = read_model(args.model, args.allow_missing_fields)
    clustruct.evaluate.report.write_report(args.out, saved.pipeline, sets_as_they_are(args, saved.columns))
    if args.json:
        print_json({"report": args.out})
    elif not args.quiet:
        print(f"written to {args.out}")
