"""Bad input as cases: files to write, a command line, and what must come of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Content = bytes | str | Callable[[Path], object]
REFUSED, FINE, USAGE, EITHER = (1,), (0,), (2,), (0, 1)
HEADER = "set,id,who,name,age"
ROWS = [
    *("1,a,x,Ann Lee,31", "1,b,x,Anne Lee,31", "1,c,y,Bob Ray,52", "1,d,y,Bob Roy,52"),
    *("2,a,z,Carl Moss,17", "2,b,z,Karl Moss,17", "2,c,v,Dora Hill,80", "2,d,v,Dora Hull,80"),
]
TABLE = "\n".join([HEADER, *ROWS, ""])
COLUMNS = ("--set", "set", "--id", "id", "--cluster", "who")
# The commands that read data, and what they are given beside it. {model} is one that suits the data.
READERS = {
    "fit": ("fit", "{data}", "{columns}", "--C", "1", "--quiet", "--model", "new.model"),
    "cv": ("cv", "{data}", "{columns}", "--C", "1", "--folds", "2", "--quiet"),
    "predict": ("predict", "{data}", "{columns}", "--model", "{model}", "--out", "new.csv", "--quiet"),
    "evaluate": ("evaluate", "{data}", "{columns}", "--model", "{model}", "--quiet"),
    "explain": ("explain", "{data}", "{columns}", "--model", "{model}", "--quiet"),
    "report": ("report", "{data}", "{columns}", "--model", "{model}", "--out", "new.html", "--quiet"),
}
FURTHER = (
    *("--pairs", "new.pairs.csv", "--groups", "new.groups.jsonl"),
    *("--wide", "new.wide.csv", "--graph", "new.graphml"),
)
# The same commands with more asked of them. {sure} is a model with probabilities; other data than tables
# is used with its own model, without what needs probabilities.
MORE = {
    "predict files": (*READERS["predict"], *FURTHER),
    "predict dials": (
        *(
            "predict",
            "{data}",
            "{columns}",
            "--model",
            "{sure}",
            "--out",
            "new.csv",
            "--quiet",
            "--confidence",
        ),
        *("--threshold", "0.6", "--max-size", "3", "--reject-below", "0.5", *FURTHER[:4]),
    ),
    "evaluate curve": (
        "evaluate",
        "{data}",
        "{columns}",
        "--model",
        "{sure}",
        "--quiet",
        "--curve",
        "new.svg",
    ),
}
LEARN = ("fit", "cv")
NEED_LABELS = ("fit", "cv", "evaluate")
ALL = tuple(READERS)


@dataclass(frozen=True)
class Kind:
    """One kind of bad input.

    says : words of which one must be in the refusal, by default the name of the data file
    second : a further file of data
    commands : those that must answer with ``code``; the others of READERS may take it or refuse it
    """

    name: str
    content: Content
    file: str = "a.csv"
    code: tuple[int, ...] = REFUSED
    says: tuple[str, ...] = ()
    commands: Sequence[str] = ALL
    others: bool = True
    columns: Sequence[str] = COLUMNS
    model: str = "table"
    more: Sequence[str] = ()
    second: str = ""
    also: dict[str, Content] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """A command line with the files it needs. ``targets`` are files it may write."""

    command: str
    words: Sequence[str]
    files: dict[str, Content] = field(default_factory=dict)
    code: tuple[int, ...] = REFUSED
    says: tuple[str, ...] = ()
    targets: Sequence[str] = ()
    lines: int = 1


def lines_of(kind: Kind) -> Iterator[tuple[str, Line]]:
    """The command lines that a kind of data is given to."""
    for name, template in (READERS | MORE).items():
        listed = name.split()[0] in kind.commands
        if (not listed and not kind.others) or ("{sure}" in template and kind.model != "table"):
            continue
        words = []
        for word in template:
            if word == "{columns}":
                words += kind.columns
            elif word == "{data}":
                words += [kind.file, kind.second] if kind.second else [kind.file]
            else:
                words.append(word.format(model=f"{kind.model}.model", sure="sure.model"))
        says = kind.says or (kind.file,) if listed else (kind.file, *kind.says)
        # Rows that differ in their fields are refused for the sake of the file to be written.
        says = (*says, "new.wide.csv") if name == "predict files" and kind.code == EITHER else says
        code = kind.code if listed else EITHER
        files = {kind.file: kind.content, **kind.also}
        targets = [w for w in words if w.startswith("new.")]
        yield f"{kind.name} / {name}", Line("clustruct", [*words, *kind.more], files, code, says, targets)


def table(*changed: str, header: str = HEADER) -> str:
    """The table with further rows."""
    return "\n".join([header, *ROWS, *changed, ""])


def people(n_sets: int, sources: bool = False) -> str:
    """A table with the fields of TABLE of which probabilities can be learned: two rows of each of four
    persons in each set; with ``sources`` the one set has a column for where a row comes from.
    """
    first = ("Ann", "Bob", "Carl", "Dora", "Eve", "Fred", "Gina", "Hugo")
    last = ("Lee", "Ray", "Moss", "Hill", "Stone", "Brook")
    rows = ["id,who,name,age,shop" if sources else HEADER]
    for k in range(4 * n_sets):
        name, age = f"{first[k % 8]} {last[(k + k // 8) % 6]}", 18 + 7 * k % 61
        for side, written in enumerate((name, name.replace("e", "ee", 1) if k % 3 else name[:-1])):
            row = f"{k}{'ab'[side]},p{k},{written},{age}"
            rows.append(f"{row},{'ab'[side]}" if sources else f"{k // 4},{row}")
    return "\n".join([*rows, ""])


def cells(**values: object) -> str:
    """A row with these cells."""
    held = {"set": "2", "id": "e", "who": "v", "name": "Eve", "age": "3", **values}
    return ",".join(str(held[name]) for name in HEADER.split(","))


def a_set(**changes: Any) -> dict[str, Any]:
    """A set of JSONL."""
    names = ["Ann Lee", "Anne Lee", "Bob Ray", "Bob Roy"]
    held = {"id": "s1", "items": [{"name": n, "age": 30 + len(n)} for n in names], "labels": [0, 0, 1, 1]}
    return {k: v for k, v in {**held, **changes}.items() if v is not ...}


def lines(*sets: Any) -> str:
    """A file of JSONL."""
    return "".join((s if isinstance(s, str) else json.dumps(s)) + "\n" for s in sets)


def unwritable(end: str, read: str) -> dict[str, Content]:
    """Names that cannot be written to, with what they are: a link to the file that is read, and others."""
    return {
        f"link.{end}": lambda path: path.symlink_to(read),
        f"folder.{end}": lambda path: path.mkdir(),
        f"full.{end}": lambda path: path.symlink_to("/dev/full"),
        f"loop.{end}": lambda path: path.symlink_to(f"loop.{end}"),
    }


def packed(content: str | bytes) -> bytes:
    return gzip.compress(content if isinstance(content, bytes) else content.encode(), mtime=0)


def renamed(kind: Kind, **changes: Any) -> Kind:
    return replace(kind, **changes)


def write(folder: Path, name: str, content: Content) -> None:
    """Put a file there."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
