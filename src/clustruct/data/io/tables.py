"""Tables: which column (or key) is what, which rows are wanted, and what is wrong with their values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from clustruct.core.exceptions import DataError, NoLabels
from clustruct.core.text import place
from clustruct.core.typing import Bools
from clustruct.data.records import Column, is_missing

T = TypeVar("T")
LabelUse = Literal["required", "partial", "skip", "ignored"]


@dataclass(frozen=True)
class Columns:
    """Names of columns in tables, of keys in JSON.


    Columns named here are never fields, so that an answer is never taken for a feature.

    Attributes
    ----------
    set : str, optional
        Which set an item belongs to (JSONL: the set's name, "id" where not given).
    id : str, optional
        The name of an item ("id" where not given and there).
    cluster : str, optional
        The right cluster (JSONL: "labels" or "clusters" of the set where not given).
    group : str, optional
        Sets of one group stay together in cross-validation ("group" where not given and there).
    fields : sequence of str, optional
        The fields to keep; all others are left out. None: all.
    left_out : frozenset of str, optional
        Further columns that are not fields.
    remembered : frozenset of str, optional
        Names that were not given now but with the training; they count where they are there.
    repeated_ids : bool, default=False
        Number ids that appear more than once in a set, instead of refusing them.
    whole : bool, default=False
        All columns but those of sets and ids are fields: for rows that are written again with all they had.
    where, without : mapping
        Values that a column must have, or must not have, for its rows to be read.
    """

    set: str | None = None
    id: str | None = None
    cluster: str | None = None
    group: str | None = None
    fields: Sequence[str] | None = None
    left_out: frozenset[str] = frozenset()
    remembered: frozenset[str] = frozenset()
    repeated_ids: bool = False
    whole: bool = False
    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def roles(self) -> frozenset[str]:
        """All columns that say something about an item but are not fields of it."""
        if self.whole:
            return frozenset([n for n in (self.set, self.id) if n is not None])
        named = (self.set, self.id, self.cluster, self.group)
        return self.left_out.union([n for n in named if n is not None], self.where, self.without)

    def present(self, names: Iterable[str]) -> Columns:
        """Without the remembered ones that are not among the names."""
        gone = self.remembered - frozenset(names)
        roles = ("set", "id", "cluster", "group")
        changes: dict[str, Any] = {role: None for role in roles if getattr(self, role) in gone}
        if self.fields is not None:
            changes["fields"] = [name for name in self.fields if name not in gone]
        return replace(self, **changes)

    def wants(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has the values asked for."""
        return all(_text(row.get(c)) in values for c, values in self.where.items()) and not any(
            _text(row.get(c)) in values for c, values in self.without.items()
        )

    def chosen(self, columns: Mapping[str, Column]) -> Bools | None:
        """Which rows have the values asked for, each distinct value looked at once; None: all."""
        found: Bools | None = None
        for named, wanted in ((self.where, True), (self.without, False)):
            for name, values in named.items():
                codes, words = columns[name].coded()
                right = np.array(
                    [*((_text(word) in values) == wanted for word in words), ("" in values) == wanted]
                )
                found = right[codes] if found is None else found & right[codes]
        return found

    def needed(self, header: Iterable[str]) -> frozenset[str]:
        """The columns of a table that are looked at at all."""
        fields = frozenset(header if self.fields is None else self.fields) - self.left_out
        roles = (self.set, self.id or "id", self.cluster, self.group)
        return fields.union([n for n in roles if n is not None], self.where, self.without)

    def kept(self, item: Mapping[str, T], also: frozenset[str] = frozenset()) -> dict[str, T]:
        """The fields of an item or a table, without those that play another part or are named in ``also``."""
        left_out = self.roles() | also
        if self.fields is None:
            return {name: value for name, value in item.items() if name not in left_out}
        return {name: item[name] for name in self.fields if name in item and name not in left_out}


def _text(value: object) -> str:
    return "" if value is None else str(value)


def check_labels(
    labels: Sequence[Any],
    ids: Sequence[Hashable] | None,
    where: Sequence[str],
    use: LabelUse = "required",
) -> list[Hashable]:
    """Labels that are there (or None, where they are "partial") and can be compared; otherwise an error with
    the place of the item.
    """
    for a, label in enumerate(labels):
        name = f"item {a + 1}" if ids is None else f"item {ids[a]!r}"
        if use != "partial" and is_missing(label):
            raise NoLabels(f"{where[a]}: {name} has no cluster (--skip-unlabelled leaves such items out)")
        if isinstance(label, list | dict):
            raise DataError(f"{where[a]}: the cluster of {name} must be a number or a string")
    return [None if is_missing(label) else label for label in labels]


def check_ids(ids: Sequence[Any], where: Sequence[str], title: str, repeated: bool = False) -> list[Hashable]:
    """Ids that are there and different; where ``repeated``, the second "7" becomes "7 (2)"."""
    seen: dict[Hashable, int] = {}
    found: list[Hashable] = []
    for a, name in enumerate(ids):
        if is_missing(name) or isinstance(name, list | dict):
            raise DataError(f"{where[a]}: item {a + 1} of {title} has no id")
        times = 1
        while repeated and name in seen:
            times += 1
            name = f"{ids[a]} ({times})"
        found.append(name)
        first = seen.setdefault(name, a)
        if first != a:
            before = "" if where[first] == where[a] else f" (first at {where[first]})"
            raise DataError(
                f"{where[a]}: the id {name!r} appears twice in {title}{before}; --number-ids allows it"
            )
    return found


def check_present(
    columns: Sequence[str],
    wanted: Sequence[str | None],
    path: Path | None,
    line: int | None,
    fault: type[DataError] = DataError,
) -> None:
    """Every named column is there."""
    for name in wanted:
        if name is not None and name not in columns:
            shown = ", ".join(map(str, columns[:20])) + (" ..." if len(columns) > 20 else "")
            raise fault(f"{place(path, line)}: there is no column {name!r}; there are {shown}")


def check_header(header: Sequence[str], where: str) -> None:
    """No two columns have one name."""
    seen = set[str]()
    for name in header:
        if name in seen:
            raise DataError(f"{where}: two columns are named {name!r}")
        seen.add(name)
