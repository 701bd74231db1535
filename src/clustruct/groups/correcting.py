"""What people corrected, as something to learn from: decisions, labelled pairs and groups, of files and
stores, for the sets whose items they name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import count
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Ints
from clustruct.data import Evidence, Table
from clustruct.learning.problems.training import Unlabelled

from .constraints import Constraints, Disagreement, constraints
from .decisions import JUDGEMENTS, Decision
from .group_files import is_store
from .known import Known, known_of_store
from .labels import read_labels
from .replay import State, replay, undone
from .statements import Statement
from .store import Store


@dataclass(frozen=True)
class Corrections:
    """Sets and what people said of them.

    Attributes
    ----------
    sets : list of Table
        Those given, with labels as they are after the corrections; then those of stores.
    marks : list of Evidence or None
        For each set what is known of its items; None: nothing was said of it.
    n_same, n_different, n_unsure : int
        Pairs of items that people spoke of.
    notes : tuple of str
        Labels that do not count, since people said otherwise; one line each.
    """

    sets: list[Table]
    marks: list[Evidence | None]
    n_same: int
    n_different: int
    n_unsure: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        told = [(self.n_same, "the same"), (self.n_different, "different"), (self.n_unsure, "unsure")]
        pairs = ", ".join(f"{n:,} {word}" for n, word in told if n)
        named = sum(int(np.count_nonzero(m.named)) for m in self.marks if m is not None)
        return f"corrections name {count(named, 'item')}; pairs: {pairs or 'none'}"


def corrections(
    sets: Sequence[Table],
    *sources: str | PathLike[str],
    seen: Sequence[Known] = (),
    unlabelled: Unlabelled = "apart",
    disagreement: Disagreement = "error",
) -> Corrections:
    """The corrections of files and stores, for `Recipe.fit`.

    A file has decisions, labelled pairs or groups (`read_labels`). Decisions about groups name the labels of
    the sets, and change them. Groups by one person are labels of items that have none; by several they are
    pairs. Of a store its own items count, where no set has them, and its groups are those that people saw.
    What is wrong is a `DataError` that names file and line: contradictions, cycles (a is b, b is c, a is not
    c), people who disagree, items and groups that are not there.

    Parameters
    ----------
    sets : sequence of Table
        Sets to learn from; labels None or missing where not known.
    *sources : path
        Files and stores.
    seen : sequence of Known, default=()
        Further items, with the groups that people saw and corrected (`known_of_table`).
    unlabelled : Unlabelled, default="apart"
        As for `Recipe`.
    disagreement : Disagreement, default="error"
        As for `constraints`.

    Returns
    -------
    Corrections
        Sets with corrected labels, and marks for pairs.
    """
    told = [_Told(table) for table in sets]
    for known in seen:
        assert known.table is not None
        told.append(_Told(replace(known.table, labels=None), groups=known.state.groups or None))
    for source in sources:
        if is_store(source):
            _take_store(told, source)
        else:
            _take_file(told, source)
    found = [one.marked(unlabelled, disagreement) for one in told]
    held = [kept for _, _, kept in found]
    return Corrections(
        [table for table, _, _ in found],
        [marks for _, marks, _ in found],
        sum(len(kept.same) for kept in held),
        sum(len(kept.different) for kept in held),
        sum(len(kept.unsure) for kept in held),
        tuple(note for one in told for note in one.notes),
    )


@dataclass
class _Told:
    """A set and what was said of it so far."""

    table: Table
    statements: list[Statement] = field(default_factory=list)
    confirmed: set[str] = field(default_factory=set)
    groups: Mapping[str, str] | None = None
    notes: list[str] = field(default_factory=list)
    made: set[str] = field(default_factory=set)  # ids that decisions have given

    def __post_init__(self) -> None:
        self.numbers = {str(name): a for a, name in enumerate(self.table.item_ids)}
        self.is_ambiguous = len(self.numbers) < len(self.table)

    def labels(self) -> dict[str, str]:
        """The label of each item that has one."""
        known = (
            partial_labels(self.table.labels)
            if self.table.labels is not None
            else np.full(len(self.table), -1)
        )
        given = self.table.labels or [None] * len(self.table)
        ids = map(str, self.table.item_ids)
        return {i: str(y) for i, y, k in zip(ids, given, known, strict=True) if k != UNKNOWN}

    def named_groups(self) -> Mapping[str, str]:
        """The groups that decisions mean: those that people saw, else the labels."""
        return self.labels() if self.groups is None else self.groups

    def regroup(self, groups: Mapping[str, str]) -> None:
        """Groups after decisions; labels, where people had these before them."""
        if self.groups is None:
            self.relabel(groups)
        else:
            self.groups = dict(groups)

    def relabel(self, groups: Mapping[str, str]) -> None:
        """Labels of the items named, the others keep theirs."""
        mine = {**self.labels(), **{i: g for i, g in groups.items() if i in self.numbers}}
        self.table = replace(self.table, labels=[mine.get(str(i)) for i in self.table.item_ids])

    def hear(self, state: State) -> None:
        """What decisions say of items."""
        self.statements += state.statements()
        self.confirmed |= set(state.confirmed())

    def marked(
        self, unlabelled: Unlabelled, disagreement: Disagreement
    ) -> tuple[Table, Evidence | None, Constraints]:
        """The set with labels that do not contradict what was said, and its marks."""
        held = constraints(self.statements, disagreement=disagreement)
        if not self.statements and not self.confirmed:
            return self.table, None, held
        must, cannot = held.must_link(self.numbers), held.cannot_link(self.numbers)
        labels = self._believed(must, cannot)
        unsure = [(self.numbers[a], self.numbers[b]) for a, b in held.unsure]
        marks = Evidence.of_pairs(
            len(self.table),
            must,
            cannot,
            unsure=unsure,
            labels=labels,
            complete=[self.numbers[item] for item in self.confirmed if item in self.numbers],
            labels_complete=unlabelled == "apart",
        )
        shown = None
        if self.groups is not None:
            groups = self.groups
            alone = {i: f"\0{a}" for i, a in self.numbers.items()}
            shown = partial_labels([groups.get(str(i), alone[str(i)]) for i in self.table.item_ids])
        return self.table, replace(marks, shown=shown), held

    def _believed(self, must: Ints, cannot: Ints) -> Ints:
        """The labels, without those of named items that contradict what was said; these are noted."""
        given = self.table.labels
        if given is None:
            return np.full(len(self.table), UNKNOWN)
        labels = partial_labels(given)
        tied = Evidence.of_pairs(len(labels), must, labels=labels).piece
        wrong = set(tied[cannot[tied[cannot[:, 0]] == tied[cannot[:, 1]]]].ravel().tolist())
        known = labels != UNKNOWN
        pairs = np.unique(np.column_stack([tied[known], labels[known]]), axis=0)
        wrong |= set(pairs[:-1][pairs[:-1, 0] == pairs[1:, 0], 0].tolist())
        named = np.zeros(len(labels), np.bool_)
        named[must.ravel()] = named[cannot.ravel()] = True
        out = np.flatnonzero(named & known & np.isin(tied, list(wrong))).tolist()
        for a in out:
            title = self.table.item_title(a)
            self.notes.append(f"{title}: its label {given[a]!r} contradicts the corrections, which count")
        if out:
            gone = set(out)
            self.table = replace(self.table, labels=[None if a in gone else y for a, y in enumerate(given)])
        return partial_labels(self.table.labels or ())


def _take_store(told: list[_Told], path: str | PathLike[str]) -> None:
    """What a store says: of the sets that have its items, else of its own."""
    with Store(path) as store:
        known = known_of_store(store, indexed=False)
    state = known.state
    said, confirmed = state.statements(), set(state.confirmed())
    named = {item for s in said for item in (s.a, s.b)} | confirmed
    for one in told:
        if named and named <= one.numbers.keys():
            one.statements += said
            one.confirmed |= confirmed
            one.groups = state.groups
            return
    if known.table is None or not named:
        raise DataError(f"{path}: there are no decisions to learn from")
    own = _Told(replace(known.table, name=str(path)))
    own.statements, own.confirmed, own.groups = list(said), confirmed, state.groups
    told.append(own)


def _take_file(told: list[_Told], path: str | PathLike[str]) -> None:
    """What a file says, given to the sets that have the items."""
    found = read_labels(path)
    if found.clusters:
        for item in found.clusters:
            if not any(item in one.numbers for one in told):
                raise DataError(f"{path}: names the item {item!r}, and there is no such item")
        for one in told:
            one.relabel({item: f"{path} {group}" for item, group in found.clusters.items()})
    gone = undone(found.decisions)
    mine: dict[int, list[Decision]] = {}
    for decision in found.decisions:
        if decision.number not in gone and decision.kind not in ("undo", "note"):
            number = _set_of(decision, told)
            mine.setdefault(number, []).append(decision)
            if decision.into is not None:
                told[number].made.add(decision.into)
    for number, said in mine.items():
        one = told[number]
        if all(d.kind in JUDGEMENTS for d in said):
            one.hear(replay(said))
            continue
        state = replay(said, one.named_groups())
        one.regroup(state.groups)
        one.hear(state)


def _set_of(decision: Decision, told: Sequence[_Told]) -> int:
    """The number of the set that a decision is about."""
    groups = [g for g in (decision.group, decision.into) if g is not None]
    if decision.kind in ("move", "split"):
        groups = groups[: decision.kind == "split"]  # the other may be new
    for item in decision.items:
        if not any(item in one.numbers for one in told):
            raise DataError(f"{decision} names {item!r}, and there is no such item")
    able = [n for n, one in enumerate(told) if all(i in one.numbers for i in decision.items)]
    if groups:
        able = [n for n in able if set(groups) <= told[n].made.union(told[n].named_groups().values())]
    what = ", ".join(map(repr, [*decision.items[:3], *groups]))
    if not able:
        raise DataError(f"{decision} names {what}, and no set has {'all of them' if ',' in what else 'it'}")
    if len(able) > 1 or told[able[0]].is_ambiguous:
        raise DataError(f"{decision} names {what}, and several items or sets have these names")
    return able[0]
