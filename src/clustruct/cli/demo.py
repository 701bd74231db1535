"""``clustruct demo``: the commands at work on made-up data."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from clustruct.datasets import make_mentions, make_news, make_records
from clustruct.io import write_sets
from clustruct.records import RawSet

from .main import OK, main
from .output import print_json


class Task(NamedTuple):
    """What is made up, in which kind of file, and how the command is told to read it."""

    make: Callable[[], list[RawSet]]
    story: str
    suffix: str
    options: str


TASKS = {
    "records": Task(
        lambda: make_records(n_sets=10),
        "Ten batches of address records. Some people were entered more than once, with slips and gaps.",
        "csv",
        "--set set --id id --cluster cluster",
    ),
    "news": Task(
        lambda: make_news(n_sets=12),
        "Twelve days of short articles. Articles about the same event belong together.",
        "jsonl",
        "",
    ),
    "mentions": Task(
        lambda: make_mentions(n_sets=12),
        "Twelve short texts. Names, titles and pronouns that mean the same person belong together.",
        "jsonl",
        "--kind mentions",
    ),
}


def run(args: argparse.Namespace) -> int:
    """Make the data, and show each command with what it prints."""
    folder = Path(args.folder) if args.folder else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        there = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with contextlib.chdir(there):
            steps = _steps(args.task, silent=args.json)
    if args.json:
        print_json({"task": args.task, "commands": steps})
    elif folder is not None:
        print(f"\nThe files are in {folder}.")
    else:
        print("\nNow with your own data: clustruct --help. (clustruct demo --folder try keeps these files.)")
    return next((int(step["exit_code"]) for step in steps if step["exit_code"] != OK), OK)


def _steps(name: str, silent: bool) -> list[dict[str, str | int]]:
    task = TASKS[name]
    sets = task.make()
    train, test, model = f"train.{task.suffix}", f"test.{task.suffix}", f"{name}.model"
    cut = len(sets) * 2 // 3
    write_sets(train, sets[:cut])
    write_sets(test, sets[cut:])
    first, second = _mates(sets[cut])
    if not silent:
        print(f"{task.story}\n{cut} sets to learn from: {train}; the others to test: {test}")
    groups = "groups.csv"
    return [
        _step(
            "Learn from the first file.", ["fit", train, *shlex.split(task.options), "--model", model], silent
        ),
        _step("Group the others.", ["predict", test, "--model", model, "--out", groups], silent),
        _step("How good is it?", ["evaluate", test, "--model", model], silent),
        _step(
            "What went wrong, and what is least sure?",
            ["explain", test, "--model", model, "--top", 3],
            silent,
        ),
        _step(
            "Why are these two together, or apart?",
            ["explain", test, "--model", model, "--in", sets[cut].name, "--pair", first, second],
            silent,
        ),
    ]


def _mates(raw: RawSet) -> tuple[str, str]:
    """Two items of one cluster."""
    labels = list(raw.labels or ())
    a, b = next((a, b) for b in range(len(raw)) for a in range(b) if labels[a] == labels[b])
    return (str(raw.ids[a]), str(raw.ids[b])) if raw.ids is not None else (str(a + 1), str(b + 1))


def _step(why: str, words: list[str | int], silent: bool) -> dict[str, str | int]:
    line = [str(w) for w in words]
    shown = f"clustruct {shlex.join(line)}"
    if silent:
        said = StringIO()
        with contextlib.redirect_stdout(said):
            code = main([*line, "--json", "--quiet"])
        return {"command": shown, "exit_code": code, "output": said.getvalue().strip()}
    print(f"\n{why}\n$ {shown}\n", flush=True)
    return {"command": shown, "exit_code": main(line)}
