"""The command of the benchmark; see the package."""

from __future__ import annotations

import argparse
import json
import platform
import shlex
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.printing import format_table
from benchmarks.tables import figure, made, real, render
from benchmarks.tables.tools import FIT_OPTIONS, PREDICT_OPTIONS, TOOLS, Job
from clustruct.cli.arguments import SIMILARITIES

PACKAGES = ("clustruct", "splink", "duckdb", "dedupe", "numpy")


def main() -> None:
    given = _parser().parse_args()
    if given.part == "write":
        made.write(given.shape, given.rows, Path(given.file), given.seed)
        return
    if given.part == "draw":
        figure.draw(figure.read(map(Path, given.figures)), Path(given.out))
        return
    if given.part == "render":
        paths = [Path(name) for name in given.figures]
        if given.page:
            render.write(paths, Path(given.page))
        else:
            print(render.render(paths))
        return
    job = Job("", Path(), Path(given.folder), given.fit_options, given.predict_options, given.seconds)
    if given.part == "made":
        runs = (
            row
            for shape in given.shapes
            for rows in given.rows
            for row in made.compare(shape, rows, given.labelled, given.tools, job, given.seed)
        )
        report(runs, Path(given.json or "out/tables-made.json"), given)
    else:
        report(
            real.compare(given.tables, given.tools, job, given.similarity),
            Path(given.json or "out/tables-real.json"),
            given,
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description=tables.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("made", help="made-up tables: splink, dedupe, clustruct")
    one.add_argument("--shapes", type=_of(made.SHAPES), default=["persons"], help=", ".join(made.SHAPES))
    one.add_argument("--rows", type=_numbers, default=[10_000], help="sizes, e.g. 1e4,1e5,1e6")
    one.add_argument("--labelled", type=_numbers, default=[1250], help="labelled clusters, e.g. 50,200,1250")
    one.add_argument("--seed", type=int, default=0)
    _add_shared(one, ["splink", "dedupe", "clustruct"])
    two = parts.add_parser("real", help="the tables of CLUSTRUCT_DATA: clustruct, logistic regression")
    every = [*real.NAMES, *real.BESIDE]
    two.add_argument("--tables", type=_of(every), default=every, help=", ".join(every))
    shapes = f"of clustruct, a row for each: {', '.join(SIMILARITIES)}"
    two.add_argument("--similarity", type=_of(SIMILARITIES), default=["linear"], help=shapes)
    _add_shared(two, ["clustruct", "logistic"])
    three = parts.add_parser("write", help="write a made-up table with all its entities (.csv or .parquet)")
    three.add_argument("shape", choices=list(made.SHAPES))
    three.add_argument("rows", type=lambda text: int(float(text)))
    three.add_argument("file")
    three.add_argument("--seed", type=int, default=0)
    four = parts.add_parser("draw", help="cost against rows, from the figures that `made` kept")
    four.add_argument("figures", nargs="+", metavar="JSON")
    four.add_argument("--out", default="out/tables.svg")
    five = parts.add_parser("render", help="kept figures as Markdown")
    five.add_argument("figures", nargs="+", metavar="JSON")
    five.add_argument("--page", help="a page of the docs with places for them; without it they are printed")
    return parser


def _add_shared(parser: argparse.ArgumentParser, tools: list[str]) -> None:
    parser.add_argument("--tools", type=_of(TOOLS), default=tools, help=f"by default {','.join(tools)}")
    fit, predict = FIT_OPTIONS, PREDICT_OPTIONS
    parser.add_argument("--fit-options", type=_words, default=fit, help="of clustruct, as one word")
    parser.add_argument("--predict-options", type=_words, default=predict, help="of clustruct, as one word")
    parser.add_argument("--seconds", type=float, default=3600.0, help="for one step of a tool")
    parser.add_argument("--folder", default="out/tables", help="for tables, models and groups")
    parser.add_argument("--json", help="where the figures go")


def _of(allowed: Iterable[str]) -> Any:
    """Names with commas between them, all of them known."""
    known = list(allowed)

    def read(text: str) -> list[str]:
        wrong = [name for name in text.split(",") if name not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]} is not one of {', '.join(known)}")
        return text.split(",")

    return read


def _numbers(text: str) -> list[int]:
    return [int(float(word)) for word in text.split(",")]


def _words(text: str) -> tuple[str, ...]:
    return tuple(shlex.split(text))


def report(rows: Iterable[dict[str, Any]], path: Path, given: argparse.Namespace) -> None:
    """Print the table as it grows, and keep the figures; what is done is on file if the rest fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {k: v for k, v in vars(given).items() if k != "folder"}
    about = {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}
    done: list[dict[str, Any]] = []
    for row in rows:
        done.append(row)
        print(f"{row['table']}, {row['tool']}: {_brief(row)}", flush=True)
        path.write_text(json.dumps({"about": about, "options": options, "rows": done}, indent=1))
    print(f"\n{format_table(done)}\n\nFigures: {path}")


def _brief(row: dict[str, Any]) -> str:
    return row.get("remark") or f"F {row['F']:.2f}, {row['CPU s']:.1f} CPU s, {row['GB']:.2f} GB"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
