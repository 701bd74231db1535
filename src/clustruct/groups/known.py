"""Items whose groups are known, from a table or a store, the index that scoring them needs, and the table
that they are written to with the new ones.

The index is made once: a day looks at the texts of its new items alone. Texts are folded and coded, split
into terms, and terms are numbered and counted, for each field and view that a model looks at (`Columns`). A
day adds its items to that. Nothing in it was learned by a model: how rare a term is follows from counts,
which are those of all items, and from the model, which is asked each time. So the scores are those of all
items read anew, whatever model made the index.

A store has the index of its items in pieces. A run adds one, and takes those before it that are no larger
into it, so that there are few. Where the index is missing, damaged, made by another version, or not of these
items, it is made anew. Triggers of the store take it away when an item is changed.
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from clustruct import __version__
from clustruct.core.exceptions import DataError, DataWarning, ModelFileError, NoLabels
from clustruct.core.storage import digest, pack, unpack
from clustruct.core.storage.targets import replacing
from clustruct.data import Source, Table
from clustruct.data.column_types import LazyColumn
from clustruct.data.io import ColumnRoles, read_sets
from clustruct.data.io.formats import is_table, sets_file
from clustruct.data.table import join_tables
from clustruct.features.column_cache import CacheError, Lengths, add_lengths, restore_columns, tail
from clustruct.features.columns import Columns

from .files import csv_lines, written_suffix
from .log_replay import State
from .store_reader import Item, StoredGroups

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


# Another layout, or other rules by which texts are folded and split, are another number.
LAYOUT = 1


@dataclass(frozen=True)
class KnownIndex:
    """The columns of known items, to be handed on from day to day.

    An index does not change: `with_items` makes another, which shares what it can.

    >>> index = KnownIndex.of(Table([{"name": "Ann"}], ids=["a"]))
    >>> index.columns.texts("name").values
    ['ann']
    >>> later = index.with_items(Table([{"name": "Bob"}, {"name": "ann"}], ids=["b", "c"]))
    >>> later.columns.texts("name").codes.tolist(), len(index), len(later)
    ([0, 1, 0], 1, 3)
    """

    columns: Columns
    pieces: tuple[Any, ...] = ()

    @classmethod
    def of(cls, table: Table) -> KnownIndex:
        """An index of items that is filled when it is used."""
        return cls(Columns(table))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def table(self) -> Table:
        """The items."""
        return self.columns.given

    def with_items(self, new: Table) -> KnownIndex:
        """The index of these items and new ones, at the cost of the new ones."""
        return replace(self, columns=self.columns.extend(new, join_tables(self.table, new)))


class Piece(NamedTuple):
    """A piece that is in the store: its number, and how far the index goes with it."""

    number: int
    n_items: int
    lengths: Lengths


@cache
def _maker() -> str:
    """What has a say in how texts are folded, split and stemmed."""
    with suppress(PackageNotFoundError):
        return f"{LAYOUT} {__version__} {platform.python_version()} {version('snowballstemmer')}"
    return f"{LAYOUT} {__version__} {platform.python_version()}"


def index_of(store: StoredGroups, names: Sequence[str]) -> KnownIndex:
    """The index of all items of a store, which has some, read or made."""
    found = _read(store, names)
    if found is None:
        return KnownIndex.of(read_items(store, names))
    more = names[len(found) :]
    return found.with_items(read_items(store, more, skip=len(found))) if more else found


def read_items(store: StoredGroups, names: Sequence[str], skip: int = 0) -> Table:
    """So many items of a store, without the first ones."""
    held = list(islice(store.items(since=skip), len(names)))
    if [item.id for item in held] != list(names):
        raise ModelFileError(f"{store.path}: the store was changed while it was read")
    return as_table(held, store.path)


def as_table(held: Sequence[Item], path: Path) -> Table:
    """Items of a store as a table."""
    names, fields = (
        [item.id for item in held],
        list(dict.fromkeys(name for item in held for name in item.fields)),
    )
    values = {name: [item.fields.get(name) for item in held] for name in fields}
    table = Table.from_columns(values, ids=names) if fields else Table([{}] * len(held), ids=names)
    return replace(table, source=Source(str(path)))


def _read(store: StoredGroups, names: Sequence[str]) -> KnownIndex | None:
    try:
        return _read_pieces(store, names)
    except (ModelFileError, CacheError, KeyError, TypeError, ValueError, IndexError, AttributeError):
        # Whatever is wrong with it, the items are there.
        return None


def _read_pieces(store: StoredGroups, names: Sequence[str]) -> KnownIndex | None:
    pieces, contents, lengths = list[Piece](), list[Any](), Lengths()
    for number, content in store.pieces():
        held = unpack(content)
        if held["maker"] != _maker() or held["before"] != (pieces[-1].n_items if pieces else 0):
            return None
        lengths = add_lengths(lengths, held["arrays"])
        pieces.append(Piece(number, held["items"], lengths))
        contents.append(held["arrays"])
    if not pieces or digest(list(names[: held["items"]])) != held["names"]:
        return None
    table = _lazy_table(store, list(names[: held["items"]]), held["fields"])
    return KnownIndex(restore_columns(table, contents), tuple(pieces))


def _lazy_table(store: StoredGroups, names: list[str], fields: Sequence[str]) -> Table:
    """Items whose values are read when somebody asks for them: a model that looks at another field, say."""
    read: list[Table] = []

    def table() -> Table:
        if not read:
            read.append(read_items(store, names))
        return read[0]

    later = {name: LazyColumn(len(names), lambda name=name: table().field_column(name)) for name in fields}  # type: ignore[misc]
    found = Table.from_columns(later, ids=names) if later else Table([{}] * len(names), ids=names)
    return replace(found, source=Source(str(store.path)))


def keep_index(store: StoredGroups, index: KnownIndex) -> None:
    """Write down what the store does not have of the index, inside a transaction that has added its items.

    Where the store has other items, or another process has written an index meanwhile, nothing is kept.
    """
    names = [str(name) for name in index.table.item_ids]
    there = [number for number, _ in store.pieces(numbers=True)]
    if store.item_names() != names:
        return
    if there != [piece.number for piece in index.pieces]:
        store.drop_pieces(there)
        index = replace(index, pieces=())
    kept = _staying(index.pieces, len(names))
    if len(kept) == len(index.pieces) and kept and kept[-1].n_items == len(names):
        return
    try:
        arrays = tail(index.columns, kept[-1].lengths if kept else None)
    except CacheError:
        try:
            kept, arrays = (), tail(index.columns)
        except CacheError:  # a block of somebody else's has made what files cannot hold
            store.drop_pieces(there)
            return
    before = kept[-1].n_items if kept else 0
    about = {"maker": _maker(), "before": before, "items": len(names), "names": digest(names)}
    content = pack({**about, "fields": index.table.fields(), "arrays": arrays})
    store.drop_pieces([piece.number for piece in index.pieces[len(kept) :]])
    store.add_piece(1 + max(there, default=0), content)


def _staying(pieces: tuple[Piece, ...], n_items: int) -> tuple[Piece, ...]:
    """The pieces that are larger than what comes after them.

    >>> [p.number for p in _staying((Piece(1, 100, {}), Piece(2, 102, {}), Piece(3, 103, {})), 104)]
    [1]
    """
    kept = pieces
    while kept:
        size = kept[-1].n_items - (kept[-2].n_items if len(kept) > 1 else 0)
        if size > n_items - kept[-1].n_items:
            break
        kept = kept[:-1]
    return kept
