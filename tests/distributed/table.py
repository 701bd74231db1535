"""A made-up table, a model for it, and what one process makes of it."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clustruct import Recipe, Table
from clustruct.data.datasets import make_records
from clustruct.pipeline import group, score_set


def people(n_people=260, seed=5):
    """An Arrow table of people, more than once each, and their right labels."""
    raw = make_records(n_sets=1, n_people=n_people, random_state=seed)[0]
    columns = {
        name: pa.array([None if v is None else str(v) for v in raw.column(name)]) for name in raw.fields()
    }
    return pa.table({"nr": np.arange(len(raw)) + 100, **columns}), list(raw.labels)


def trained(table, labels, **blocking):
    """A model of a table, whose likely pairs are found by words; the blocking may be changed."""
    known = sorted(set(labels))[: len(set(labels)) // 3]
    shown = [label if label in known else None for label in labels]
    raw = Table.from_frame(table, id="nr")
    model = Recipe(C=10.0, block=100, n_neighbors=5).fit([Table(raw.items, labels=shown)]).pipeline_
    changed = {"margin_from_size": 0, **blocking}
    for name, value in changed.items():
        setattr(model[0].blocking_, name, value)
    return model


def grouped_here(table, model):
    """The labels of one process."""
    return group(model, score_set(model, Table.from_frame(table, id="nr"))).labels


def write_files(table, folder, count=2):
    """The table in some files."""
    folder.mkdir(parents=True, exist_ok=True)
    bounds = np.linspace(0, len(table), count + 1).astype(int)
    for k, (low, high) in enumerate(pairwise(bounds)):
        pq.write_table(table.slice(low, high - low), folder / f"part-{k}.parquet", row_group_size=97)
    return str(folder / "part-*.parquet")


def read_groups(folder):
    """Names and labels that were written, in order."""
    found = pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("*.parquet"))])
    return found["id"].to_numpy(), found["cluster"].to_numpy()
