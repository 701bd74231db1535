"""Features learned on a cluster: parts of a table are summarised where they are, summaries are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from clustruct.core.typing import Floats
from clustruct.data import Table
from clustruct.data.values import is_missing
from clustruct.features import Blocking, PairFeatures
from clustruct.features.blocking import Summary
from clustruct.features.columns import Columns, TermTable
from clustruct.features.needs import FieldCount, FieldNeed
from clustruct.features.term_weights import TermCounts

from .cluster import Client, answering, as_completed
from .table_parts import is_files, plan_of_files, rows_of, table_of
from .workdir import Span

# Rows at the beginning of the table that say what kinds of values fields hold, as in one process.
LOOKED_AT = 2000


@dataclass(frozen=True)
class Part:
    """What is learned from a part of a table: a summary of each block, how rare words and letters are, sizes
    of labelled clusters, Arrow tables of the labelled and of the first rows, counts of all fields.
    """

    blocks: Sequence[Any]
    blocking: Summary
    letters: TermCounts
    sizes: Counter[Any]
    labelled: Any
    head: Any
    needs: dict[str, FieldCount]


def fit_features(
    data: Any,
    features: PairFeatures,
    *,
    client: Client,
    id: str | None = None,
    cluster: str | None = None,
    partitions: int | None = None,
) -> PairFeatures:
    """Fit pair features on Parquet files, or on a Dask DataFrame: vocabularies, idf, ranges, blocking.

    What is learned is what `PairFeatures.fit` learns from the table as one set, and model files keep it
    alike; only the shares of missing values (`needs_`) are those of all rows, not of some. ``cluster`` names
    a column of labels, empty where they are not known; labelled rows come together in one place.

    Parameters
    ----------
    data : object
        Files, or a Dask DataFrame.
    features : PairFeatures
        Pair features that are not fitted.
    client : Client
        The client of the cluster.
    id : str, optional
        The column of names; by default rows are numbered.
    cluster : str, optional
        The column of the labels.
    partitions : int, optional
        Into how many parts the rows of files are cut.

    Returns
    -------
    PairFeatures
        The features, fitted.
    """
    import dask

    if features.sources is not None:
        raise ValueError("features that keep sources apart cannot be fitted on a cluster")
    summary = partial(_summary, features, id, cluster)
    if is_files(data):
        spans, columns, _ = plan_of_files(data, partitions)
        parts = [dask.delayed(partial(_of_files, summary, span, columns))() for span in spans]
    else:
        parts = [dask.delayed(partial(_of_frame, summary))(part) for part in data.to_delayed()]
    while len(parts) > 1:
        merged = dask.delayed(partial(_merge_parts, features))
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [merged(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    with answering(client, "fitting features"):
        future = client.compute(dask.delayed(partial(_features_of, features, id, cluster))(parts[0]))
        found: PairFeatures = next(as_completed(client, [future])).result()
    return found


def _of_files(summary: Any, spans: Sequence[Span], columns: Sequence[str]) -> Part:
    return summary(rows_of(spans, columns))


def _of_frame(summary: Any, frame: Any) -> Part:
    import pyarrow as pa

    return summary(pa.Table.from_pandas(frame, preserve_index=False))


def _summary(features: PairFeatures, id: str | None, cluster: str | None, table: Any) -> Part:
    """What is learned from some rows."""
    fields = table.select([name for name in table.column_names if name != cluster])
    items = table_of(fields, id)
    columns = Columns(items)
    given = [] if cluster is None else table.column(cluster).to_pylist()
    known = np.flatnonzero([not is_missing(label) for label in given])
    names = [name for name in fields.column_names if name != id]
    counts = {name: FieldCount() for name in names}
    for name, count in counts.items():
        count.add(name, "nothing", items)
    blocking = features.blocking
    return Part(
        [_lean(block.summarise([items])) for block in features._all_blocks()],
        {} if blocking is None else _lean(blocking.summarise([columns], _blocking_fields(blocking, names))),
        _letters(blocking, columns, names),
        Counter(given[k] for k in known.tolist()),
        table.take(known),
        table.slice(0, LOOKED_AT),
        counts,
    )


def _blocking_fields(blocking: Blocking, names: Sequence[str]) -> list[str]:
    return list(names if blocking.fields is None else blocking.fields)


def _letters(blocking: Blocking | None, columns: Columns, names: Sequence[str]) -> TermCounts:
    if blocking is None or not blocking.margin:
        return TermCounts.of(TermTable.of([]))
    return TermCounts.of(columns.terms(_blocking_fields(blocking, names), ["letters"])).alone()


def _lean(summary: Any) -> Any:
    """A summary whose counts of terms have their own words, and nothing else of the part."""
    if isinstance(summary, TermCounts):
        return summary.alone()
    if isinstance(summary, list):
        return [_lean(one) for one in summary]
    if isinstance(summary, dict):
        return {name: replace(terms, counts=terms.counts.alone()) for name, terms in summary.items()}
    return summary


def _merge_parts(features: PairFeatures, first: Part, second: Part) -> Part:
    import pyarrow as pa

    both = zip(features._all_blocks(), first.blocks, second.blocks, strict=True)
    blocking = features.blocking
    head = first.head
    if head.num_rows < LOOKED_AT:
        head = pa.concat_tables([head, second.head]).slice(0, LOOKED_AT)
    return Part(
        [_lean(block.merge(a, b)) for block, a, b in both],
        {} if blocking is None else _lean(blocking.merge(first.blocking, second.blocking)),
        (first.letters + second.letters).alone(),
        first.sizes + second.sizes,
        pa.concat_tables([first.labelled, second.labelled]),
        head,
        {name: first.needs[name] + second.needs[name] for name in first.needs},
    )


@dataclass(frozen=True)
class _LetterCounts:
    """A whole of which the counts of letters are known."""

    counts: TermCounts

    @property
    def n_items(self) -> int:
        return self.counts.n

    def document_frequency(self, name: str, table: TermTable) -> Floats:
        numbers = self.counts.vocabulary.find(table.vocabulary.keys)
        return np.where(numbers >= 0, self.counts.document_frequency[np.maximum(numbers, 0)], 0.0)


def _features_of(features: PairFeatures, id: str | None, cluster: str | None, part: Part) -> PairFeatures:
    """The features, from what was learned of all parts."""
    blocking = features.blocking
    if blocking is not None:
        names = [name for name in part.needs if name != cluster]
        blocking.check_parameters()
        blocking.take(_blocking_fields(blocking, names), part.blocking)
        blocking.set_largest_cluster(max(part.sizes.values(), default=1))
        blocking.set_least_likeness(_mates(blocking, part, id, cluster))
    fitted = features.fit_summaries(part.blocks, blocking, [])
    head = part.head.select([name for name in part.head.column_names if name != cluster])
    fitted.needs_ = [_need(need, part.needs[need.name]) for need in fitted.find_needs([table_of(head, id)])]
    return fitted


def _need(need: FieldNeed, count: FieldCount) -> FieldNeed:
    return replace(need, missing=count.missing, absent=1.0 - count.there / count.items)


def _mates(blocking: Blocking, part: Part, id: str | None, cluster: str | None) -> list[Floats]:
    """How alike labelled items of one cluster are."""
    if cluster is None or not part.labelled.num_rows:
        return []
    fields = part.labelled.select([name for name in part.labelled.column_names if name != cluster])
    items = table_of(fields, id)
    shown = Table(items.items, labels=part.labelled.column(cluster).to_pylist())
    columns = Columns(shown, whole=_LetterCounts(part.letters))
    return [blocking.likeness(c, mates) for c, mates in blocking.mates([columns])]
