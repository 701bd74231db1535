"""The command line of one study: ``python -m studies.NAME [--quick] [--only KEY ...] [--render]``."""

from __future__ import annotations

import argparse
import warnings

from sklearn.exceptions import ConvergenceWarning

from studies.study import NoData, Study


def main(study: Study, doc: str | None = None) -> None:
    """Make the tables asked for, one after another, and print them."""
    given = _parser(study, doc).parse_args()
    if given.list:
        show_states([study])
        return
    if not given.render:
        _run(study, given)
    if not given.quick:
        done = study.render()
        print(f"docs/studies/{study.name}.md: {', '.join(done) or 'nothing to show yet'}")


def _run(study: Study, given: argparse.Namespace) -> None:
    # Trainings that were cut off show in the tables by what they reach.
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    options, left = {"again": given.again, "confirm": given.confirm}, []
    for key in given.only or [table.key for table in study.tables]:
        table = study[key]
        print(f"\n{table.key}: {table.title}", flush=True)
        try:
            rows = study.run(table, quick=given.quick, loud=True, **options)
        except NoData as why:
            print(f"  not run: {why}")
            left.append(key)
            continue
        print(table.render(rows), flush=True)
    if left and given.only:
        raise SystemExit(1)


def _parser(study: Study, doc: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m studies.{study.name}",
        description=doc or study.title,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    keys = [table.key for table in study.tables]
    parser.add_argument(
        "--quick", action="store_true", help="less of everything; kept apart under out/studies"
    )
    parser.add_argument("--only", nargs="+", choices=keys, metavar="KEY", help=", ".join(keys))
    parser.add_argument("--again", action="store_true", help="compute cells anew that other sources made")
    parser.add_argument(
        "--confirm",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="compute some cells anew that other sources made, for about so many seconds; where all come out "
        "as kept, the others count as made by the present sources",
    )
    parser.add_argument("--render", action="store_true", help="only write the kept tables into the docs")
    parser.add_argument("--list", action="store_true", help="which tables are fresh, stale or missing")
    return parser


def show_states(studies: list[Study]) -> None:
    """A line per table: its state, what made it, and the command that makes it."""
    for study in studies:
        print(f"\n{study.name}: {study.title}")
        for table in study.tables:
            state = study.state(table)
            about = "; ".join(word for word in (state.made, state.why) if word)
            print(f"  {state.word:<8} {table.key:<18} {about:<40}  {study.command(table.key)}")
