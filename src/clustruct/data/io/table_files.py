"""Tables written chunk by chunk, and graphs: files that appear when all is written, or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.storage.targets import is_stream, replacing

from .formats import encode_line, open_target, plain, suffix_of

# Columns by name; the names of the first chunk are those of the file. Arrays are what was computed, and text
# files show six digits of it; lists are values of the data, which are written as they are.
Chunk: TypeAlias = Mapping[str, Sequence[Any]]
TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".pq")
GRAPHS = (".graphml", ".xml")
ROWS_AT_ONCE = 10_000


def check_table(path: str | PathLike[str]) -> str:
    """The kind of table that follows from a name, before any work; a device or a pipe gets CSV."""
    suffix = suffix_of(path)
    if not suffix and is_stream(Path(path)):
        return ".csv"
    if suffix not in TABLES:
        raise DataError(f"{path}: tables are written as .csv, .tsv, .jsonl (also with .gz) or .parquet")
    if suffix in (".parquet", ".pq"):
        _pyarrow(path)
        return ".parquet"
    return suffix


def check_graph(path: str | PathLike[str]) -> None:
    """Refuse a name that is not one of a graph."""
    if suffix_of(path) not in GRAPHS:
        raise DataError(f"{path}: graphs are written as .graphml (also with .gz)")


def _pyarrow(path: str | PathLike[str]) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(f"{path}: Parquet files need pyarrow: pip install 'clustruct[parquet]'") from None
    return pyarrow


@contextmanager
def table_file(path: str | PathLike[str]) -> Iterator[Callable[[Chunk], None]]:
    """A .csv, .tsv, .jsonl (also .gz) or .parquet file to which chunks of rows are written."""
    suffix = check_table(path)
    if suffix == ".parquet":
        with replacing(Path(path)) as f, _parquet(path, f) as write_rows:
            yield write_rows
        return
    names = list[str]()
    with open_target(Path(path)) as text_file:

        def write(chunk: Chunk) -> None:
            if names and suffix != ".jsonl":
                _check_columns(path, chunk, names)
            text_file.write(encode_line(_text(chunk, suffix, names)))

        yield write


def write_table(path: str | PathLike[str], columns: Chunk) -> None:
    """Write columns of one length to a file of `table_file`; None and nan are missing values.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(f"{folder}/a.csv", {"id": [1, 2], "name": ["Ann", None]})
    ...     Path(folder, "a.csv").read_text()
    'id,name\\n1,Ann\\n2,\\n'
    """
    with table_file(path) as write:
        if check_table(path) == ".parquet":  # the type of a column is that of all its values
            write(columns)
            return
        for chunk in _chunks(columns):
            write(chunk)


def table_lines(columns: Chunk, suffix: str = ".csv") -> Iterator[str]:
    """The text of such a file, piece by piece."""
    names = list[str]()
    return (_text(chunk, suffix, names) for chunk in _chunks(columns))


def _chunks(columns: Chunk) -> Iterator[Chunk]:
    size = len(next(iter(columns.values()), ()))
    for low in range(0, max(size, 1), ROWS_AT_ONCE):
        yield {name: values[low : low + ROWS_AT_ONCE] for name, values in columns.items()}


def _text(chunk: Chunk, suffix: str, names: list[str]) -> str:
    """The rows of a chunk; those of the first begin with ``names``, which are kept."""
    text, first = io.StringIO(), not names
    if first:
        names.extend(chunk)
    if suffix == ".jsonl":
        for row in zip(*map(_json_values, chunk.values()), strict=True):
            text.write(_json(dict(zip(chunk, row, strict=True))) + "\n")
        return text.getvalue()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    if first:
        writer.writerow(names)
    writer.writerows(zip(*(_cells(_column(chunk, name)) for name in names), strict=True))
    return text.getvalue()


def _check_columns(path: str | PathLike[str], chunk: Chunk, names: Iterable[str]) -> None:
    """Refuse rows with a column that those before, which are written, have not."""
    for name in chunk:
        if name not in names:
            reason = f"the first rows have no column {name!r}, and later ones have it"
            raise DataError(f"{path}: {reason}: write .jsonl, in which rows may differ")


def _column(chunk: Chunk, name: str) -> Sequence[Any]:
    """A column, without values where the chunk has it not."""
    return chunk[name] if name in chunk else [None] * len(next(iter(chunk.values()), ()))


def _json_values(values: Sequence[Any]) -> list[Any]:
    """Values as JSON shows them."""
    bare = _bare(values)
    if isinstance(values, np.ndarray):
        bare = [float(f"{v:.6g}") if isinstance(v, float) else v for v in bare]
    return [None if isinstance(v, float) and v != v else v for v in bare]


def _cells(values: Sequence[Any]) -> list[Any]:
    """Values as CSV shows them."""
    bare = _bare(values)
    if isinstance(values, np.ndarray):
        bare = [("" if v != v else f"{v:.6g}") if isinstance(v, float) else v for v in bare]
    return [_cell(v) if isinstance(v, list | dict | float) else v for v in bare]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value else value
    return _json(value) if isinstance(value, list | dict) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _bare(values: Sequence[Any]) -> list[Any]:
    """Values of Python: numbers and lists, not those of NumPy."""
    if isinstance(values, np.ndarray):
        found: list[Any] = values.tolist()
        return found
    return [v.tolist() if hasattr(v, "tolist") else v for v in values]


@contextmanager
def _parquet(path: str | PathLike[str], f: IO[bytes]) -> Iterator[Callable[[Chunk], None]]:
    pyarrow = _pyarrow(path)
    writers: list[Any] = []

    def write(chunk: Chunk) -> None:
        columns = {name: _arrow(pyarrow, values) for name, values in chunk.items()}
        if not writers:
            schema = pyarrow.schema([(name, array.type) for name, array in columns.items()])
            writers.append(pyarrow.parquet.ParquetWriter(f, schema))
        schema = writers[0].schema
        _check_columns(path, chunk, schema.names)
        lacking = {name: _arrow(pyarrow, _column(chunk, name)) for name in schema.names if name not in chunk}
        columns |= lacking
        fitted = [_cast(pyarrow, path, columns[field.name], field) for field in schema]
        writers[0].write_table(pyarrow.table(fitted, schema=schema))

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


def _cast(pyarrow: Any, path: str | PathLike[str], array: Any, field: Any) -> Any:
    """Further values of a column, whose type is that of the first chunk."""
    try:
        return array.cast(field.type)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        reason = f"the column {field.name!r} holds {field.type} first and {array.type} later"
        raise DataError(f"{path}: {reason}, which Parquet cannot have: write .csv or .jsonl") from None


def _arrow(pyarrow: Any, values: Sequence[Any]) -> Any:
    """Values as they are where they are of one kind, else as text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return pyarrow.array(values, from_pandas=True)
    bare = _bare(values)
    try:
        found = None if any(isinstance(v, dict) for v in bare) else pyarrow.array(bare, from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError, UnicodeEncodeError):
        found = None  # of several kinds, or such that no column can hold them
    if found is not None and found.type != pyarrow.null():
        return found
    texts = [None if v is None else str(_cell(v)).encode("utf-8", "replace").decode() for v in bare]
    return pyarrow.array(texts, pyarrow.string())


class GraphFile:
    """GraphML, node by node and edge by edge. Nodes are numbered: names of items are values of theirs."""

    def __init__(self, f: IO[bytes] | Any, nodes: Mapping[str, str], edges: Mapping[str, str]) -> None:
        self.f, self.n_nodes = f, 0
        self.keys = {"node": nodes, "edge": edges}
        head = ['<?xml version="1.0" encoding="UTF-8"?>']
        head.append('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
        for domain, keys in self.keys.items():
            for name, kind in keys.items():
                about = f'for="{domain}" attr.name={quoteattr(name)} attr.type="{kind}"'
                head.append(f'<key id="{domain}_{name}" {about}/>')
        self._write([*head, '<graph edgedefault="undirected">'])

    def add_nodes(self, values: Chunk) -> None:
        """Further nodes with their values, numbered on."""
        first = self.n_nodes
        rows = list(zip(*map(plain, values.values()), strict=True))
        self.n_nodes += len(rows)
        self._write(
            f'<node id="n{a}">{self._data("node", values, held)}</node>' for a, held in enumerate(rows, first)
        )

    def add_edges(self, sources: Iterable[int], targets: Iterable[int], values: Chunk) -> None:
        """Edges with their values."""
        rows = zip(sources, targets, *map(plain, values.values()), strict=True)
        self._write(
            f'<edge source="n{a}" target="n{b}">{self._data("edge", values, held)}</edge>'
            for a, b, *held in rows
        )

    def close(self) -> None:
        """The end of the file."""
        self._write(["</graph>", "</graphml>"])

    def _data(self, domain: str, names: Iterable[str], values: Iterable[Any]) -> str:
        return "".join(
            f'<data key="{domain}_{name}">{escape(_xml(str(value)))}</data>'
            for name, value in zip(names, values, strict=True)
            if value is not None
        )

    def _write(self, lines: Iterable[str]) -> None:
        self.f.writelines(f"{line}\n".encode("utf-8", "replace") for line in lines)


def _xml(text: str) -> str:
    """The text without the characters that XML cannot have."""
    return "".join(c if c >= " " or c in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for c in text)


@contextmanager
def graph_file(
    path: str | PathLike[str], nodes: Mapping[str, str], edges: Mapping[str, str]
) -> Iterator[GraphFile]:
    """A GraphML file; ``nodes`` and ``edges`` name the values that these have, and their types."""
    check_graph(path)
    with open_target(Path(path)) as f:
        graph = GraphFile(f, nodes, edges)
        yield graph
        graph.close()
