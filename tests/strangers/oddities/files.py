"""Forms of files."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import Any

from ..sheets import Sheet
from .registry import Change, Rng, add


def _written(options: tuple[str, ...] = (), **changes: Any) -> Change:
    def change(sheet: Sheet, rng: Rng) -> Sheet:
        return replace(sheet, form=replace(sheet.form, **changes), options=(*sheet.options, *options))

    return change


MARKS = ("delimiter", "column")
add("file: semicolons", "files", "undoable", _written(("--delimiter", ";"), delimiter=";"))
add("file: bars", "files", "undoable", _written(("--delimiter", "|"), delimiter="|"))
add("file: semicolons, not named", "files", "undoable", _written(delimiter=";"), refusals=MARKS)
add("file: tabs", "files", "undoable", _written(end=".tsv", delimiter="\t"))
add("file: all quoted", "files", "undoable", _written(quoting=csv.QUOTE_ALL))
add("file: CRLF", "files", "undoable", _written(newline="\r\n"))
add("file: CR", "files", "undoable", _written(newline="\r"), refusals=["carriage return alone"])
add("file: packed", "files", "undoable", _written(end=".csv.gz"))
add("file: JSONL", "files", "undoable", _written(end=".jsonl"), refusals=["items", "set"])
add("file: Parquet", "files", "undoable", _written(end=".parquet"))
add("file: blank lines at the end", "files", "undoable", _written(after="\n\n\n"))
add(
    "file: line of a spreadsheet",
    "files",
    "undoable",
    _written(before=b"sep=,\n"),
    refusals=["sep=", "column"],
)
add("file: end mark", "files", "undoable", _written(after="\x1a"), refusals=["\x1a", "1a", "cell", "column"])
