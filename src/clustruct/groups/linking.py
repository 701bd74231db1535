"""Two tables: which rows of the second belong to which of the first.

The tables become one set with a field for the table, of which items of one table are not compared; a model
that has learned to group such sets scores the pairs across, and the best clusters (or one-to-one pairs) are
the links.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import reduce
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.exceptions import DataError, DataWarning
from clustruct.core.typing import Floats, Ints
from clustruct.data import Remarks, Table
from clustruct.data.column_types import CodedColumn
from clustruct.data.table import TableRows, join_tables
from clustruct.features import PairFeatures, Sources
from clustruct.pipeline import check_correlation, group, is_calibrated

# The field of the tables, where a model knows none.
TABLE = "file"
SHOWN = 20


@dataclass(frozen=True)
class LinkedRows:
    """Rows of two tables that belong together: ``pairs`` has their row numbers, in order.

    Scores and probabilities are nan where two rows are together through a third and were not compared.
    Probabilities are None where the model has none. ``sizes`` are the numbers of rows of the tables.
    """

    pairs: Ints
    scores: Floats
    sizes: tuple[int, int]
    one_to_one: bool
    probabilities: Floats | None = None
    remarks: Remarks = field(default_factory=Remarks)

    def unmatched_rows(self, side: int) -> Ints:
        """The rows of the first (0) or the second table (1) that are in no pair."""
        left = np.ones(self.sizes[side], np.bool_)
        left[self.pairs[:, side]] = False
        return np.flatnonzero(left)


def link(pipeline: Pipeline, first: Table, second: Table, *, one_to_one: bool | None = None) -> LinkedRows:
    """Link the rows of two tables with a trained pipeline. `DataError` where a table lacks what it needs.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted `PairFeatures` and a clusterer by correlation.
    first, second : Table
        The tables; fields of the same meaning have the same name (`rename_fields`).
    one_to_one : bool, optional
        Whether each row belongs to one other at most: the pairs are then those of the largest sum of
        scores, exactly. Otherwise a row may belong to several, which are then in one cluster. None: as
        the model was trained, one to one where it was with sources that have no duplicates. The scores of
        such a model say which mate is best, not whether there is one: where others than one-to-one pairs
        are asked of it, pairs less likely than 1/2 speak against each other (it has probabilities, and no
        threshold was asked for).

    Returns
    -------
    LinkedRows
        The linked rows, with their scores.
    """
    check_correlation(pipeline[-1])
    features = _check_tables(pipeline[0], first, second)
    learned = features.sources_
    only = learned is not None and learned.within == "apart" if one_to_one is None else one_to_one
    if learned is not None and learned.within == "apart" and not only:
        pipeline = _for_several(pipeline)
    name = TABLE if learned is None else learned.field
    table = side_by_side([first, second], name, ["first", "second"])
    features.sources_ = Sources(name, "apart" if only else "uncompared")
    both = group(Pipeline([("features", features), ("model", pipeline[-1])]), table, pairs=True)
    remarks = Remarks()
    remarks.add(both)
    pairs = _pairs(both.labels, len(first))
    assert both.scores is not None
    found = both.scores.at(pairs + np.array([0, len(first)]))
    sure = _probabilities(pipeline[-1], found, matched=only)
    return LinkedRows(pairs, found, (len(first), len(second)), only, sure, remarks)


def _for_several(pipeline: Pipeline) -> Pipeline:
    """A pipeline for one-to-one pairs, where a row may belong to several."""
    model, message = pipeline[-1], "the model was trained for one-to-one pairs: "
    if getattr(model, "threshold_", None):
        return pipeline
    if not is_calibrated(model):
        message += "others of its pairs are often false (fit --within-source uncompared, or with --calibrate)"
        warnings.warn(message, DataWarning, stacklevel=3)
        return pipeline
    message += "of others, those less likely than 1/2 speak against each other (--threshold)"
    warnings.warn(message, DataWarning, stacklevel=3)
    return Pipeline([pipeline.steps[0], ("model", model.at_threshold(threshold=0.5))])


def _probabilities(model: Any, scores: Floats, *, matched: bool) -> Floats | None:
    """What scores mean, nan where there is none; those of ``matched`` pairs have won a contest."""
    if not is_calibrated(model):
        return None
    found, known = np.full(len(scores), np.nan), ~np.isnan(scores)
    probabilities = model.match_probabilities if matched else model.pair_probabilities
    found[known] = probabilities(scores[known])
    return found


def _check_tables(features: PairFeatures, *tables: Table) -> PairFeatures:
    """The features, for tables each of which has all fields that are needed, or lacks what a source lacked in
    training.
    """
    own = copy(features)
    source = features.sources_
    lacking = set() if source is None else {source.field, *source.lacking}
    own.needs_ = [need for need in features.needs_ if need.name not in lacking]
    for table in tables:
        try:
            own.check_tables([table])
        except DataError as error:
            hint = "; --map NAME=COLUMN (rename_fields) says which column it is"
            raise DataError(f"{error}{hint}") from None
    return own.check_tables()


def _pairs(labels: Ints, n: int) -> Ints:
    """The rows of the two tables that share a cluster, in order.

    >>> _pairs(np.array([0, 1, 1, 0, 2, 0]), 3).tolist()
    [[0, 0], [0, 2]]
    """
    left, right = labels[:n], labels[n:]
    order = np.argsort(right, kind="stable")
    low, high = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    sizes = high - low
    first = np.repeat(np.arange(n), sizes)
    inside = np.arange(len(first)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.column_stack([first, order[np.repeat(low, sizes) + inside]])


def side_by_side(tables: Sequence[Table], field: str, names: Sequence[str]) -> Table:
    """One set of all rows, in which a field names the table of each. Ids that two tables have are prefixed.

    Parameters
    ----------
    tables : sequence of Table
        The tables.
    field : str
        The name of the field that says which table a row comes from.
    names : sequence of str
        The names of the tables.

    Returns
    -------
    Table
        One set of all rows.

    Examples
    --------
    >>> tables = [Table([{"t": 1}], labels=["x"], ids=[7]), Table([{"u": 2}], labels=["x"], ids=[7])]
    >>> table = side_by_side(tables, "file", ["a.csv", "b.csv"])
    >>> list(table.ids), list(table.labels), table.column("file"), table.column("u")
    (['a.csv:7', 'b.csv:7'], ['x', 'x'], ['a.csv', 'b.csv'], [None, 2])
    """
    whole = reduce(join_tables, [replace(table, labels=None) for table in tables])
    sizes = [len(table) for table in tables]
    held = (
        {name: whole.items.column(name) for name in whole.fields()}
        if isinstance(whole.items, TableRows)
        else {}
    )
    held[field] = CodedColumn(np.repeat(np.arange(len(tables), dtype=np.int32), sizes), list(names))
    labels: list[Hashable] | None = None
    if any(table.labels is not None for table in tables):
        labels = [y for table in tables for y in table.labels or [None] * len(table)]
    ids = [name for table in tables for name in table.item_ids]
    if len(set(ids)) < len(ids):
        owners = np.repeat(np.arange(len(tables)), sizes).tolist()
        ids = [f"{names[k]}:{name}" for k, name in zip(owners, ids, strict=True)]
    rows = TableRows(held, len(whole))
    return Table(rows, labels=labels, ids=ids, context=whole.context, source=whole.source)


def rename_fields(table: Table, names: Mapping[str, str]) -> Table:
    """A table with other names of fields: ``names`` has the old name for each new one.

    >>> rename_fields(Table([{"full_name": "Ann", "x": 1}]), {"name": "full_name"}).items[0]
    {'x': 1, 'name': 'Ann'}
    """
    there = table.fields()
    for new, old in names.items():
        if old not in there:
            raise DataError(
                f"{table.title}: there is no column {old!r} to be taken for {new!r}{spelt(old, there)}"
            )
    left = [name for name in there if name not in names and name not in names.values()]
    both = {**{name: name for name in left}, **names}
    if isinstance(table.items, TableRows):
        items: Sequence[Mapping[str, Any]] = TableRows(
            {new: table.items.column(old) for new, old in both.items()}, len(table)
        )
    else:
        items = [{new: item[old] for new, old in both.items() if old in item} for item in table.items]
    return replace(table, items=items)


def spelt(name: str, there: Iterable[str]) -> str:
    """The names that there are, the one spelt most like it first."""
    names = list(there)
    plain = {other.casefold(): other for other in names}
    near = get_close_matches(name.casefold(), plain, 1)
    hint = f"; is it {plain[near[0]]!r}?" if near else ""
    return f"; there are {', '.join(names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}{hint}"


def link_columns(
    links: LinkedRows, first: Table, second: Table, *, unmatched: bool = False
) -> dict[str, Sequence[Any]]:
    """The columns of both tables side by side, a row for each pair: ids, score, the probability where the
    model has probabilities, fields with _a and _b.

    ``unmatched``: then come the rows of the first table without a mate, and those of the second.

    Parameters
    ----------
    links : LinkedRows
        The linked rows.
    first : Table
        The first table.
    second : Table
        The second table.
    unmatched : bool, default=False
        Whether rows without a mate follow.

    Returns
    -------
    dict
        Columns of one length, by name.
    """
    rows = links.pairs
    if unmatched:
        alone = [links.unmatched_rows(side) for side in (0, 1)]
        rows = np.concatenate([rows, *(np.full((len(one), 2), -1) for one in alone)])
        rows[len(links.pairs) : len(links.pairs) + len(alone[0]), 0] = alone[0]
        rows[len(rows) - len(alone[1]) :, 1] = alone[1]
    columns: dict[str, Sequence[Any]] = {}
    for table, side, end in ((first, 0, "a"), (second, 1, "b")):
        columns[f"id_{end}"] = _cells(table.item_ids, rows[:, side])
    numbers = {"score": links.scores, "probability": links.probabilities}
    for name, values in numbers.items():
        if values is not None:
            columns[name] = np.append(values, np.full(len(rows) - len(values), np.nan))  # type: ignore[assignment]
    for table, side, end in ((first, 0, "a"), (second, 1, "b")):
        for name in table.fields():
            columns[f"{name}_{end}"] = _cells(table.column(name), rows[:, side])
    return columns


def _cells(values: Sequence[Any], rows: Ints) -> list[Any]:
    held = [*values, None]
    return [held[row] for row in rows.tolist()]
