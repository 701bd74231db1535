"""Raw sets from data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from clustruct.records import RawSet

from .tables import Columns, sets_from_rows

__all__ = ["sets_from_frame"]


class Frame(Protocol):
    """What pandas and others call a data frame."""

    def to_dict(self, orient: Any) -> Any: ...


def sets_from_frame(
    frame: Frame,
    *,
    set: str | None = None,
    cluster: str | None = None,
    id: str | None = None,
    group: str | None = None,
    fields: Sequence[str] | None = None,
) -> list[RawSet]:
    """Raw sets from the rows of a data frame (pandas, or anything with ``columns`` and ``to_dict("list")``).

    ``set``, ``cluster``, ``id`` and ``group`` name columns; all others are fields, or those of
    ``fields`` alone. Without ``set`` the frame is one set, without ``cluster`` there are no labels.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"fold": [0, 0, 1], "who": ["x", "x", "y"], "name": ["Ann", "Anne", "Bob"]})
    >>> first, second = sets_from_frame(frame, set="fold", cluster="who")
    >>> first.items, first.labels
    ([{'name': 'Ann'}, {'name': 'Anne'}], ['x', 'x'])
    """
    values: dict[str, list[Any]] = {str(c): list(v) for c, v in frame.to_dict("list").items()}
    header = list(values)
    rows = (
        (n, dict(zip(header, row, strict=True))) for n, row in enumerate(zip(*values.values(), strict=True))
    )
    columns = Columns(set=set, id=id, cluster=cluster, group=group, fields=fields)
    found = sets_from_rows(rows, header, columns, "required" if cluster else "ignored", None)
    return list(found)
