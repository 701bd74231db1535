"""Rows that go from pieces of one stage to pieces of the next, through the directory that all machines see.

Each piece writes one Arrow file, whose batch k has the rows for piece k; piece k reads its batch of every
file. Dask's shuffle packs rows, sends them and writes them to disk as well. With n pieces the files have n^2
batches: for many pieces Dask's shuffle is the better one (`engine.MOST_FILES`).
"""

from __future__ import annotations

import os
from typing import Any
from uuid import uuid4

import numpy as np

from .workdir import WorkDirectory

# The column that says to which piece a row goes.
TO = "to"


def rows_to(to: Any, columns: dict[str, Any]) -> Any:
    """Rows on their way, as an Arrow table; ``to`` has the piece of each."""
    import pyarrow as pa

    return pa.table({TO: np.asarray(to, np.int32), **columns})


def arrays(table: Any) -> dict[str, Any]:
    """The columns of an Arrow table as NumPy arrays."""
    return {name: table.column(name).to_numpy() for name in table.column_names}


def write_rows(work: WorkDirectory, stage: str, k: int, table: Any, n_to: int) -> int:
    """Write the rows that piece k of a stage has for others; how many bytes they have."""
    import pyarrow as pa

    to = table.column(TO).to_numpy()
    order = np.argsort(to.astype(np.uint16), kind="stable")  # numbers of 16 bits are sorted by counting
    ends = np.cumsum(np.bincount(to, minlength=n_to)).tolist()
    moved = table.drop_columns([TO]).take(pa.array(order)).combine_chunks()
    path = work.made_path(stage, k)
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
    try:
        with pa.OSFile(str(passing), "wb") as sink, pa.ipc.new_file(sink, moved.schema) as writer:
            for first, last in zip([0, *ends[:-1]], ends, strict=True):
                writer.write_batch(_batch(moved.slice(first, last - first)))
        os.replace(passing, path)
    finally:
        passing.unlink(missing_ok=True)
    return int(moved.nbytes)


def _batch(table: Any) -> Any:
    """The rows of a table as one batch, also where there are none."""
    import pyarrow as pa

    found = table.combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], table.schema)


def read_rows(work: WorkDirectory, stage: str, k: int, n_from: int) -> Any:
    """The rows for piece k, in the order of the pieces that they come from."""
    import pyarrow as pa

    batches = []
    for j in range(n_from):
        with pa.memory_map(str(work.made_path(stage, j))) as source:
            batches.append(pa.ipc.open_file(source).get_batch(k))
    return pa.Table.from_batches(batches)
