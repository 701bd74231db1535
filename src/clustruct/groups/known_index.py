"""What scoring needs of known items, made once: a day looks at the texts of its new items alone.

Texts are folded and coded, split into terms, and terms are numbered and counted, for each field and view that
a model looks at (`Columns`). A day adds its items to that. Nothing in it was learned by a model: how rare a
term is follows from counts, which are those of all items, and from the model, which is asked each time. So
the scores are those of all items read anew, whatever model made the index.

A store has the index of its items in pieces. A run adds one, and takes those before it that are no larger
into it, so that there are few. Where the index is missing, damaged, made by another version, or not of these
items, it is made anew. Triggers of the store take it away when an item is changed.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, NamedTuple

from clustruct import __version__
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import digest, pack, unpack
from clustruct.data import Source, Table
from clustruct.data.column_types import LazyColumn
from clustruct.data.table import join_tables
from clustruct.features.column_cache import CacheError, Lengths, add_lengths, restore_columns, tail
from clustruct.features.columns import Columns

from .store_reader import StoredGroups

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
        return self.columns.table

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
    fields = list(dict.fromkeys(name for item in held for name in item.fields))
    values = {name: [item.fields.get(name) for item in held] for name in fields}
    table = (
        Table.from_columns(values, ids=list(names)) if fields else Table([{}] * len(held), ids=list(names))
    )
    return replace(table, source=Source(str(store.path)))


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
