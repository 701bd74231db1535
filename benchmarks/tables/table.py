"""A table with its right clusters, the labelled part of it, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.tables.errors import Flags
from benchmarks.tables.words import Numbers, Texts

ID, ENTITY = "id", "entity"


@dataclass(frozen=True)
class Table:
    """Rows that belong to entities.

    entity : the number of each row's entity, from 0 on
    columns : the texts of each field; an empty one is missing
    """

    entity: Numbers
    columns: dict[str, Texts]

    def __len__(self) -> int:
        return len(self.entity)

    def shuffled(self, rng: np.random.Generator) -> Table:
        """The rows in random order, the entities with new numbers."""
        order = rng.permutation(len(self))
        names = rng.permutation(int(self.entity.max()) + 1)
        return Table(names[self.entity[order]], {name: c[order] for name, c in self.columns.items()})

    def labelled(self, clusters: int, seed: int) -> Flags:
        """The rows of so many clusters, drawn at random from all clusters."""
        rng = np.random.default_rng([seed, clusters])
        every = np.unique(self.entity)
        return np.isin(self.entity, rng.choice(every, min(clusters, len(every)), replace=False))

    def write(self, path: Path, labelled: Flags | None = None) -> None:
        """As CSV or Parquet: id, entity, fields. Rows that are not labelled have no entity."""
        shown = np.ones(len(self), bool) if labelled is None else labelled
        cells: dict[str, pa.Array] = {
            ID: pa.array(np.arange(len(self))),
            ENTITY: pa.array(self.entity, mask=~shown),
        }
        for name, column in self.columns.items():
            cells[name] = pa.array([cell or None for cell in column.tolist()], pa.string())
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table(cells)
        if path.suffix == ".parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style="needed"))


def entity_of_rows(rng: np.random.Generator, n_rows: int, mean: float) -> Numbers:
    """Entities of one row and more; the number of further ones is geometric."""
    sizes = rng.geometric(1.0 / mean, n_rows)
    return np.repeat(np.arange(n_rows), sizes)[:n_rows]
