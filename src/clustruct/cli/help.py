"""What ``--help`` shows: the options that most people need and one example; ``--help all`` shows the rest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

# Where other options come from than those of a command itself.
ALWAYS = ("--help", "--model", "--out", "--json", "--quiet")
# Commands with no more options than these show all of them.
FEW = 14


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
