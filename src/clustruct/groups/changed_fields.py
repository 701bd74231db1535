"""Known items that a file gives once more: in which fields they are not what they were, and tables that take
the new values.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import numpy as np

from clustruct.core.exceptions import DataWarning
from clustruct.core.formatting import count, short
from clustruct.core.typing import Ints
from clustruct.data import Table
from clustruct.data.table import join_tables
from clustruct.data.values import is_missing

from .store_reader import plain

# So many fields are named.
SHOWN = 8


@dataclass(frozen=True)
class ChangedFields:
    """The known items whose fields are others in a file, in its order, and how many items have another value
    in each field.
    """

    items: tuple[str, ...] = ()
    fields: Mapping[str, int] | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        names = [repr(short(name)) for name in self.fields or ()]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return ", ".join(names[:SHOWN]) + more

    def warn(self) -> None:
        """Say what is not taken, and how it is."""
        if self.items:
            have = f"{count(len(self), 'known item')} {'has' if len(self) == 1 else 'have'}"
            text = f"{have} other values in {self}, which are not taken: --update (update=True) takes them"
            warnings.warn(text, DataWarning, stacklevel=3)


def find_changed_fields(known: Table | None, given: Table) -> ChangedFields:
    """Where the known items of a table differ from what is known. Columns that it lacks say nothing; an empty
    cell is another value than a full one.

    >>> known = Table([{"name": "Ann", "born": "1985"}, {"name": "Bob"}], ids=["a", "b"])
    >>> given = Table([{"name": "Ann", "born": 1985.0}, {"name": "Rob"}], ids=["a", "b"])
    >>> print(find_changed_fields(known, given))
    'name'
    """
    place = {} if known is None else {str(name): a for a, name in enumerate(known.item_ids)}
    rows = [a for a, name in enumerate(given.item_ids) if str(name) in place]
    if known is None or not rows:
        return ChangedFields()
    now = given.take(rows)
    names = [*map(str, now.item_ids)]
    before = known.take([place[name] for name in names])
    differs, fields = np.zeros(len(rows), np.bool_), dict[str, int]()
    for field in now.fields():
        values = zip(before.column(field), now.column(field), strict=True)
        other = np.fromiter((not _is_same(was, value) for was, value in values), np.bool_, len(rows))
        if other.any():
            fields[field] = int(other.sum())
            differs |= other
    return ChangedFields(tuple(names[a] for a in np.flatnonzero(differs)), fields)


def rows_with_changes(known: Table, given: Table, changed: ChangedFields) -> Table:
    """The changed items with their new values, and in the columns that the file lacks with the old ones."""
    now, before = (_rows_of(table, changed.items) for table in (given, known))
    fields = dict.fromkeys([*known.fields(), *given.fields()])
    columns = {name: (now if given.has(name) else before).field_column(name) for name in fields}
    made = Table.from_columns(columns, ids=[*changed.items])
    return made if given.source is None else Table(made.items, ids=made.ids, source=now.source)


def take_changes(known: Table, given: Table, changed: ChangedFields) -> Table:
    """The known items, in their order, with the new values of those that have changed."""
    both = join_tables(known, rows_with_changes(known, given, changed))
    later = {name: len(known) + a for a, name in enumerate(changed.items)}
    return both.take([later.get(str(name), a) for a, name in enumerate(known.item_ids)])


def _rows_of(table: Table, names: tuple[str, ...]) -> Table:
    place = {str(name): a for a, name in enumerate(table.item_ids)}
    rows: Ints = np.array([place[name] for name in names], np.int64)
    return table.take(rows)


def _is_same(was: Any, value: Any) -> bool:
    """Whether two values say the same, be one of them a number or a date and the other its text."""
    if type(was) is type(value) is str:
        return bool(was.strip() == value.strip())
    if is_missing(was) or is_missing(value):
        return is_missing(was) and is_missing(value)
    one, other = _text(was), _text(value)
    return one == other or (isinstance(was, str) != isinstance(value, str) and _same_number(one, other))


def _text(value: Any) -> str:
    """A value as a file of text has it."""
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    if isinstance(value, str | date | bool):
        return str(value).strip()
    value = plain(value) if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=plain)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _same_number(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return False
