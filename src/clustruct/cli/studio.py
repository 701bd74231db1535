"""``clustruct studio``: group, learn, propose, correct, in the browser."""

from __future__ import annotations

import argparse
import sys

import clustruct

from .arguments import whole
from .output import print_json

SUMMARY = "group, learn, propose, correct, in the browser"
DESCRIPTION = """\
Open a page on this machine: group a few things, let a model learn, correct what it proposes, until it is good
enough to run unattended. It needs no labels to begin with. All decisions are kept in one file beside the data
(NAME.clustruct.db), which clustruct store, fit --corrections and predict --existing read, too."""
EXAMPLES = """\
examples
  clustruct studio people.csv              begin with a data file, or go on where its project is
  clustruct studio people.clustruct.db     a project
  clustruct studio                         the files of this folder"""
WARNING = (
    "--listen: other machines can reach this page. Whoever has the address with the token can read and "
    "change the project, and all of it is sent unencrypted"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is opened, and where."""
    add = parser.add_argument
    add("path", nargs="?", default=".", metavar="FILE", help="data file, project or folder (this one)")
    add("--port", type=whole(0), default=0, metavar="N", help="port (default: one that is free)")
    add("--listen", metavar="ADDRESS", default="127.0.0.1", help="for other machines, too; say which address")
    add("--no-browser", action="store_true", help="print the address only")
    add("--max-upload", type=whole(1), default=64, metavar="MB", help="largest file through the page (64)")


def run(args: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    try:
        from clustruct.studio import server
    except ImportError as error:
        raise ImportError("studio needs more: pip install clustruct[studio]") from error
    server.log_to_terminal()
    if not server.is_loopback(args.listen):
        print(f"clustruct: warning: {WARNING}", file=sys.stderr)
    try:
        running = clustruct.studio.serve(
            args.path,
            port=args.port,
            listen=args.listen,
            open_browser=not args.no_browser,
            max_upload=args.max_upload * 2**20,
        )
    except ModuleNotFoundError as error:
        raise ImportError(f"studio needs {error.name}: pip install clustruct[studio]") from error
    if args.json:
        print_json({"url": running.url})
    else:
        print(f"clustruct studio is at {running.url}\nCtrl-C ends it; all decisions are kept.", flush=True)
    sys.stdout.flush()
    server.wait_for_interrupt(running)
