"""What people corrected, as something to learn from: decisions, labelled pairs and groups, of files and
stores, for the sets whose items they name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from clustruct.core.exceptions import DataError, DataWarning
from clustruct.core.formatting import count
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Ints
from clustruct.data import Evidence, Table
from clustruct.learning.problems.training import Unlabelled

from .decisions import (
    JUDGEMENTS,
    Decision,
    Disagreement,
    PairJudgement,
    evidence_of,
    most_consistent,
    settle,
    settle_pairs,
)
from .files import read_labels
from .known import KnownItems, known_of_store
from .log_replay import State, replay, undone
from .record_pairs import RecordPair, RowsByValue, find_pair
from .schema import is_store
from .store import Store

# Names of items that are not there which a warning shows.
SHOWN = 3


@dataclass(frozen=True)
class Corrections:
    """Sets and people's judgements of them.

    Attributes
    ----------
    sets : list of Table
        Those given, with labels as they are after the corrections; then those of stores.
    evidence : list of Evidence or None
        For each set what is known of its items; None: nothing was said of it.
    n_same, n_different, n_unsure : int
        Pairs of items that people judged.
    notes : tuple of str
        Labels that do not count, since people said otherwise; one line each.
    """

    sets: list[Table]
    evidence: list[Evidence | None]
    n_same: int
    n_different: int
    n_unsure: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        counts = [(self.n_same, "the same"), (self.n_different, "different"), (self.n_unsure, "unsure")]
        pairs = ", ".join(f"{n:,} {word}" for n, word in counts if n)
        named = sum(int(np.count_nonzero(e.named)) for e in self.evidence if e is not None)
        return f"corrections name {count(named, 'item')}; pairs: {pairs or 'none'}"


def corrections(
    sets: Sequence[Table],
    *sources: str | PathLike[str],
    seen: Sequence[KnownItems] = (),
    unlabelled: Unlabelled = "apart",
    disagreement: Disagreement = "error",
    pair: tuple[str, str] | None = None,
    answer: str | None = None,
) -> Corrections:
    """The corrections of files and stores, for `Recipe.fit`.

    A file has decisions, labelled pairs or groups (`read_labels`). Decisions about groups name the labels of
    the sets, and change them. Groups by one person are labels of items that have none; by several they are
    pairs. Of a store its own items count, where no set has them, and its groups are those that people saw.
    What is wrong is a `DataError` that names file and line: contradictions, cycles (a is b, b is c, a is not
    c), people who disagree, groups that are not there. Labelled pairs of items that are not there do not
    count, with a warning; where that is so of all pairs of a file, it is an error.

    Parameters
    ----------
    sets : sequence of Table
        Sets to learn from; labels None or missing where not known.
    *sources : path
        Files and stores.
    seen : sequence of KnownItems, default=()
        Further items, with the groups that people saw and corrected (`known_of_table`).
    unlabelled : {"apart", "unknown"}, default="apart"
        As for `Recipe`.
    disagreement : {"error", "majority"}, default="error"
        As for `settle`; with "majority" pairs that contradict what most others say together do not count,
        either, and are noted.
    pair, answer : optional
        The columns of labelled pairs, as for `read_labels`.

    Returns
    -------
    Corrections
        Sets with corrected labels, and evidence of their items.
    """
    corrected = [_CorrectedSet(table) for table in sets]
    for known in seen:
        assert known.table is not None
        bare = replace(known.table, labels=None)
        corrected.append(_CorrectedSet(bare, groups=known.state.groups or None))
    for source in sources:
        if is_store(source):
            _take_store(corrected, source)
        else:
            _take_file(corrected, source, pair, answer)
    holding = [one.settle(disagreement) for one in corrected]
    evidence = [one.evidence(h, unlabelled) for one, h in zip(corrected, holding, strict=True)]
    answers = [judged.answer for h in holding for judged in h]
    return Corrections(
        [one.table for one in corrected],
        evidence,
        answers.count("same"),
        answers.count("different"),
        answers.count("unsure"),
        tuple(note for one in corrected for note in one.notes),
    )


@dataclass
class _CorrectedSet:
    """A set and what was said of it so far."""

    table: Table
    judgements: list[PairJudgement] = field(default_factory=list)
    confirmed: set[str] = field(default_factory=set)
    groups: Mapping[str, str] | None = None  # those that people saw
    notes: list[str] = field(default_factory=list)
    new_groups: set[str] = field(default_factory=set)  # ids that decisions have given

    def __post_init__(self) -> None:
        self.numbers = {str(name): a for a, name in enumerate(self.table.item_ids)}
        self._rows = dict[tuple[str, ...], RowsByValue]()

    @cached_property
    def _other_names(self) -> dict[str, str]:
        """Items whose ids name the file of their table, by the names that they have without its ending."""
        names = ((name.partition(":"), name) for name in self.numbers)
        return {f"{Path(table).stem}:{own}": name for (table, colon, own), name in names if colon}

    def item_of(self, name: str) -> str | None:
        """The id of the item that a labelled pair calls so: numbers may be written as 12.0, and tables named
        without their ending.
        """
        for known in (name, name.removesuffix(".0")):
            if known in self.numbers:
                return known
            if known in self._other_names:
                return self._other_names[known]
        return None

    def rows_by(self, record: Mapping[str, object]) -> RowsByValue:
        """The rows by the fields that a record and the table have."""
        fields = tuple(name for name in record if self.table.has(name))
        if fields not in self._rows:
            self._rows[fields] = RowsByValue(self.table, fields)
        return self._rows[fields]

    def settle(self, disagreement: Disagreement) -> list[PairJudgement]:
        """The judgements that hold; with "majority" those that most others contradict are noted."""
        if disagreement == "error":
            try:
                return settle(self.judgements)
            except DataError as error:
                advice = (
                    "--disagreement majority, or disagreement='majority', leaves out what most contradict"
                )
                raise DataError(f"{error} ({advice})") from None
        voted = settle_pairs(self.judgements, None, disagreement)
        holding = most_consistent(voted)
        kept = set(map(id, holding))
        self.notes += [
            f"{j}, which most others contradict: it does not count" for j in voted if id(j) not in kept
        ]
        return holding

    def labels(self) -> dict[str, str]:
        """The label of each item that has one."""
        given = self.table.labels or [None] * len(self.table)
        known = partial_labels(given) if self.table.labels is not None else np.full(len(self.table), UNKNOWN)
        ids = map(str, self.table.item_ids)
        return {i: str(y) for i, y, k in zip(ids, given, known, strict=True) if k != UNKNOWN}

    def named_groups(self) -> Mapping[str, str]:
        """The groups that decisions mean: those that people saw, else the labels."""
        return self.labels() if self.groups is None else self.groups

    def relabel(self, groups: Mapping[str, str]) -> None:
        """Labels of the items named, the others keep theirs."""
        mine = {**self.labels(), **{i: g for i, g in groups.items() if i in self.numbers}}
        self.table = replace(self.table, labels=[mine.get(str(i)) for i in self.table.item_ids])

    def add(self, state: State) -> None:
        """What decisions say of items."""
        self.judgements += state.judgements()
        self.confirmed |= set(state.confirmed_items())

    def evidence(self, holding: Sequence[PairJudgement], unlabelled: Unlabelled) -> Evidence | None:
        """What is known; labels that contradict what was said are taken from the table."""
        if not self.judgements and not self.confirmed:
            return None
        known = evidence_of(
            holding,
            self.numbers,
            labels=self._drop_wrong_labels(evidence_of(holding, self.numbers)),
            complete=self.confirmed,
            labels_complete=unlabelled == "apart",
        )
        if self.groups is None:
            return known
        groups = [self.groups.get(str(i), f"\0{self.numbers[str(i)]}") for i in self.table.item_ids]
        return replace(known, shown=partial_labels(groups))

    def _drop_wrong_labels(self, judged: Evidence) -> Ints:
        """The labels, without those of named items that contradict what was said; these are noted."""
        given = self.table.labels
        if given is None:
            return np.full(len(self.table), UNKNOWN)
        labels, must, cannot = partial_labels(given), judged.must_link, judged.cannot_link
        tied = Evidence.of_pairs(len(labels), must, labels=labels).piece
        both = np.stack([tied[cannot[:, 0]], tied[cannot[:, 1]]], axis=1)
        wrong = set(both[(both[:, 0] == both[:, 1]) & (both[:, 0] != UNKNOWN)].ravel().tolist())
        known = labels != UNKNOWN
        pairs = np.unique(np.column_stack([tied[known], labels[known]]), axis=0)
        wrong |= set(pairs[:-1][pairs[:-1, 0] == pairs[1:, 0], 0].tolist())
        named = np.isin(judged.piece, np.concatenate([judged.apart.ravel(), judged.piece[must].ravel()]))
        removed = np.flatnonzero(named & known & np.isin(tied, list(wrong))).tolist()
        if not removed:
            return labels
        for a in removed:
            title = self.table.item_title(a)
            self.notes.append(f"{title}: its label {given[a]!r} contradicts the corrections, which count")
        left: list[object] = list(given)
        for a in removed:
            left[a] = None
        self.table = replace(self.table, labels=left)
        return partial_labels(left)


def _take_store(corrected: list[_CorrectedSet], path: str | PathLike[str]) -> None:
    """What a store says: of the sets that have its items, else of its own."""
    with Store(path) as store:
        known = known_of_store(store, indexed=False)
    state = known.state
    named = {item for judged in state.judgements() for item in (judged.a, judged.b)} | set(
        state.confirmed_items()
    )
    one = next((one for one in corrected if named and named <= one.numbers.keys()), None)
    if one is None:
        if known.table is None or not named:
            raise DataError(f"{path}: there are no decisions to learn from")
        one = _CorrectedSet(replace(known.table, name=str(path)))
        corrected.append(one)
    one.add(state)
    one.groups = state.groups


def _take_file(
    corrected: list[_CorrectedSet],
    path: str | PathLike[str],
    pair: tuple[str, str] | None,
    answer: str | None,
) -> None:
    """What a file says, given to the sets that have the items."""
    found = read_labels(path, pair=pair, answer=answer)
    if found.clusters:
        for item in found.clusters:
            if not any(item in one.numbers for one in corrected):
                raise DataError(f"{path}: names the item {item!r}, and there is no such item")
        for one in corrected:
            one.relabel({item: f"{path} {group}" for item, group in found.clusters.items()})
    decisions = found.decisions
    if found.form == "pairs":
        decisions = tuple(_with_known_items(decisions, corrected, path))
    elif found.form == "records":
        decisions = tuple(_with_rows(found.records, corrected, path))
    out = undone(decisions)
    by_set: dict[int, list[Decision]] = {}
    for decision in decisions:
        if decision.number not in out and decision.kind not in ("undo", "note"):
            number = _set_of(decision, corrected)
            by_set.setdefault(number, []).append(decision)
            if decision.into is not None:
                corrected[number].new_groups.add(decision.into)
    for number, own in by_set.items():
        one = corrected[number]
        if all(d.kind in JUDGEMENTS for d in own):
            one.add(replay(own))
            continue
        state = replay(own, one.named_groups())
        if one.groups is None:  # people had the labels before them
            one.relabel(state.groups)
        else:
            one.groups = dict(state.groups)
        one.add(state)


def _with_known_items(
    decisions: Sequence[Decision], corrected: Sequence[_CorrectedSet], path: str | PathLike[str]
) -> Iterator[Decision]:
    """Labelled pairs of items that are there, by their ids; it is told how many are not."""
    missing, names = list[Decision](), dict[str, None]()
    for decision in decisions:
        own = {a: next(filter(None, (one.item_of(a) for one in corrected)), None) for a in decision.items}
        names |= dict.fromkeys(a for a, item in own.items() if item is None)
        items = tuple(item for item in own.values() if item is not None)
        if len(set(items)) == len(decision.items):
            yield replace(decision, items=items)
        else:
            missing.append(decision)
    if missing and len(missing) == len(decisions):
        raise DataError(f"{missing[0]} names {next(iter(names), '')!r}, and there is no such item")
    if missing:
        shown = ", ".join(map(repr, [*names][:SHOWN]))
        _warn_of_missing(path, len(missing), len(decisions), f"name items that are not in the data ({shown})")


def _with_rows(
    pairs: Sequence[RecordPair], corrected: Sequence[_CorrectedSet], path: str | PathLike[str]
) -> Iterator[Decision]:
    """Labelled pairs of records as pairs of the rows that have their values; the others are counted."""
    missing = 0
    for pair in pairs:
        for one in corrected:
            rows = find_pair(one.rows_by({**pair.first, **pair.second}), pair)
            if rows is not None:
                names = tuple(str(one.table.item_ids[a]) for a in rows)
                yield Decision(pair.kind, names, number=pair.number, source=str(path))
                break
        else:
            missing += 1
    if missing == len(pairs):
        raise DataError(f"{path}: no two records of a labelled pair are rows of the data")
    if missing:
        _warn_of_missing(path, missing, len(pairs), "have a record that is no row of the data")


def _warn_of_missing(path: str | PathLike[str], missing: int, n: int, why: str) -> None:
    text = f"{path}: {missing:,} of {count(n, 'labelled pair')} {why}: they do not count"
    warnings.warn(text, DataWarning, stacklevel=5)


def _set_of(decision: Decision, corrected: Sequence[_CorrectedSet]) -> int:
    """The number of the set that a decision is about."""
    groups = [g for g in (decision.group, decision.into) if g is not None]
    if decision.kind in ("move", "split"):
        groups = groups[: decision.kind == "split"]  # the other may be new
    for item in decision.items:
        if not any(item in one.numbers for one in corrected):
            raise DataError(f"{decision} names {item!r}, and there is no such item")
    able = [n for n, one in enumerate(corrected) if all(i in one.numbers for i in decision.items)]
    if groups:
        able = [
            n
            for n in able
            if set(groups) <= corrected[n].new_groups.union(corrected[n].named_groups().values())
        ]
    what = ", ".join(map(repr, [*decision.items[:3], *groups]))
    if not able:
        raise DataError(f"{decision} names {what}, and no set has {'all of them' if ',' in what else 'it'}")
    one = corrected[able[0]]
    if len(able) > 1 or len(one.numbers) < len(one.table):
        raise DataError(f"{decision} names {what}, and several items or sets have these names")
    return able[0]
