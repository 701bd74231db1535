"""``clustruct demo``: the commands at work on made-up data."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import clustruct

from .arguments import add_output
from .exit_codes import OK
from .output import print_json

if TYPE_CHECKING:
    from clustruct.records import RawSet

SUMMARY = "try everything on made-up data"
DESCRIPTION = (
    "Make a small data set and run fit, predict, evaluate and explain on it. Needs no network, no data."
)
EXAMPLES = "examples\n  clustruct demo\n  clustruct demo --task news --folder try"
Main: TypeAlias = Callable[[list[str]], int]


class Task(NamedTuple):
    """How many sets are made up, in which kind of file, and the options to read it with."""

    n_sets: int
    story: str
    suffix: str
    options: str


TASKS = {
    "records": Task(
        10,
        "Ten batches of address records. Some people were entered more than once, with slips and gaps.",
        "csv",
        "--set set --id id --cluster cluster",
    ),
    "news": Task(
        12,
        "Twelve days of short articles. Articles about the same event belong together.",
        "jsonl",
        "",
    ),
    "mentions": Task(
        12,
        "Twelve short texts. Names, titles and pronouns that mean the same person belong together.",
        "jsonl",
        "--kind mentions",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is made up, and where it is kept."""
    parser.add_argument("--folder", metavar="FOLDER", help="keep the files there (default: nowhere)")
    parser.add_argument("--task", choices=tuple(TASKS), default="records", help="records")
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Make the data, and show each command with what it prints."""
    folder = Path(args.folder) if args.folder else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        there = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with contextlib.chdir(there):
            steps = _steps(args.task, args.main, silent=args.json)
    if args.json:
        print_json({"task": args.task, "commands": steps})
    elif folder is not None:
        print(f"\nThe files are in {folder}.")
    else:
        print("\nNow with your own data: clustruct --help. (clustruct demo --folder try keeps these files.)")
    return next((int(step["exit_code"]) for step in steps if step["exit_code"] != OK), OK)


def _steps(name: str, main: Main, silent: bool) -> list[dict[str, str | int]]:
    task = TASKS[name]
    sets = getattr(clustruct.datasets, f"make_{name}")(n_sets=task.n_sets)
    train, test, model = f"train.{task.suffix}", f"test.{task.suffix}", f"{name}.model"
    cut = len(sets) * 2 // 3
    clustruct.io.write_sets(train, sets[:cut])
    clustruct.io.write_sets(test, sets[cut:])
    first, second = _mates(sets[cut])
    if not silent:
        print(f"{task.story}\n{cut} sets to learn from: {train}; the others to test: {test}")
    model_of = ("--model", model)
    lines: list[tuple[str, list[str]]] = [
        ("Learn from the first file.", ["fit", train, *shlex.split(task.options), *model_of]),
        ("Group the others.", ["predict", test, *model_of, "--out", "groups.csv"]),
        ("How good is it?", ["evaluate", test, *model_of]),
        ("What went wrong, and what is least confident?", ["explain", test, *model_of, "--top", "3"]),
        (
            "Why are these two together, or apart?",
            ["explain", test, *model_of, "--in", sets[cut].name, "--pair", first, second],
        ),
    ]
    return [_step(why, line, main, silent) for why, line in lines]


def _mates(raw: RawSet) -> tuple[str, str]:
    """Two items of one cluster."""
    labels = list(raw.labels or ())
    a, b = next((a, b) for b in range(len(raw)) for a in range(b) if labels[a] == labels[b])
    return (str(raw.ids[a]), str(raw.ids[b])) if raw.ids is not None else (str(a + 1), str(b + 1))


def _step(why: str, line: list[str], main: Main, silent: bool) -> dict[str, str | int]:
    shown = f"clustruct {shlex.join(line)}"
    if silent:
        said = StringIO()
        with contextlib.redirect_stdout(said):
            code = main([*line, "--json", "--quiet"])
        return {"command": shown, "exit_code": code, "output": said.getvalue().strip()}
    print(f"\n{why}\n$ {shown}\n", flush=True)
    return {"command": shown, "exit_code": main(line)}
