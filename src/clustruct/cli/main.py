"""``clustruct``: learn how things are grouped, group new ones, say how good it is and why."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from importlib import import_module
from typing import Any

from . import options
from .commands import COMMANDS

OK, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130

ABOUT = """\
Show it how you group things, and it groups the next ones the same way.

  clustruct fit train.jsonl --model news.model         learn from sets whose groups are known
  clustruct predict new.jsonl --model news.model       group new sets
  clustruct evaluate test.jsonl --model news.model     how good is it? every score, per set and mean
  clustruct explain test.jsonl --model news.model      what went wrong, and why

Start with "clustruct demo": it makes data, runs these commands and shows what they print.
"""
ENDING = """\
data files
  .jsonl    one set per line: {"id": "monday", "items": [{"title": "..."}, ...], "labels": [0, 0, 1]}
            items have any fields; labels say which items belong together; "group" is optional
            (documents with mentions: "tokens", "mentions" and "clusters")
  .csv      one item per row; name the columns: --set day --id url --cluster story
            without --set the table is one set; .tsv and .parquet likewise, .gz of text files too

exit codes
  0 done   1 bad data or model (one line says what and where)   2 wrong use   130 stopped by Ctrl-C
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands. Imports nothing heavy."""
    parser = argparse.ArgumentParser(
        prog="clustruct",
        description=ABOUT,
        epilog=ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.summary,
            description=command.description,
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(sub)
        sub.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    return parser


def main(argv: list[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = build_parser()
    try:
        args = parser.parse_args(argv)
        options.check(parser, args)
    except SystemExit as leaving:  # argparse has printed help or what is wrong
        return int(leaving.code or 0)
    if args.version:
        from clustruct import __version__

        print(f"clustruct {__version__}")
        return OK
    if args.command is None:
        parser.print_help()
        return MISUSED
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    """Run a command; faults become one line and an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            module = import_module(f"clustruct.cli.{args.command}")
            return int(module.run(args))
    except KeyboardInterrupt:
        _complain("interrupted; nothing was written")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has stopped; Python's own last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (ValueError, OSError, MemoryError, ImportError) as error:
        # A package of an extra that is not installed is a matter for one line; any other import is a fault.
        if args.traceback or (isinstance(error, ImportError) and "pip install" not in str(error)):
            raise
        _complain(_one_line(error))
        return FAILED


def _one_line(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory"
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 1000 else text[:997] + "..."


def _complain(message: str) -> None:
    from .output import harmless

    print(f"clustruct: {harmless(message)}", file=sys.stderr)


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    if issubclass(category, UserWarning):
        _complain(f"warning: {_one_line(message)}")


if __name__ == "__main__":
    sys.exit(main())
