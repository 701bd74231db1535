"""A table of text cells whose groups are known, and how it becomes a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

Cells = list[str]


@dataclass(frozen=True)
class SheetColumn:
    """One column: what it is called, what it holds, and which column of the plain table it was made of
    (``key``; empty where it has been added).
    """

    name: str
    kind: str  # text, category, number, date, code, vector, source
    cells: Cells
    key: str = ""


@dataclass(frozen=True)
class FileForm:
    """How a sheet is written."""

    end: str = ".csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    escape: Callable[[str], str] | None = None
    before: bytes = b""
    after: str = ""


@dataclass(frozen=True)
class Sheet:
    """Rows with their truth.

    Attributes
    ----------
    truth : list of int
        The group of each row.
    labels : list of str
        What the file says of it: empty where it says nothing.
    origin : list of int
        The row of the plain table that each row stands for, -1 where there is none. Of several rows that
        stand for one, the first is compared with the plain one.
    lost : set of (int, str)
        Cells of the plain table, as (row, key of the column), that can no longer be read.
    set_names : list of str, optional
        The set of each row, where there are several.
    """

    kind: str
    columns: list[SheetColumn]
    truth: list[int]
    labels: Cells
    ids: Cells
    origin: list[int]
    id_name: str = "nr"
    label_name: str = "belongs to"
    set_names: Cells | None = None
    lost: frozenset[tuple[int, str]] = frozenset()
    form: FileForm = field(default_factory=FileForm)
    options: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.truth)

    def of_kind(self, *kinds: str) -> list[int]:
        """The columns, by number, of these kinds that come from the plain table."""
        return [k for k, column in enumerate(self.columns) if column.kind in kinds and column.key]

    def with_cells(self, k: int, cells: Cells) -> Sheet:
        """Other cells in one column."""
        columns = list(self.columns)
        columns[k] = replace(columns[k], cells=cells)
        return replace(self, columns=columns)

    def mapped(self, k: int, change: Callable[[str], str]) -> Sheet:
        """Every filled cell of a column changed."""
        return self.with_cells(k, [change(cell) if cell else cell for cell in self.columns[k].cells])

    def losing(self, k: int, rows: Sequence[int]) -> Sheet:
        """The same, with these cells of a column counted as lost."""
        column = self.columns[k]
        cells = {(self.origin[a], column.key) for a in rows if self.origin[a] >= 0 and column.cells[a]}
        return replace(self, lost=self.lost | cells)

    def picked(self, rows: Sequence[int]) -> Sheet:
        """These rows, in this order; a row may stand there more than once. Ids stay unique."""
        columns = [replace(c, cells=[c.cells[a] for a in rows]) for c in self.columns]
        times: dict[str, int] = {}
        ids = []
        for a in rows:
            n = times[self.ids[a]] = times.get(self.ids[a], 0) + 1
            ids.append(self.ids[a] if n == 1 else f"{self.ids[a]}-{n}")
        return replace(
            self,
            columns=columns,
            ids=ids,
            truth=[self.truth[a] for a in rows],
            labels=[self.labels[a] for a in rows],
            origin=[self.origin[a] for a in rows],
            set_names=None if self.set_names is None else [self.set_names[a] for a in rows],
        )

    def emptied(self, lost: frozenset[tuple[int, str]]) -> Sheet:
        """This (plain) table without these cells."""
        columns = [
            replace(c, cells=["" if (a, c.key) in lost else cell for a, cell in enumerate(c.cells)])
            for c in self.columns
        ]
        return replace(self, columns=columns)

    @property
    def header(self) -> list[str]:
        named = [self.id_name, *([] if self.set_names is None else ["document"]), self.label_name]
        return [*named, *(column.name for column in self.columns)]

    def lines(self, labels: Sequence[str] | None = None) -> Iterator[list[str]]:
        """The rows as they are written, with other labels if they are given."""
        shown = self.labels if labels is None else labels
        for a in range(len(self)):
            named = [self.ids[a], *([] if self.set_names is None else [self.set_names[a]]), shown[a]]
            yield [*named, *(column.cells[a] for column in self.columns)]


def write_sheet(path: Path, sheet: Sheet, labels: Sequence[str] | None = None) -> Path:
    """Write a file of the sheet's form; returns its name, which the form ends."""
    form = sheet.form
    path = path.with_name(path.name + form.end)
    header, rows = sheet.header, list(sheet.lines(labels))
    if ".parquet" in form.end:
        _write_parquet(path, header, rows)
        return path
    text = _sets(sheet, header, rows) if ".jsonl" in form.end else _delimited(form, [header, *rows])
    data = form.before + (text + form.after).encode(form.encoding, "surrogatepass")
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def _sets(sheet: Sheet, header: list[str], rows: list[list[str]]) -> str:
    """One set of items in each line."""
    sets: dict[str, list[dict[str, str | None]]] = {}
    for a, row in enumerate(rows):
        item = {name: cell or None for name, cell in zip(header, row, strict=True)}
        sets.setdefault("" if sheet.set_names is None else sheet.set_names[a], []).append(item)
    key = "id" if sheet.set_names is None else "document"
    return "".join(json.dumps({key: name, "items": items}) + "\n" for name, items in sets.items())


def _delimited(form: FileForm, rows: list[list[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=form.delimiter, lineterminator=form.newline, quoting=form.quoting).writerows(
        rows
    )  # type: ignore[arg-type]
    return out.getvalue()


def _write_parquet(path: Path, header: list[str], rows: list[list[str]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [pa.array([row[k] or None for row in rows], pa.string()) for k in range(len(header))]
    pq.write_table(pa.table(columns, names=header), path)
