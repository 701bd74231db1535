"""``clustruct report``: a page with figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from clustruct.report import write_report
from clustruct.storage.atomic import check_target

from .data import read_model, sets_as_they_are, trained_with
from .main import OK
from .output import print_json


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    check_target(Path(args.out), [*args.data, args.model])
    saved = read_model(args.model)
    sets = sets_as_they_are(args, trained_with(saved))
    write_report(args.out, saved.object, sets)
    print_json({"report": args.out}) if args.json else print(f"written to {args.out}")
    return OK
