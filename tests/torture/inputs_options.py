"""Wrong options, models and targets of every command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .inputs import COLUMNS, EITHER, FINE, REFUSED, TABLE, USAGE, Content, Line

DATA: dict[str, Content] = {"a.csv": TABLE}
NEW = ("new.model", "new.csv", "new.html", "report.html")


def line(words: str, code: tuple[int, ...], *says: str, **files: Content) -> Line:
    """A command line; {columns} stands for those of the table."""
    listed = [w for word in words.split() for w in (COLUMNS if word == "{columns}" else (word,))]
    many = 40 if code == USAGE else 1
    return Line("clustruct", listed, {**DATA, **files}, code, says, NEW, many)


def all_lines() -> Iterator[tuple[str, Line]]:
    """All of them."""
    for found in (*_usage(), *_options(), *_models(), *_targets(), *_demo()):
        yield " ".join(found.words).replace("\x1b", "ESC"), found


def _usage() -> Iterator[Line]:
    commands = "fit predict evaluate explain cv report show demo"
    yield line("nonsense", USAGE, "nonsense")
    for name in commands.split():
        yield line(f"{name} --nonsense", USAGE)
        yield line(f"{name} --help", FINE)
        if name not in ("show", "demo"):
            yield line(name, USAGE)
    yield line("--version", FINE)
    yield line("fit a.csv", USAGE, "--model")
    yield line("predict a.csv", USAGE, "--model")
    yield line("evaluate a.csv", USAGE, "--model")
    yield line("evaluate a.csv --model table.model --predictions a.csv", USAGE, "--predictions")
    yield line("explain a.csv --model table.model --pair a", USAGE, "--pair")


def _options() -> Iterator[Line]:
    fit = "fit a.csv {columns} --quiet --model new.model"
    for option, values in {
        "--C": "0 -1 inf nan x 1e400",
        "--merge-cost": "0 -1 x inf",
        "--folds": "1 0 x",
        "--parts": "0 -1 x",
        "--block": "-1 x 1.5",
        "--neighbours": "-1 x",
        "--n-jobs": "0 x",
        "--seed": "-1 x 1.5",
        "--top": "0 x",
        "--kind": "x",
        "--learner": "x",
        "--loss": "x",
        "--scaling": "x",
        "--where": "x =1",
        "--except": "x",
    }.items():
        for value in values.split():
            name = {"--folds": "cv a.csv {columns}", "--top": "show --model table.model"}.get(option, fit)
            yield line(f"{name} {option} {value}", USAGE, option, f"unknown {option[2:]}")
    yield line(f"{fit} --predictor magic", REFUSED, "predictor")
    yield line(f"{fit} --C 1 --merge-cost 2 --loss mitre", USAGE, "--merge-cost")
    yield line(f"{fit} --C 1e300", EITHER)
    yield line(f"{fit} --C 1e-300", EITHER)
    yield line(f"{fit} --C 1 --merge-cost 1e300", EITHER)
    yield line(f"{fit} --C 1 --parts 1000", EITHER)
    yield line(f"{fit} --C 1 --seed 99999999999999999999999", EITHER)
    yield line(f"{fit} --C 1 --neighbours 99999999999999999999", EITHER)
    yield line(f"{fit} --kind mentions", REFUSED, "a.csv")
    yield line(f"{fit} --kind vectors", REFUSED, "a.csv", "vector")
    yield line(f"{fit} --C 1 --n-jobs 2", FINE)
    yield line("cv a.csv {columns} --C 1 --folds 99999 --quiet", EITHER)
    yield line("explain a.csv {columns} --model table.model --pair a zz", REFUSED, "'zz'")
    yield line(
        "explain a.csv {columns} --model table.model --pair a a --in 1", REFUSED, "two different items"
    )
    yield line("explain a.csv {columns} --model table.model --in 9", REFUSED, "there is no set '9'")
    yield line("explain a.csv {columns} --model table.model --in 1 --pair \x1b[31m b", REFUSED, "no item")
    yield line("evaluate a.csv {columns} --predictions none.csv", REFUSED, "none.csv")
    yield line("evaluate a.csv {columns} --predictions b.csv", REFUSED, "b.csv", **{"b.csv": ""})
    short = "set,id,cluster\n1,a,0\n"
    yield line("evaluate a.csv {columns} --predictions b.csv", REFUSED, "b.csv", **{"b.csv": short})
    bare = "id,cluster\na,0\n"
    yield line("evaluate a.csv {columns} --predictions b.csv --quiet", REFUSED, "b.csv", **{"b.csv": bare})
    yield line("evaluate a.csv {columns} --model table.model --against none", REFUSED, "none")
    yield line("evaluate a.csv {columns} --model table.model --against a.csv", REFUSED, "a.csv")


def _flipped(path: Path) -> None:
    data = bytearray((path.parent / "table.model").read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


# Files that are no models, or damaged ones.
BAD_MODELS: dict[str, Content] = {
    "none.model": lambda path: None,
    "empty.model": "",
    "text.model": "hello",
    "folder.model": lambda path: path.mkdir(),
    "null.model": lambda path: path.symlink_to("/dev/null"),
    "zero.model": lambda path: path.symlink_to("/dev/zero"),
    "pickle.model": b"\x80\x04K\x01.",
    "cut.model": lambda path: path.write_bytes((path.parent / "table.model").read_bytes()[:-40]),
    "flipped.model": _flipped,
    "longer.model": lambda path: path.write_bytes((path.parent / "table.model").read_bytes() + b"x"),
    "estimator.model": lambda path: path.write_bytes((path.parent / "bare.model").read_bytes()),
    "hook.model": lambda path: path.write_bytes((path.parent / "linear.model").read_bytes()),
}


def _models() -> Iterator[Line]:
    commands = {"predict": "a.csv {columns}", "evaluate": "a.csv {columns}", "explain": "a.csv {columns}"}
    commands |= {"report": "a.csv {columns}", "show": ""}
    for name, content in BAD_MODELS.items():
        for command, data in commands.items():
            yield line(f"{command} {data} --model {name}", REFUSED, name, **{name: content})


def _targets() -> Iterator[Line]:
    predict = "predict a.csv {columns} --quiet --model table.model --out"
    report = "report a.csv {columns} --quiet --model table.model --out"
    fit = "fit a.csv {columns} --quiet --C 1 --model"
    learn = {
        "link.csv": lambda path: path.symlink_to("a.csv"),
        "hard.csv": lambda path: os.link(path.parent / "a.csv", path),
    }
    for command in (predict, report, fit):
        for target in ("a.csv", "./a.csv", "link.csv", "hard.csv"):
            made = {target: learn[target]} if target in learn else {}
            yield line(f"{command} {target}", REFUSED, target.removeprefix("./"), **made)
        yield line(f"{command} none/new.csv", REFUSED, "none")
        yield line(
            f"{command} folder.csv", REFUSED, "folder.csv", **{"folder.csv": lambda path: path.mkdir()}
        )
        yield line(f"{command} dev.csv", FINE, **{"dev.csv": lambda path: path.symlink_to("/dev/null")})
        yield line(
            f"{command} full.csv", REFUSED, "full.csv", **{"full.csv": lambda p: p.symlink_to("/dev/full")}
        )
        yield line(f"{command} pipe.csv", REFUSED, "pipe.csv", **{"pipe.csv": os.mkfifo})
        yield line(
            f"{command} loop.csv",
            REFUSED,
            "loop.csv",
            **{"loop.csv": lambda path: path.symlink_to("loop.csv")},
        )
        yield line(f"{command} {'n' * 300}.csv", REFUSED, "nnnnnnnn")
        yield line(f"{command} a.csv/new.csv", REFUSED, "a.csv")
    for command in (predict, report):
        yield line(f"{command} table.model", REFUSED, "table.model")
    yield line(f"{predict} new.xlsx", REFUSED, "new.xlsx")
    yield line(f"{predict} new", REFUSED, "new")
    yield line(f"{predict} new.parquet", REFUSED, "new.parquet")
    yield line("evaluate a.csv {columns} --predictions a.csv", REFUSED, "a.csv")


def _demo() -> Iterator[Line]:
    yield line("demo --folder a.csv", REFUSED, "a.csv")
    yield line("demo --folder a.csv/x", REFUSED, "a.csv")
    yield line("demo --task x", USAGE, "--task")
