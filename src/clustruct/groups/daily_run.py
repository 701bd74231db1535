"""A day in the life of groups: what is known, what people decided, what is new; then groups with their old
ids.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.exceptions import DataError, DataWarning
from clustruct.core.formatting import count
from clustruct.core.partitions import UNKNOWN
from clustruct.data import Table, alike_ids

from .changed_fields import ChangedFields, find_changed_fields, rows_with_changes, take_changes
from .changes import Changes, compare
from .decisions import (
    JUDGEMENTS,
    Decision,
    PairJudgement,
    contradiction,
    evidence_of,
    judgements_of,
    settle,
)
from .known import LAST_RUNS, KnownIndex, KnownItems, as_table, keep_index
from .log_replay import State, replay
from .named_assignment import Update
from .scoring import place_items
from .store import Store
from .store_reader import GIVEN, Item, plain

# What JSON gives back as it was given.
PLAIN = {str, int, float, bool, type(None)}


@dataclass(frozen=True)
class Outcome:
    """Groups after a run, and what it did.

    ``new`` are the items that had no group before, ``known`` how many of those given had one; ``changed`` are
    those whose fields are others than was known, and ``updated`` says whether these were taken. ``changes``
    are against the groups before any decision of this run; ``state`` and ``placed`` (see `KnownItems`) are
    those before the run. ``n_constraints`` counts the pairs of items that must, or must not, be together.
    ``index`` is what was made of all items for scoring: with it the next run looks at its new items alone.
    """

    table: Table
    new: tuple[str, ...]
    known: int
    update: Update
    changes: Changes
    n_constraints: int
    index: KnownIndex
    state: State
    placed: tuple[frozenset[str], ...] | None = None
    changed: ChangedFields = field(default_factory=ChangedFields)
    updated: bool = False

    def next_known_items(self) -> KnownItems:
        """What is known after the run, for the next one."""
        changes, groups = self.update.changes, self.update.groups
        places = {move.item: move.new for move in changes.moved} | {i: groups[i] for i in changes.added}
        placed = (*(self.placed or ()), frozenset(places))[-LAST_RUNS:]
        return KnownItems(self.table, self.state.after(places), index=self.index, placed=placed)


def add_to_groups(
    pipeline: Pipeline,
    known: KnownItems,
    new: Table,
    *,
    decisions: Sequence[Decision] = (),
    revise: bool = False,
    settle: int | None = None,
    update: bool = False,
    confidence: bool = False,
    fresh: Callable[[str], str] | None = None,
    random_state: int = 0,
) -> Outcome:
    """Put new items into known groups, as `place_items` does, after decisions were carried out.

    Decisions move items and merge, split and confirm groups as they say; what they say of pairs holds
    exactly. Items that are known already stay where they are; those whose fields are others in the new table
    are counted, with a warning unless their new values are taken.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted features and clusterer.
    known : KnownItems
        Items with their groups (`known_of_table`, `known_of_store`).
    new : Table
        Items with ids.
    decisions : sequence of Decision, default=()
        Further decisions, of a file.
    revise, fresh, random_state
        As for `update_groups`.
    settle : int, optional
        Items that one of so many last runs has put into their groups may still be revised (unless they
        are confirmed), all others stay; the changes are listed. None: all, or with ``revise=False`` none.
    update : bool, default=False
        Whether known items take the values that they have in the new table. They are scored by these, and
        keep their groups unless a revision moves them.
    confidence : bool, default=False
        Whether ``update.confidence`` says how sure the place of each item is that is new or has moved.

    Returns
    -------
    Outcome
        The groups after the run, and what it did.
    """
    if settle is not None and settle < 0:
        raise ValueError(f"settle must be a number of runs from 0 on, not {settle!r}")
    loose = None if settle is None or revise or known.table is None else known.loose(settle)
    before = known.state.groups
    state = replay(list(decisions), before) if decisions and not known.is_store else known.state
    judged = state.judgements() + (_judgements_beside_store(decisions) if known.is_store else [])
    given = stored_form(new) if known.is_store else new
    changed = find_changed_fields(known.table, given)
    if not update:
        changed.warn()
    index = _with_new(known, given, changed if update else ChangedFields())
    numbers = {str(name): a for a, name in enumerate(index.table.item_ids)}
    holding = _settle(judged, numbers, known)
    confirmed = state.confirmed_items()
    labels = np.array([confirmed.get(name, UNKNOWN) for name in numbers], np.int64)
    found = place_items(
        pipeline,
        index.columns,
        state.groups,
        evidence=evidence_of(holding, numbers, labels=labels),
        revise=revise or bool(loose),
        loose=loose,
        fresh=fresh,
        confidence=confidence,
        random_state=random_state,
    )
    changes = found.changes if state is known.state else compare(before, found.groups)
    stay = sum(str(name) in before for name in new.item_ids)
    if stay < len(new):
        _warn_of_alike_ids(new, before)
    n = sum(judged.answer != "unsure" for judged in holding)
    before_run = (index, state, known.placed)
    return Outcome(index.table, changes.added, stay, found, changes, n, *before_run, changed, update)


def stored_form(table: Table) -> Table:
    """Items as a store will give them back, so that they are the same to this run and to later ones.

    >>> from datetime import date
    >>> stored_form(Table([{"born": date(2001, 2, 3), "name": "Ann"}], ids=["a"])).items[0]
    {'born': '2001-02-03', 'name': 'Ann'}
    """
    fields = table.fields()
    columns = {name: table.column(name) for name in fields}
    if all({*map(type, values)} <= PLAIN for values in columns.values()):
        return table
    written = {name: json.loads(json.dumps(values, default=plain)) for name, values in columns.items()}
    return replace(Table.from_columns(written), ids=table.ids, source=table.source, context=table.context)


def _settle(
    judged: Sequence[PairJudgement], items: Collection[str], known: KnownItems
) -> list[PairJudgement]:
    """What holds of pairs; where a store holds contradictions, the way out is named, too."""
    found = contradiction(known.state.judgements()) if judged and known.is_store else None
    if found is not None:
        raise DataError(f"{found}; undo one of them (clustruct store FILE --decide undo NUMBER)")
    return settle(judged, items)


def _judgements_beside_store(decisions: Iterable[Decision]) -> list[PairJudgement]:
    """What decisions beside a store say of pairs; those about groups belong into it."""
    for decision in decisions:
        if decision.kind not in JUDGEMENTS:
            raise DataError(
                f"{decision} is about groups: import it into the store (clustruct store --decisions)"
            )
    return [judged for decision in decisions for judged in judgements_of(decision)]


def _warn_of_alike_ids(new: Table, known: Collection[str]) -> None:
    """Warn of new items whose ids known items have, written otherwise."""
    if pairs := alike_ids(new.item_ids, known):
        text = (
            f"{new.title}: {count(len(pairs), 'item')} taken for new, whose ids known items have but for "
            f"zeros, blanks or .0 (such as {pairs[0][0]!r} and {pairs[0][1]!r}): write them alike"
        )
        warnings.warn(text, DataWarning, stacklevel=3)


def _with_new(known: KnownItems, new: Table, changed: ChangedFields) -> KnownIndex:
    """All items, the changed ones as they are now: then all are looked at anew."""
    if known.table is None:
        return KnownIndex.of(new)
    there = frozenset(map(str, known.table.item_ids))
    rows = [a for a, name in enumerate(new.item_ids) if str(name) not in there]
    table = replace(known.table, labels=None)
    index = (
        KnownIndex.of(take_changes(table, new, changed)) if changed else known.index or KnownIndex.of(table)
    )
    return index.with_items(new.take(rows)) if rows else index


def record(store: Store, outcome: Outcome, *, source: str = "", author: str = "", note: str = "") -> int:
    """Keep the items and groups of a run in a store, all together; the number of the run.

    Parameters
    ----------
    store : Store
        The store.
    outcome : Outcome
        What a run gave.
    source : str, default=""
        The file that the new items came from.
    author : str, default=""
        Who had it made.
    note : str, default=""
        Why.

    Returns
    -------
    int
        The number of the run.
    """
    with store.transaction():
        given = frozenset(outcome.new)
        rows = [a for a, name in enumerate(outcome.table.item_ids) if str(name) in given]
        _keep_items(store, outcome.table.take(rows) if rows else None, source)
        if outcome.updated and outcome.changed:
            names = frozenset(outcome.changed.items)
            rows = [a for a, name in enumerate(outcome.table.item_ids) if str(name) in names]
            store.add_items(_items_of(outcome.table.take(rows), source))
        keep_index(store, outcome.index)
        changed = {move.item: move.new for move in outcome.changes.moved}
        changed |= {item: outcome.update.groups[item] for item in outcome.new}
        return store.record_run(changed, author=author, note=note)


def add_known_items(
    store: Store, known: KnownItems, source: str = "", *, update: bool = False
) -> tuple[int, ChangedFields]:
    """Add items with the groups that they have to a store, as one run; how many are new to it, and which of
    the others have other fields than it has. With ``update`` it takes these, else there is a warning.
    """
    assert known.table is not None
    table = stored_form(known.table)
    with store.transaction():
        held = list(store.items(map(str, table.item_ids)))
        before = as_table(held, store.path) if held else None
        changed = find_changed_fields(before, table)
        if before is not None and update and changed:
            store.add_items(_items_of(rows_with_changes(before, table, changed), source))
        added = _keep_items(store, table, source)
        groups = {i: g for i, g in known.state.groups.items() if store.group_of(i) != g}
        if groups:
            store.record_run(groups, note=f"{GIVEN} {source}".strip())
    if not update:
        changed.warn()
    return added, changed


def _keep_items(store: Store, table: Table | None, source: str) -> int:
    """Add the items that a store does not have."""
    if table is None:
        return 0
    unknown = frozenset(store.unknown(map(str, table.item_ids)))
    rows = [a for a, name in enumerate(table.item_ids) if str(name) in unknown]
    return store.add_items(_items_of(table.take(rows), source)) if rows else 0


def _items_of(table: Table, source: str) -> Iterable[Item]:
    """What a store keeps of the items of a table."""
    fields = table.fields()
    values = zip(*map(table.column, fields), strict=True) if fields else [()] * len(table)
    named = zip(table.item_ids, values, strict=True)
    return (Item(str(name), _fields_with_values(fields, row), source) for name, row in named)


def _fields_with_values(fields: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(fields, row, strict=True) if value is not None}
