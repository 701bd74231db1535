"""Features and scores of pairs: each part asks the others for the records that its pairs have there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.distributed.engine import TO
from clustruct.distributed.workdir import Stats, Work
from clustruct.estimators.base import PairSimilarity
from clustruct.features.columns import Columns, TermTable

from .frequencies import look_at
from .parts import READING, counted, part_of, raw_set, term_names

ASKED = {"part": "int32", "item": "int64"}
COUNTS = {"name": "uint64", "count": "float64"}
ROWS_AT_ONCE = 10_000
# Scores of a part that are looked at, to see whether the table is like those that were learned from.
SHOWN = 100
ITEM = " item"  # no field of a table is called that: names have no space at their ends


def make_questions(work: Work, k: int) -> Any:
    """The items of other parts that pairs of a part have."""
    import pandas as pd

    b = np.unique(work.read("pairs", k)["b"])
    others = b[b >= work.starts[k + 1]]
    to = work.owner(others).astype(np.int32)
    return pd.DataFrame({TO: to, "part": np.int32(k), "item": others})


def take_questions(work: Work, k: int, frame: Any) -> Stats:
    """Which parts ask for which items of a part."""
    part, item = frame["part"].to_numpy(), frame["item"].to_numpy()
    order = np.lexsort((item, part))
    work.write("asked", k, {"part": part[order], "item": item[order]})
    return {"asked": len(frame)}


def record_types(schema: Any) -> dict[str, Any]:
    """The types of the columns of records, as frames have them."""
    import pandas as pd

    return {ITEM: "int64", **{name: pd.ArrowDtype(schema.field(name).type) for name in schema.names}}


def make_records(work: Work, k: int) -> Any:
    """The records that other parts ask for."""
    import pandas as pd

    asked, table = work.read("asked", k), work.read_table(READING, k)
    rows = table.take(asked["item"] - work.starts[k])
    frame = rows.to_pandas(types_mapper=pd.ArrowDtype)
    return frame.assign(**{TO: asked["part"], ITEM: asked["item"]})


def take_records(work: Work, k: int, frame: Any) -> Stats:
    """The records of others that a part has asked for, in order."""
    import pyarrow as pa

    frame = frame.sort_values(ITEM)
    work.write_table("records", k, pa.Table.from_pandas(frame, preserve_index=False))
    return {"records": len(frame)}


@dataclass
class Noting:
    """A whole that notes which terms are looked at."""

    whole: Any
    noted: dict[str, TermTable] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        return int(self.whole.n_items)

    def n_with(self, name: str, table: TermTable) -> Floats:
        self.noted[name] = table
        found: Floats = self.whole.n_with(name, table)
        return found


def make_counts(work: Work, k: int) -> Any:
    """How rare the terms are of records that other parts ask for; those of one item are not told."""
    import pandas as pd

    asked, whole = work.read("asked", k), Noting(counted(work, k, ["frequencies"]))
    frames = []
    if len(asked["item"]):
        look_at(work.features, Columns(part_of(work, k), whole=whole))
    for name, table in whole.noted.items():
        part, term = _terms_by_part(table, asked["part"], asked["item"] - work.starts[k])
        count = whole.whole.n_with(name, table)[term]
        often = count > 1.0
        names = term_names(name, table.vocabulary.keys[term[often]])
        frames.append(pd.DataFrame({TO: part[often].astype(np.int32), "name": names, "count": count[often]}))
    return pd.concat(frames, ignore_index=True) if frames else _nothing()


def _nothing() -> Any:
    from clustruct.distributed.engine import empty

    return empty(COUNTS)


def _terms_by_part(table: TermTable, part: Ints, item: Ints) -> tuple[Ints, Ints]:
    """The terms that the items asked for have, each once for each part that asks; parts rise."""
    rows = item if table.codes is None else table.codes[item]
    parts, terms = [part[:0]], [part[:0]]
    for k, some in zip(*_stretches(part, rows), strict=True):
        there = np.zeros(len(table.vocabulary), np.bool_)
        for row in np.array_split(some, -(-len(some) // ROWS_AT_ONCE)):
            sizes = table.indptr[row + 1] - table.indptr[row]
            within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            there[table.indices[np.repeat(table.indptr[row], sizes) + within]] = True
        terms.append(np.flatnonzero(there))
        parts.append(np.full(len(terms[-1]), k))
    return np.concatenate(parts), np.concatenate(terms)


def _stretches(part: Ints, rows: Ints) -> tuple[list[int], list[Ints]]:
    """The parts, which rise, and the rows of each."""
    parts, starts = np.unique(part, return_index=True)
    return parts.tolist(), np.split(rows, starts[1:]) if len(parts) else []


def take_counts(work: Work, k: int, frame: Any) -> Stats:
    """The frequencies of terms of records that a part has asked for."""
    name, first = np.unique(frame["name"].to_numpy(), return_index=True)
    work.write("counts", k, {"name": name, "count": frame["count"].to_numpy()[first]})
    return {"counts": len(name)}


def score_pairs(work: Work, k: int) -> Stats:
    """The scores of the pairs of a part that are alike enough."""
    held = work.read("pairs", k)
    columns, items = _extended(work, k)
    pairs = np.searchsorted(items, np.column_stack([held["a"], held["b"]]))
    features, model = work.features, work.model[-1]
    assert isinstance(model, PairSimilarity)
    assert features.blocking_ is not None
    linear = model.linear_similarity()
    assert linear is not None
    pairs = features.blocking_.kept(columns, pairs)
    values = features.scores_of(columns, pairs, *linear, told=False)
    a, b = items[pairs].T
    work.write("scores", k, {"a": a, "b": b, "score": values})
    found = {"pairs": len(held["a"]), "compared": len(pairs), "positive": int(np.count_nonzero(values > 0.0))}
    return {**found, "some": values[:: 1 + len(values) // SHOWN].tolist()}


def _extended(work: Work, k: int) -> tuple[Columns, Ints]:
    """The columns of a part and of the records it asked for, and the numbers of these items, which rise."""
    import pyarrow as pa

    own, others = work.read_table(READING, k), work.read_table("records", k)
    items = np.concatenate([np.arange(*work.starts[k : k + 2]), others.column(ITEM).to_numpy()])
    both = pa.concat_tables([own, others.select(own.column_names).cast(own.schema)])
    whole = counted(work, k, ["frequencies", "counts"])
    return Columns(raw_set(both, work.about.id), whole=whole), items
