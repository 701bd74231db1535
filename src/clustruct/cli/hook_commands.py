"""What the two commands for hook modules share: how their lines are read, and faults as sentences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeAlias

from clustruct.core.blas import limit_blas
from clustruct.core.storage import check_target
from clustruct.papers.hooks import HookError, Hooks, importable, load_hooks

from .main import warnings_to
from .output import MISUSED, OK, UsageError, open_streams, run_to_exit_code

Body: TypeAlias = Callable[[argparse.Namespace, Hooks], int]
DEFAULT_MODULE = "svmstruct"
KNOWN = {"--help", "--m", "--allow-pickle", "--"}
OWN_OPTIONS = "  --name value    any other name: handed to the module"


class HookParser(argparse.ArgumentParser):
    """Options of one letter as those of SVM^struct, ``--name value`` pairs for the module, and file names.

    >>> parser = HookParser("learn", "[options] train model", "Train.")
    >>> parser.add_number("-c", "c", float, "C", "weight of the mean slack")
    >>> line = parser.read(["-c", "10", "--m", "tagger", "--order", "2", "train", "model"])
    >>> line.c, line.module, line.custom, line.files
    (10.0, 'tagger', [('--order', '2')], ['train', 'model'])
    """

    def __init__(self, name: str, usage: str, about: str) -> None:
        super().__init__(
            prog=name,
            usage=f"{name} {usage}",
            description=about,
            epilog=OWN_OPTIONS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            argument_default=argparse.SUPPRESS,
            add_help=False,
            allow_abbrev=False,
        )
        self.set_defaults(module=DEFAULT_MODULE, custom=[], allow_pickle=False, wants_help=False)
        self.add_argument("files", nargs="*", help=argparse.SUPPRESS)
        add = self.add_argument
        add("-h", "-?", "--help", dest="wants_help", action="store_true", help="help, the module's own too")
        add("--m", dest="module", metavar="module", help="the hook module: a name, or a file (tagger.py)")
        add("--allow-pickle", action="store_true", help="let model files hold objects of any kind")

    def add_number(self, letter: str, name: str, kind: Callable[[str], float], shown: str, text: str) -> None:
        """An option of one letter that takes a number."""

        def read(value: str) -> float:
            try:
                return kind(value)
            except ValueError:
                wanted = "a whole number" if kind is int else "a number"
                raise argparse.ArgumentTypeError(f"takes {wanted}, not {value!r}") from None

        self.add_argument(letter, dest=name, type=read, metavar=shown, help=text)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The line taken apart. ``custom`` holds the module's own options in pairs."""
        if not words:
            raise UsageError("a hook module (--m) and file names are wanted")
        names = {word.partition("=")[0] for word in words if word.startswith("--")} - KNOWN
        for name in names:
            named = partial(_name_option, name)
            self.add_argument(name, dest="custom", type=named, action="append", help=argparse.SUPPRESS)
        line, left = self.parse_known_intermixed_args(words)
        if left:
            raise UsageError(f"unknown option {left[0]}; options of the module's own begin with two dashes")
        return line

    def error(self, message: str) -> NoReturn:
        """What argparse complains of, in the words of these commands."""
        text = message.removeprefix("argument ").replace(": expected one argument", " needs a value")
        raise UsageError(text.replace(": takes", " takes"))


def _name_option(name: str, value: str) -> tuple[str, str]:
    """An option that is the module's own, with its value."""
    return name, value


def run_command(parser: HookParser, argv: list[str] | None, help_hook: str, body: Body) -> int:
    """Read the command line, load the module, run the body; faults become messages and exit codes."""
    open_streams()

    def run() -> int:
        line = parser.read(sys.argv[1:] if argv is None else argv)
        if line.wants_help:
            return _show_help(parser, line.module, help_hook)
        hooks = _load(line.module)
        with warnings_to(lambda text: _say(f"warning: {text}")), importable(_folder(hooks)), limit_blas():
            return body(line, hooks)

    try:
        faults = (HookError, ValueError, OSError)
        return run_to_exit_code(run, lambda text: _say(f"{parser.prog}: {text}"), faults)
    except UsageError as error:
        _say(f"{parser.prog}: {error}\nTry {parser.prog} --help.")
        return MISUSED


def check_files(files: Sequence[str], *names: str) -> None:
    """One file name for each of the names."""
    if len(files) != len(names):
        found = ", ".join(files) if files else "none"
        raise UsageError(f"{len(names)} file names are wanted ({', '.join(names)}); given: {found}")


def check_target_file(hooks: Hooks, target: str, *inputs: str) -> None:
    """Find out before the work that the file can be written after it, and is not one that is read."""
    try:
        check_target(Path(target), [*inputs, str(hooks.module.__file__)])
    except ValueError as error:
        raise UsageError(str(error)) from None


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _folder(hooks: Hooks) -> Path:
    return Path(str(hooks.module.__file__)).parent


def _load(module: str) -> Hooks:
    try:
        return load_hooks(module)
    except HookError as error:
        if module == DEFAULT_MODULE:
            raise HookError(f"{error}. Name the hook module with --m.") from None
        raise


def _show_help(parser: HookParser, module: str, help_hook: str) -> int:
    parser.print_help()
    if module != DEFAULT_MODULE:
        hooks = _load(module)
        if help_hook in hooks.own:
            print(f"\nOptions of {module}:", flush=True)
            with importable(_folder(hooks)):
                getattr(hooks, help_hook)()
    return OK
