"""``clustruct completion``: a script by which the shell completes commands, options and files."""

from __future__ import annotations

import argparse

SUMMARY = "a script that lets the shell complete commands and options"
DESCRIPTION = (
    "Print a script by which bash, zsh or tcsh completes commands, options, choices and names of files."
)
EXAMPLES = """\
examples
  clustruct completion bash > ~/.local/share/bash-completion/completions/clustruct
  clustruct completion zsh > ~/.zsh/completions/_clustruct     (a folder of fpath)
  clustruct completion tcsh > ~/.clustruct.tcsh                (source it in ~/.tcshrc)"""
SHELLS = ("bash", "zsh", "tcsh")
# Arguments that help calls so are names of files.
FILES = ("FILE", "DATA", "MODEL", "FOLDER", "STORE", "TABLE", "OLD", "NEW", "MODULE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=SHELLS, help="for which shell")


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    try:
        import shtab
    except ImportError as error:
        raise ImportError("completion needs shtab: pip install clustruct[completion]") from error
    parser = args.build_parser(whole=True)
    for one in _parsers(parser):
        for action in one._actions:
            if action.metavar in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))


def _parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser and those of its commands."""
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [one for sub in action.choices.values() for one in _parsers(sub)]
    return found
