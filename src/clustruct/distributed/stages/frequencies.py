"""How many items have each term: counted by part, summed by term, told to the parts that have it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.distributed.engine import TO
from clustruct.distributed.workdir import Stats, Work, write_text
from clustruct.features import PairFeatures
from clustruct.features.columns import Columns

from .parts import COMMON, Counting, is_common, part_of, spread, term_names

# Frequencies of so many terms (16 bytes each) are read by every part. Of more each part gets those of its own
# terms: two more exchanges. A million persons have 2 million terms that two of them have.
MOST_COMMON = 10_000_000
TERMS = {"name": "uint64", "part": "int32", "count": "float64"}
FREQUENCIES = {"name": "uint64", "count": "float64"}


def look_at(features: PairFeatures, columns: Columns) -> None:
    """Make all that looks at how rare terms are, of the features and of the blocking."""
    features.prepared(columns)
    blocking = features.blocking_
    if blocking is None:
        return
    for field in blocking.weights_:
        blocking.rows(columns, field)
    if blocking.drops(columns.population):
        blocking.letters(columns)


def make_terms(work: Work, k: int) -> Any:
    """The terms of a part, each once, with the number of its items that have them."""
    import pandas as pd

    whole = Counting(work.n_items)
    look_at(work.features, Columns(part_of(work, k), whole=whole))
    names = [term_names(kind, keys) for kind, (keys, _) in whole.noted.items()] or [np.zeros(0, np.uint64)]
    counts = [counts for _, counts in whole.noted.values()] or [np.zeros(0)]
    name = np.concatenate(names)
    to = spread(name, work.n_partitions)
    return pd.DataFrame({TO: to, "name": name, "part": np.int32(k), "count": np.concatenate(counts)})


def sum_terms(work: Work, k: int, frame: Any) -> Stats:
    """Terms of more than one item: their sums, for each part that has them."""
    name, part = frame["name"].to_numpy(), frame["part"].to_numpy()
    distinct, number = np.unique(name, return_inverse=True)
    total = np.bincount(number, weights=frame["count"].to_numpy(), minlength=len(distinct))
    often = total[number] > 1.0
    work.write("terms", k, {"name": name[often], "part": part[often], "count": total[number][often]})
    shared = total > 1.0
    work.write("summed", k, {"name": distinct[shared], "count": total[shared]})
    return {"terms": len(distinct), "of_two": int(np.count_nonzero(shared))}


def decide(work: Work, stats: Sequence[Stats]) -> bool:
    """Whether the frequencies of all terms are so few that every part reads them all; it is written down."""
    if not (path := Path(work.folder) / COMMON).exists():
        write_text(path, json.dumps(sum(one["of_two"] for one in stats) <= MOST_COMMON))
    return is_common(work)


def make_frequencies(work: Work, k: int) -> Any:
    """What was summed, on its way to the parts."""
    import pandas as pd

    held = work.read("terms", k)
    return pd.DataFrame({TO: held["part"], "name": held["name"], "count": held["count"]})


def take_frequencies(work: Work, k: int, frame: Any) -> Stats:
    """The frequencies of the terms of a part."""
    work.write("frequencies", k, {"name": frame["name"].to_numpy(), "count": frame["count"].to_numpy()})
    return {"frequencies": len(frame)}
