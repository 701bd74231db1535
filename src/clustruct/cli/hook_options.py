"""Reading the command lines of ``clustruct-learn`` and ``clustruct-classify``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_MODULE = "svmstruct"


class UsageError(Exception):
    """A command line that cannot be understood."""


@dataclass(frozen=True)
class Option:
    """A one-letter option: what it sets, and what is said of it in the help."""

    name: str
    kind: type
    shown: str
    text: str


KERNELS = "kernel: 0 a.b (default), 1 (s a.b + r)^d, 2 exp(-g |a-b|^2), 3 tanh(s a.b + r)"
LEARN_OPTIONS: Mapping[str, Option] = {
    "-c": Option("c", float, "C", "weight of the mean slack, default 0.01"),
    "-e": Option("epsilon", float, "eps", "constraints may be violated by this much, default 0.1"),
    "-o": Option("loss_type", int, "1|2", "the loss scales 1 the slack, 2 the margin (default)"),
    "-p": Option("slack_norm", int, "1|2", "1 slacks (default), 2 squared slacks: with -w 0 and 1 only"),
    "-w": Option(
        "alg_type", int, "0..4", "0, 1 a slack per example; 2, 3 one for all; 4 with cache (default)"
    ),
    "-f": Option("ccache_size", int, "n", "answers kept per example with -w 4, default 5"),
    "-k": Option("newconstretrain", int, "n", "for the module to read as sparm.newconstretrain, default 100"),
    "-l": Option("loss_function", int, "n", "for the module to read as sparm.loss_function, default 0"),
    "-t": Option(
        "kernel_type",
        int,
        "0..3",
        KERNELS,
    ),
    "-d": Option("poly_degree", int, "d", "degree of kernel 1, default 3"),
    "-g": Option("rbf_gamma", float, "g", "width of kernel 2, default 1"),
    "-s": Option("coef_lin", float, "s", "factor of kernels 1 and 3, default 1"),
    "-r": Option("coef_const", float, "r", "constant of kernels 1 and 3, default 1"),
    "-v": Option("verbosity", int, "n", "0 silent, 1 a summary (default), 2 a line per round"),
}
CLASSIFY_OPTIONS: Mapping[str, Option] = {
    "-v": Option("verbosity", int, "n", "0 silent, 1 a summary (default)")
}
KERNEL_OPTIONS = ("kernel_type", "poly_degree", "rbf_gamma", "coef_lin", "coef_const")


@dataclass
class CommandLine:
    """A command line taken apart. ``custom`` holds the module's own options in pairs."""

    module: str = DEFAULT_MODULE
    values: dict[str, Any] = field(default_factory=dict)
    custom: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    allow_pickle: bool = False
    wants_help: bool = False


def read_command_line(argv: list[str], options: Mapping[str, Option]) -> CommandLine:
    """Take a command line apart: options, ``--name value`` pairs for the module, file names.

    >>> words = ["-c", "10", "--m", "tagger", "--order", "2", "train", "model"]
    >>> line = read_command_line(words, LEARN_OPTIONS)
    >>> line.values, line.module, line.custom, line.files
    ({'c': 10.0}, 'tagger', [('--order', '2')], ['train', 'model'])
    """
    line, left = CommandLine(), list(argv)
    while left:
        word = left.pop(0)
        if word in ("-h", "-?", "--help"):
            line.wants_help = True
        elif word == "--allow-pickle":
            line.allow_pickle = True
        elif word in options:
            line.values[options[word].name] = _number(word, _next(word, left), options[word])
        elif word.startswith("--") and len(word) > 2:
            value = _next(word, left)
            if word == "--m":
                line.module = value
            else:
                line.custom.append((word, value))
        elif word.startswith("-") and len(word) > 1:
            raise UsageError(f"unknown option {word}; options of the module's own begin with two dashes")
        else:
            line.files.append(word)
    return line


def _next(word: str, left: list[str]) -> str:
    if not left:
        raise UsageError(f"{word} needs a value")
    return left.pop(0)


def _number(word: str, value: str, option: Option) -> Any:
    try:
        return option.kind(value)
    except ValueError:
        kind = "a whole number" if option.kind is int else "a number"
        raise UsageError(f"{word} takes {kind}, not {value!r}") from None


def check_files(files: list[str], names: tuple[str, ...]) -> None:
    """One file name for each of the names."""
    if len(files) != len(names):
        given = ", ".join(files) if files else "none"
        raise UsageError(f"{len(names)} file names are wanted ({', '.join(names)}); given: {given}")


def option_lines(options: Mapping[str, Option]) -> str:
    """The options as the help shows them."""
    rows = [(f"{letter} {o.shown}", o.text) for letter, o in options.items()]
    rows += [
        ("--m module", "the hook module: a name (tagger) or a file (tasks/tagger.py)"),
        ("--allow-pickle", "let model files hold objects other than plain values and arrays"),
        ("--name value", "any other name: handed to the module"),
    ]
    return "\n".join(f"  {left:16s} {text}" for left, text in rows)
