"""Tables written chunk by chunk, and graphs: files that appear when all is written, or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from clustruct.exceptions import DataError
from clustruct.storage.targets import replacing

from .files import _encoded, _opened, plain, suffix_of

# Columns by name; the names of the first chunk are those of the file.
Chunk: TypeAlias = Mapping[str, Sequence[Any]]
TABLES = (".csv", ".tsv", ".parquet", ".pq")
GRAPHS = (".graphml", ".xml")


def check_table(path: str | PathLike[str]) -> None:
    """Refuse a name from which no kind of table follows, before any work."""
    if suffix_of(path) not in TABLES:
        raise DataError(f"{path}: tables are written as .csv, .tsv (also with .gz) or .parquet")
    if suffix_of(path) in (".parquet", ".pq"):
        _pyarrow(path)


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
    """A .csv, .tsv or .parquet file to which chunks of rows are written."""
    check_table(path)
    if suffix_of(path) in (".parquet", ".pq"):
        with replacing(Path(path)) as f, _parquet(path, f) as write_rows:
            yield write_rows
        return
    mark, begun = "\t" if suffix_of(path) == ".tsv" else ",", list[str]()
    with _opened(Path(path)) as text_file:

        def write(chunk: Chunk) -> None:
            text = io.StringIO()
            writer = csv.writer(text, delimiter=mark, lineterminator="\n")
            if not begun:
                begun.extend(chunk)
                writer.writerow(begun)
            writer.writerows(zip(*(_cells(chunk[name]) for name in begun), strict=True))
            text_file.write(_encoded(text.getvalue()))

        yield write


def _cells(values: Sequence[Any]) -> list[Any]:
    return ["" if v is None or v == "nan" else v for v in plain(values)]


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
        fitted = [columns[field.name].cast(field.type) for field in schema]
        writers[0].write_table(pyarrow.table(fitted, schema=schema))

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


def _arrow(pyarrow: Any, values: Sequence[Any]) -> Any:
    """Numbers and truth values as they are, all else as text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return pyarrow.array(values, from_pandas=True)
    bare = [v.item() if hasattr(v, "item") else v for v in values]
    for kinds, type_ in (((int,), pyarrow.int64()), ((int, float), pyarrow.float64())):
        if bare and all(v is None or (type(v) in kinds) for v in bare) and any(v is not None for v in bare):
            try:
                return pyarrow.array(bare, type_)
            except pyarrow.ArrowInvalid:  # whole numbers that no column can hold
                break
    texts = [None if v is None else str(v).encode("utf-8", "replace").decode() for v in bare]
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
    with _opened(Path(path)) as f:
        graph = GraphFile(f, nodes, edges)
        yield graph
        graph.close()
