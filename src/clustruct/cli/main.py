"""``clustruct``: learn how things are grouped, group new ones, say how good it is and why."""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import clustruct
from clustruct.core.blas import limit_blas
from clustruct.core.formatting import harmless

from . import COMMANDS
from .arguments import add_output, naming_files
from .imports import add_import, import_modules
from .output import INTERRUPTED, MISUSED, OK, UNRELIABLE, UsageError, open_streams, run_to_exit_code

ABOUT = """\
Show it how you group things, and it groups the next ones the same way.

  clustruct fit train.jsonl --model news.model         learn from sets whose groups are known
  clustruct predict new.jsonl --model news.model       group new sets
  clustruct evaluate test.jsonl --model news.model     how good is it? a verdict, then scores
  clustruct explain test.jsonl --model news.model      what went wrong, and why

Start with "clustruct demo": it makes data, runs these commands and shows what they print.
"clustruct fit --help" shows the options that most people need, "clustruct fit --help all" all of them.
"""
ENDING = """\
data files
  .jsonl    one set per line: {"id": "monday", "items": [{"title": "..."}, ...], "labels": [0, 0, 1]}
            items have any fields; labels say which items belong together; "group" is optional
            (documents with mentions: "tokens", "mentions" and "clusters")
  .csv      one item per row; name the columns: --set day --id url --cluster story
            without --set the table is one set; .tsv and .parquet likewise, .gz of text files too
  .npy      vectors, one row for each item; .npz likewise, its arrays being columns

losses of one's own
  clustruct --import my_losses fit ... --loss mine     a name that my_losses.py registers
            with clustruct.losses.register; later commands with that model need the option, too

exit codes
  0 done   1 bad data or model (one line says what and where)   2 wrong use
  3 with --strict: done, but a warning says that the model or the result is of little use
  130 stopped by Ctrl-C   143 stopped by SIGTERM
"""
FAULTS = (ValueError, OSError, MemoryError, ImportError, clustruct.core.exceptions.ClusterError)
LONGEST_LINE = 1000


# What a report of a fault should name; packages that are not installed are left out.
NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "piqp", "highspy")
EXTRAS = ("matplotlib", "jinja2", "pyarrow", "rapidfuzz", "snowballstemmer", "starlette", "uvicorn", "dask")
# Where other options come from than those of a command itself.
ALWAYS = ("--help", "--model", "--out", "--json", "--quiet")
# Commands with no more options than these show all of them.
FEW = 14


class _Versions(argparse.Action):
    """Prints versions, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(versions())
        parser.exit()


def versions() -> str:
    """This package, Python, and what it is used with.

    >>> versions().splitlines()[0].startswith("clustruct ")
    True
    """
    import platform
    from importlib import metadata

    rows = [("clustruct", clustruct.__version__), ("python", platform.python_version())]
    for name in NEEDED + EXTRAS:
        with suppress(metadata.PackageNotFoundError):
            rows.append((name, metadata.version(name)))
    return "\n".join(f"{name} {version}" for name, version in rows)


def build_parser(command: str | None = None, *, whole: bool = False) -> argparse.ArgumentParser:
    """The parser of all commands; only the one named has its arguments, or, as a whole, each. Imports nothing
    heavy for the names alone.
    """
    parser = Parser("clustruct", description=ABOUT, epilog=ENDING)
    parser.add_argument("--version", action=_Versions, nargs=0, help="print versions, of what it needs, too")
    add_import(parser)
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name in COMMANDS:
        module = import_module(f"clustruct.cli.{name}")
        words = {"help": module.SUMMARY, "description": module.DESCRIPTION, "epilog": module.EXAMPLES}
        sub = commands.add_parser(name, **words)
        sub.common = getattr(module, "COMMON", ())
        if whole or name == command:
            # A command of several actions gives the parsers of these.
            for one in module.add_arguments(sub) or [sub]:
                add_output(one)
                add_import(one)
                one.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
                one.set_defaults(run=module.run, parser=one, main=main, build_parser=build_parser)
    return parser


def main(argv: list[str] | None = None) -> int:
    """The command. Returns the exit code."""
    printable = open_streams()
    words = sys.argv[1:] if argv is None else argv
    try:
        rest = import_modules(words)
        parser = build_parser(rest[0] if rest else None)
        args = parser.parse_args(words)
        if args.command is None:
            parser.print_help()
            return MISUSED
        return _run(args, printable)
    except UsageError as error:  # of which a list of options would say nothing
        _complain(str(error))
        return MISUSED
    except SystemExit as leaving:  # argparse has printed help or what is wrong
        return int(leaving.code or OK)
    except KeyboardInterrupt:  # before the work began: much is imported to know what options there are
        _complain("interrupted; nothing was written")
        return INTERRUPTED


def _run(args: argparse.Namespace, printable: bool) -> int:
    """Run a command; faults become one line and an exit code."""
    faults = () if args.traceback else FAULTS
    try:
        warned = warnings_to(lambda text: _complain(f"warning: {text}"), UserWarning)
        limited = clustruct.core.memory.limit(getattr(args, "memory_limit", None))
        with warned as categories, limited, drawing_quietly(args.quiet):
            run = partial(_run_command, args, printable)
            code = run_to_exit_code(run, _complain, faults, "; nothing was written")
            doubtful = any(issubclass(c, clustruct.core.exceptions.ReliabilityWarning) for c in categories)
            return UNRELIABLE if args.strict and code == OK and doubtful else code
    except UsageError as error:
        _complain(f"{error} (see {args.parser.prog} --help)")
        return MISUSED


def _run_command(args: argparse.Namespace, printable: bool) -> int | None:
    """The command, where what it makes has somewhere to go."""
    fits = "fit" in (args.command, getattr(args, "action", None))
    target = getattr(args, "out", None) or (args.model if fits else None)
    if not printable and (
        target is None or args.json or clustruct.core.storage.descriptor(Path(target)) == 1
    ):
        raise ValueError("stdout is closed: nothing can be printed")
    with naming_files(args), limit_blas():
        code: int | None = args.run(args)
        return code


def _complain(message: str) -> None:
    """One line on stderr."""
    text = harmless(" ".join(message.split()))
    text = text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."
    print(f"clustruct: {text}", file=sys.stderr)


@contextmanager
def drawing_quietly(quiet: bool) -> Iterator[None]:
    """Where only results are wanted, matplotlib does not say that it looks for fonts, as it does for some
    seconds on a machine that has not drawn before.
    """
    log = logging.getLogger("matplotlib")
    before = log.level
    log.setLevel(logging.ERROR if quiet else before)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def warnings_to(
    show: Callable[[str], None], kind: type[Warning] = Warning
) -> Iterator[Collection[type[Warning]]]:
    """Warnings of this kind become lines, others are passed over; those for users always come through. Yields
    the categories of those that were shown.

    Sets are grouped one by one: that they are unlike the training, or costly, is said of the first.
    """
    once = (clustruct.core.exceptions.UnfamiliarDataWarning, clustruct.core.exceptions.CostWarning)
    shown: set[type[Warning]] = set()

    def show_warning(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
        if issubclass(category, kind) and not (category in once and category in shown):
            shown.add(category)
            show(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show_warning
        yield shown


class HelpAction(argparse.Action):
    """``--help`` and ``--help all``."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        line = "show this message; --help all: every option"
        super().__init__(option_strings, argparse.SUPPRESS, nargs="?", metavar="all", help=line)

    def __call__(self, parser: argparse.ArgumentParser, _: object, value: Any, *more: object) -> None:
        assert isinstance(parser, Parser)
        print(parser.format_help() if value == "all" else parser.format_short_help(), end="")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser that knows which of its options most people need.

    Attributes
    ----------
    common : tuple of str
        Those options; empty: all of them.
    """

    common: tuple[str, ...] = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        options |= {"add_help": False, "formatter_class": argparse.RawDescriptionHelpFormatter}
        super().__init__(*args, **options)
        self.add_argument("-h", "--help", action=HelpAction)

    def format_short_help(self) -> str:
        """The common options in their groups, and one example."""
        rare = [action for action in self._actions if not self._is_shown(action)]
        if not self.common or len(self._actions) <= FEW:
            return self.format_help()
        before = [action.help for action in rare]
        whole = self.epilog
        try:
            for action in rare:
                action.help = argparse.SUPPRESS
            self.epilog = self._short_ending(len([words for words in before if words != argparse.SUPPRESS]))
            return self.format_help()
        finally:
            self.epilog = whole
            for action, words in zip(rare, before, strict=True):
                action.help = words

    def _is_shown(self, action: argparse.Action) -> bool:
        names = action.option_strings
        return not names or any(name in (*self.common, *ALWAYS) for name in names)

    def _short_ending(self, left_out: int) -> str:
        """The first example, and how to see the rest."""
        lines = (self.epilog or "").splitlines()
        first = [line for line in lines if line.startswith(f"  {self.prog} ")][:1]
        return "\n".join(
            ["example", *first, "", f"{left_out} more options and further examples: {self.prog} --help all"]
        )
