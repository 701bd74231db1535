"""Data frames of pandas, polars, Arrow and others: their columns are taken, not their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clustruct.data.records import Column, RawSet
from clustruct.data.records.frames import frame_column, opened_frame

from .cutting import ParsedTable, known_columns, sets_from_table
from .tables import Columns, LabelUse


def sets_of(
    frame: Any,
    *,
    set: str | None = None,
    cluster: str | None = None,
    id: str | None = None,
    group: str | None = None,
    fields: Sequence[str] | None = None,
    labels: LabelUse | None = None,
    columns: Columns | None = None,
) -> list[RawSet]:
    """Raw sets from the rows of a data frame: of pandas, polars, Arrow, or whatever else narwhals knows.

    ``set``, ``cluster``, ``id`` and ``group`` name columns; all others are fields, or those of
    ``fields`` alone. Without ``set`` the frame is one set, without ``cluster`` there are no labels; a label
    that is missing (or -1) is not known.
    ``labels`` and ``columns`` are those of `read_sets`.

    Parameters
    ----------
    frame : object
        The data frame.
    set : str, optional
        The column that says which set a row belongs to.
    cluster : str, optional
        The column of the labels.
    id : str, optional
        The column that names items.
    group : str, optional
        The column of what is held out together.
    fields : sequence of str, optional
        The columns that are fields; all others by default.
    labels : LabelUse, optional
        What becomes of labels, as for `read_sets`.
    columns : Columns, optional
        Which columns are what, instead of the names above.

    Returns
    -------
    list of RawSet
        One set for each value of the column ``set``, in the order of first appearance.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"fold": [0, 0, 1], "who": ["x", "x", "y"], "name": ["Ann", "Anne", "Bob"]})
    >>> first, second = sets_of(frame, set="fold", cluster="who")
    >>> first.items, first.labels
    ([{'name': 'Ann'}, {'name': 'Anne'}], ['x', 'x'])
    """
    named = columns or Columns(set=set, id=id, cluster=cluster, group=group, fields=fields)
    use = labels or ("partial" if named.cluster else "ignored")
    held = opened_frame(frame)
    header = list(map(str, held.columns))
    named = known_columns(named, header, use, None)
    wanted, found = named.needed(header), dict[str, Column]()
    for name in held.columns:
        if str(name) in wanted:
            found[str(name)] = frame_column(held[name])
    return list(sets_from_table(ParsedTable(found, np.arange(len(held))), named, use, None))
