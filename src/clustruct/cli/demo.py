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
    """How many sets are made up, in which kind of file, the options to read it with, what it is about."""

    n_sets: int
    suffix: str
    options: str
    story: str


TASKS = {
    "records": Task(
        *(10, "csv", "--set set --id id --cluster cluster"),
        "Ten batches of address records. Some people were entered more than once, with slips and gaps.",
    ),
    "news": Task(
        12, "jsonl", "", "Twelve days of short articles. Articles about the same event belong together."
    ),
    "mentions": Task(
        *(12, "jsonl", "--kind mentions"),
        "Twelve short texts. Names, titles and pronouns that mean the same person belong together.",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is made up, and where it is kept."""
    parser.add_argument("--folder", metavar="FOLDER", help="keep the files there (default: nowhere)")
    parser.add_argument("--task", choices=tuple(TASKS), default="records", help="records")


def run(args: argparse.Namespace) -> int | None:
    """Make the data, and show each command with what it prints."""
    if args.folder:
        Path(args.folder).mkdir(parents=True, exist_ok=True)
    made = contextlib.nullcontext(args.folder) if args.folder else tempfile.TemporaryDirectory()
    with made as folder, contextlib.chdir(folder):
        quiet = [*filter(None, ["--quiet" if args.quiet else None])]
        steps = _steps(args.task, lambda line: args.main([*line, *quiet]), silent=args.json)
    if args.json:
        print_json({"task": args.task, "commands": steps})
    elif args.folder:
        print(f"\nThe files are in {args.folder}.")
    else:
        print("\nNow with your own data: clustruct --help. (clustruct demo --folder try keeps these files.)")
    return next((int(step["exit_code"]) for step in steps if step["exit_code"]), None)


def _steps(name: str, main: Main, silent: bool) -> list[dict[str, str | int]]:
    task = TASKS[name]
    sets = getattr(clustruct.datasets, f"make_{name}")(n_sets=task.n_sets)
    train, test, model = f"train.{task.suffix}", f"test.{task.suffix}", f"{name}.model"
    cut = len(sets) * 2 // 3
    # With the whole name: where that fails, the folder matters.
    clustruct.io.write_sets(Path.cwd() / train, sets[:cut])
    clustruct.io.write_sets(Path.cwd() / test, sets[cut:])
    first, second = _mates(sets[cut])
    if not silent:
        print(f"{task.story}\n{cut} sets to learn from: {train}; the others to test: {test}")
    pair = shlex.join([sets[cut].name, "--pair", first, second])
    lines = {
        "Learn from the first file.": f"fit {train} {task.options} --model {model}",
        "Group the others.": f"predict {test} --model {model} --out groups.csv",
        "How good is it?": f"evaluate {test} --model {model}",
        "What went wrong, and what is least confident?": f"explain {test} --model {model} --top 3",
        "Why are these two together, or apart?": f"explain {test} --model {model} --in {pair}",
    }
    return [_step(why, shlex.split(line), main, silent) for why, line in lines.items()]


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
