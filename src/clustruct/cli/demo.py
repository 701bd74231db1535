"""``clustruct demo``: the commands at work on made-up data."""

from __future__ import annotations

import argparse
import contextlib
import csv
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import clustruct

from .output import print_json

if TYPE_CHECKING:
    from clustruct.data import Table

SUMMARY = "try everything on made-up data"
DESCRIPTION = """\
Make a small data set and run fit, predict, evaluate, explain and report on it.
Needs no network, no data."""
EXAMPLES = """\
examples
  clustruct demo
  clustruct demo --folder try               keep the files
  clustruct demo --task news"""
Main: TypeAlias = Callable[[list[str]], int]
PICTURE, REPORT = "groups.png", "report.html"
# Items of the picture at the end.
DRAWN = 60


# What was made up, and the commands for it, each with why.
Story: TypeAlias = tuple[str, dict[str, str]]


def customers() -> Story:
    """One table, a part of it labelled: the usual case."""
    (table,) = clustruct.data.datasets.make_records(n_sets=1, n_people=100)
    table = replace(table, ids=[f"c{k + 1}" for k in range(len(table))])
    persons = list(dict.fromkeys(table.labels or ()))
    known = set(persons[: len(persons) // 3])
    labels = [y if y in known else None for y in table.labels or ()]
    rest = table.take([a for a, y in enumerate(labels) if y is None])
    _write_table("customers.csv", replace(table, labels=labels))
    _write_table("answers.csv", rest)
    first, second, n_known = *_mates(rest), len(table) - len(rest)
    intro = f"""\
customers.csv: {len(table)} rows of customers. Some people were entered more than once, with slips and gaps.
Of {n_known} rows it is known which person they are; answers.csv tells it of the other {len(rest)}."""
    model = "--model customers.model"
    lines = {
        "Learn from the rows that have a person. Likeness shall never count against a pair.": (
            f"fit customers.csv --id id --cluster person --nonnegative {model}"
        ),
        "Group the whole table.": f"predict customers.csv {model} --confidence --out groups.csv",
        "How good is it for people that it has not seen?": f"evaluate answers.csv {model}",
        "What went wrong, and what is least confident?": f"explain answers.csv {model} --top 3",
        "Why are these two together, or apart?": f"explain answers.csv {model} --pair {first} {second}",
    }
    report = {"All of it on one page.": f"report answers.csv {model} --out {REPORT}"}
    return intro, lines | (report if _can_draw() else {})


def _write_table(name: str, table: Table) -> None:
    """One table with a column of ids and one of persons."""
    fields = table.fields()
    with open(Path.cwd() / name, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        writer.writerow(["id", *fields, "person"])
        writer.writerows(zip(table.item_ids, *map(table.column, fields), table.labels or (), strict=True))


def _of_sets(name: str, n_sets: int, suffix: str, options: str, intro: str) -> Story:
    """Many small sets: the first to learn from, the others to test."""
    sets = getattr(clustruct.data.datasets, f"make_{name}")(n_sets=n_sets)
    train, test, model = f"train.{suffix}", f"test.{suffix}", f"{name}.model"
    cut = len(sets) * 2 // 3
    _write(train, sets[:cut])
    _write(test, sets[cut:])
    pair = shlex.join([sets[cut].name, "--pair", *_mates(sets[cut])])
    lines = {
        "Learn from the first file.": f"fit {train} {options} --model {model}",
        "Group the others.": f"predict {test} --model {model} --out groups.csv",
        "How good is it?": f"evaluate {test} --model {model}",
        "What went wrong, and what is least confident?": f"explain {test} --model {model} --top 3",
        "Why are these two together, or apart?": f"explain {test} --model {model} --in {pair}",
    }
    return f"{intro}\n{cut} sets to learn from: {train}; the others to test: {test}", lines


TASKS: dict[str, Callable[[], Story]] = {
    "customers": customers,
    "records": lambda: _of_sets(
        *("records", 10, "csv", "--set set --id id --cluster cluster"),
        "Ten batches of address records. Some people were entered more than once, with slips and gaps.",
    ),
    "news": lambda: _of_sets(
        *("news", 12, "jsonl", ""),
        "Twelve days of short articles. Articles about the same event belong together.",
    ),
    "mentions": lambda: _of_sets(
        *("mentions", 12, "jsonl", "--kind mentions"),
        "Twelve short texts. Names, titles and pronouns that mean the same person belong together.",
    ),
}


def _write(name: str, sets: list[Table]) -> None:
    """With the whole name: where that fails, the folder matters."""
    clustruct.data.io.write_sets(Path.cwd() / name, sets)


def _can_draw() -> bool:
    return all(find_spec(name) is not None for name in ("matplotlib", "jinja2"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is made up, and where it is kept."""
    parser.add_argument("--folder", metavar="FOLDER", help="keep the files there (default: nowhere)")
    tasks = (*TASKS, "marbles")
    parser.add_argument("--task", choices=tasks, default="customers", help="customers")


def run(args: argparse.Namespace) -> int | None:
    """Make the data, and show each command with what it prints."""
    if args.folder:
        Path(args.folder).mkdir(parents=True, exist_ok=True)
    made = contextlib.nullcontext(args.folder) if args.folder else tempfile.TemporaryDirectory()
    with made as folder, contextlib.chdir(folder):
        if args.task == "marbles":
            _marbles(args)
            return None
        quiet = [*filter(None, ["--quiet" if args.quiet else None])]
        steps = _steps(TASKS[args.task](), lambda line: args.main([*line, *quiet]), silent=args.json)
        drawn = args.task == "customers" and args.folder and _can_draw() and _draw()
    if args.json:
        print_json({"task": args.task, "commands": steps})
    else:
        _end(args.folder, bool(drawn))
    return next((int(step["exit_code"]) for step in steps if step["exit_code"]), None)


def _marbles(args: argparse.Namespace) -> None:
    from . import marbles

    with contextlib.redirect_stdout(StringIO()) if args.json else contextlib.nullcontext():
        marbles.run(Path.cwd())
    if args.json:
        print_json({"task": "marbles", "commands": []})
    elif args.folder:
        print(f"\nPicture: {Path(args.folder) / marbles.PICTURE}")


def _end(folder: str | None, drawn: bool) -> None:
    """What to look at."""
    if not folder:
        print("\nNow with your own data: clustruct --help. (clustruct demo --folder try keeps these files.)")
        return
    print(f"\nThe files are in {folder}.")
    if drawn:
        print(f"Look at: {Path(folder) / PICTURE}, what the model makes of {DRAWN} customers, and")
        print(
            f"         {Path(folder) / REPORT} in a browser: how good it is, what it learned, where it errs."
        )
    print("Now with your own data: clustruct --help.")


def _draw() -> bool:
    """The similarities of customers who were entered more than once, group by group."""
    from matplotlib.figure import Figure

    (table,) = clustruct.data.io.read_sets(
        "answers.csv", columns=clustruct.data.io.ColumnRoles(id="id", cluster="person")
    )
    times = Counter(table.labels or ())
    persons = [y for y in times if times[y] > 1]
    rows = sorted((persons.index(y), a) for a, y in enumerate(table.labels or ()) if times[y] > 1)
    some = table.take([a for _, a in rows[:DRAWN]])
    pipeline = clustruct.load("customers.model")
    found = clustruct.pipeline.group(pipeline, replace(some, labels=None), pairs=True)
    assert found.scores is not None
    display = clustruct.evaluate.plot.SimilarityMatrixDisplay.from_predictions(
        clustruct.learning.symmetric_scores(found.scores.matrix_or_graph()),
        found.labels,
        truth=list(some.labels or ()),
        ax=Figure(figsize=(7.4, 6.2), layout="constrained").subplots(),
    )
    display.figure_.savefig(PICTURE, dpi=110)
    return True


def _steps(story: Story, main: Main, silent: bool) -> list[dict[str, str | int]]:
    intro, lines = story
    if not silent:
        print(intro)
    return [_step(why, shlex.split(line), main, silent) for why, line in lines.items()]


def _mates(table: Table) -> tuple[str, str]:
    """Two items of one cluster."""
    labels = list(table.labels or ())
    a, b = next((a, b) for b in range(len(table)) for a in range(b) if labels[a] == labels[b])
    return (str(table.ids[a]), str(table.ids[b])) if table.ids is not None else (str(a + 1), str(b + 1))


def _step(why: str, line: list[str], main: Main, silent: bool) -> dict[str, str | int]:
    shown = f"clustruct {shlex.join(line)}"
    if silent:
        output = StringIO()
        with contextlib.redirect_stdout(output):
            code = main([*line, "--json", "--quiet"])
        return {"command": shown, "exit_code": code, "output": output.getvalue().strip()}
    print(f"\n{why}\n$ {shown}\n", flush=True)
    return {"command": shown, "exit_code": main(line)}
