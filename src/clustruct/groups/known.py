"""Items whose groups are known, from a table or a store, and the table that they are written to with the
new ones.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError, DataWarning, NoLabels
from clustruct.core.storage.targets import replacing
from clustruct.data import Table
from clustruct.data.io import ColumnRoles, read_sets
from clustruct.data.io.formats import is_table, sets_file
from clustruct.data.table import join_tables

from .files import csv_lines, written_suffix
from .known_index import KnownIndex, index_of, read_items
from .log_replay import State
from .store_reader import StoredGroups

# Of so many runs it is remembered which items they have put into groups.
LAST_RUNS = 30
# The column of predictions that names the set of an item.
SET = "set"


@dataclass(frozen=True)
class KnownItems:
    """What is known before a run.

    Attributes
    ----------
    table : Table or None
        The items with their fields; None where there is none yet.
    state : State
        Their groups, and people's judgements.
    id, cluster
        The columns that these had, and will have.
    is_store : bool, default=False
        Whether decisions are kept in a store.
    index : KnownIndex, optional
        What was made of the items for scoring, by an earlier run; None: it is made anew.
    placed : tuple of frozenset of str, optional
        The items that each of the last runs has put into groups, the latest last; None: not known.
    """

    table: Table | None
    state: State
    id: str = "id"
    cluster: str = "cluster"
    is_store: bool = False
    index: KnownIndex | None = None
    placed: tuple[frozenset[str], ...] | None = None

    def loose(self, runs: int) -> frozenset[str]:
        """The items that one of so many last runs has put into their groups."""
        if self.placed is None:
            raise DataError("which runs have put items into their groups is not known: that needs a store")
        return frozenset().union(*self.placed[max(len(self.placed) - runs, 0) :])


def known_of_table(
    path: str | PathLike[str], columns: ColumnRoles, clusters: Sequence[str], delimiter: str | None = None
) -> KnownItems:
    """The items of a file with their groups; those without a group are new.

    ``clusters`` are names that the column of the groups may have, the first that is there counts.
    """
    table, name = _read_with_groups(path, columns, clusters, delimiter)
    labels = [None if g is None else str(g) for g in table.labels or [None] * len(table)]
    if SET not in (columns.id, name) and table.has(SET):
        labels = _name_by_set(path, table.column(SET), labels)
    groups = {str(i): g for i, g in zip(table.item_ids, labels, strict=True) if g is not None}
    return KnownItems(replace(table, labels=labels), State.start(groups), columns.id or "id", name)


def _name_by_set(
    path: str | PathLike[str], sets: Sequence[Any], labels: Sequence[str | None]
) -> list[str | None]:
    """Groups of predictions of several sets: they are numbered from 0 in each, and a number means nothing
    outside its set. Groups that are not numbered so are left as they are.
    """
    numbers: dict[str, set[str]] = {}
    for name, group in zip(map(str, sets), labels, strict=True):
        numbers.setdefault(name, set()).add("" if group is None else group)
    if len(numbers) < 2 or any(found != set(map(str, range(len(found)))) for found in numbers.values()):
        return list(labels)
    first = next(iter(numbers))
    what = f"groups are numbered in each set (column {SET!r}): they are called '{first}: 0' and so on"
    warnings.warn(f"{path}: {what}", DataWarning, stacklevel=2)
    return [f"{name}: {group}" for name, group in zip(sets, labels, strict=True)]


def known_of_store(store: StoredGroups, id: str = "id", *, indexed: bool = True, runs: int = 0) -> KnownItems:
    """All items of a store, with the index that it keeps (``indexed``), groups, and people's judgements.

    Values are read when they are asked for, as long as the store is open. ``id`` is the column that ids have
    in files. With ``runs``, also which items so many last runs have put into groups.
    """
    names = store.item_names()
    index = index_of(store, names) if indexed and names else None
    table = index.table if index is not None else read_items(store, names) if names else None
    placed = store.placements(runs) if runs else None
    return KnownItems(table, store.state(), id, is_store=True, index=index, placed=placed)


def one_set(path: str | PathLike[str], sets: Iterator[Table]) -> Table:
    """All items of a file, whatever its sets, with ids that name each once."""
    found: Table | None = None
    labels: list[Any] = []
    for table in sets:
        lines = None if table.source is None else table.source.lines
        if table.ids is None or (lines is not None and list(table.ids) == list(lines)):
            raise DataError(f"{path}: items that live on need ids (--id NAME)")
        labels += table.labels or [None] * len(table)
        found = table if found is None else join_tables(found, table)
    if found is None:
        raise DataError(f"{path}: no items to use")
    seen = set[str]()
    for name in map(str, found.item_ids):
        if name in seen:
            raise DataError(f"{path}: the item {name!r} is there twice")
        seen.add(name)
    return replace(found, labels=labels, ids=[str(name) for name in found.item_ids])


def _read_with_groups(
    path: str | PathLike[str], columns: ColumnRoles, clusters: Sequence[str], delimiter: str | None
) -> tuple[Table, str]:
    names = list(dict.fromkeys(clusters)) if is_table(path) else [None]
    fault: NoLabels | None = None
    for name in names:
        try:
            sets = read_sets(
                path, columns=replace(columns, cluster=name), labels="partial", delimiter=delimiter
            )
            return one_set(path, sets), name or "cluster"
        except NoLabels as error:
            fault = fault or error
    assert fault is not None
    raise fault


def write_known_items(
    path: str | PathLike[str],
    table: Table,
    groups: Mapping[str, str],
    id: str = "id",
    cluster: str = "cluster",
) -> None:
    """Write items with their groups and fields to a .csv, .tsv or .jsonl file, which a later run can start
    from.
    """
    with known_file(path, table, groups, id, cluster):
        pass


@contextmanager
def known_file(
    path: str | PathLike[str], table: Table, groups: Mapping[str, str], id: str, cluster: str
) -> Iterator[None]:
    """The same; the file appears at the end of the block, unless something fails in it."""
    suffix = written_suffix(path, "groups")
    labels = [groups.get(str(name)) for name in table.item_ids]
    if suffix == ".jsonl":
        with sets_file(path, [replace(table, labels=labels)]):
            yield
        return
    with replacing(Path(path)) as f:
        lines = csv_lines(_rows(table, labels, id, cluster), suffix)
        f.writelines(text.encode("utf-8", "surrogatepass") for text in lines)
        yield


def _rows(table: Table, labels: Sequence[str | None], id: str, cluster: str) -> Iterator[Sequence[object]]:
    fields = [name for name in table.fields() if name not in (id, cluster)]
    columns = [[_cell(value) for value in table.column(name)] for name in fields]
    yield [id, cluster, *fields]
    yield from zip(table.item_ids, labels, *columns, strict=True)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
