"""What the tools are given and what they answer: files that all of them read and write alike."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from benchmarks.tables.scores import Labels
from benchmarks.tables.table import ENTITY, ID

Record = dict[str, str | None]
LINES = pyarrow.csv.ParseOptions(newlines_in_values=True)


def read_labels(path: Path) -> tuple[Labels, NDArray[np.bool_]]:
    """The entity of each row, by id from 0 on, and which rows have one."""
    wanted = pyarrow.csv.ConvertOptions(include_columns=[ID, ENTITY])
    table = pyarrow.csv.read_csv(path, parse_options=LINES, convert_options=wanted)
    entity = np.full(len(table), -1, np.int64)
    entity[table[ID].to_numpy()] = table[ENTITY].fill_null(-1).to_numpy()
    return entity, entity >= 0


def read_records(path: Path) -> list[Record]:
    """The fields of each row as text, None for what is missing, in the order of the ids."""
    with path.open(newline="") as file:
        names = next(csv.reader(file))
    fields = [name for name in names if name not in (ID, ENTITY)]
    kinds = {ID: pa.int64(), **dict.fromkeys(fields, pa.string())}
    wanted = pyarrow.csv.ConvertOptions(
        column_types=kinds, include_columns=list(kinds), strings_can_be_null=True, null_values=[""]
    )
    table = pyarrow.csv.read_csv(path, parse_options=LINES, convert_options=wanted)
    return table.sort_by(ID).drop_columns([ID]).to_pylist()


def read_groups(path: Path, n_rows: int) -> Labels:
    """The cluster of each row, by id; every row must be there, once."""
    table = pyarrow.csv.read_csv(path)
    ids = table[ID].to_numpy()
    if len(ids) != n_rows or not np.array_equal(np.sort(ids), np.arange(n_rows)):
        raise ValueError(f"{path} has {len(ids)} rows for a table of {n_rows}")
    found = np.zeros(n_rows, np.int64)
    found[ids] = np.unique(table["cluster"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
    return found


def write_groups(path: Path, labels: Labels) -> None:
    """Ids and clusters."""
    columns = {ID: np.arange(len(labels)), "cluster": labels}
    pyarrow.csv.write_csv(pyarrow.table(columns), path)
