"""The smallest change of fields that would part two items which are together, or join two that are apart.

A change makes a field of the two items equal (the second takes the value of the first), unlike (the second
takes a value of another item that shares no word with it), or missing in both. The prediction for the items
of their two clusters is made anew with it. All changes of one field are tried, then of two, and so on, as
long as there are few; then fields are changed one after another, each time the one that moves the similarity
of the two most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.typing import Ints
from clustruct.data import Table, is_missing
from clustruct.features import PairFeatures, check_tables
from clustruct.pipeline import group

Kind = Literal["equal", "unlike", "missing"]
# So many items of the two clusters are looked at, and so many changes are tried one by one.
MOST_ITEMS, MOST_TRIED = 60, 200


@dataclass(frozen=True)
class Change:
    """What is done to one field of the two items, and the values that they have then."""

    field: str
    kind: Kind
    values: tuple[Any, Any]


@dataclass(frozen=True)
class Counterfactual:
    """The smallest change of fields found (none: no change does) that makes the opposite of ``together``.

    ``similarity`` is that with the changes; ``exact`` says whether all smaller changes were tried.
    """

    together: bool
    changes: tuple[Change, ...]
    similarity: float
    exact: bool


def counterfactual(pipeline: Pipeline, table: Table, a: int, b: int, labels: Ints) -> Counterfactual:
    """The smallest change of fields that makes the opposite of what the prediction says of two items."""
    trial = _ClusterPair(pipeline, table, a, b, labels)
    options = trial.options()
    tried = 0
    for size in range(1, len(options) + 1):
        choices = list(_choices(options, size))
        if tried + len(choices) > MOST_TRIED:
            return trial.greedy(options)
        tried += len(choices)
        able = [(changes, K) for changes in choices for done, K in [trial.make(changes)] if done]
        if able:
            best = max(able, key=lambda entry: entry[1] * (-1 if trial.together else 1))
            return Counterfactual(trial.together, best[0], best[1], True)
    return Counterfactual(trial.together, (), trial.make(())[1], True)


def _choices(options: Sequence[Sequence[Change]], size: int) -> Iterator[tuple[Change, ...]]:
    for fields in combinations(options, size):
        yield from product(*fields)


class _ClusterPair:
    """The items of two clusters, predicted again and again with other values in two of them."""

    def __init__(self, pipeline: Pipeline, table: Table, a: int, b: int, labels: Ints) -> None:
        self.pipeline, self.together = check_tables(pipeline), bool(labels[a] == labels[b])
        mates = np.flatnonzero((labels == labels[a]) | (labels == labels[b]))
        others = [int(i) for i in mates if i not in (a, b)][: MOST_ITEMS - 2]
        self.items = [dict(table.items[i]) for i in (a, b, *others)]
        self.table, self.pool = table, [i for i in range(min(len(table), 1000)) if i not in (a, b)]

    def options(self) -> list[list[Change]]:
        """For each field the changes that can be made to it."""
        features = self.pipeline[0]
        assert isinstance(features, PairFeatures)
        used = dict.fromkeys(name for block in features.blocks_ for name in block.used_fields())
        found = [self._of_field(field) for field in used if self.table.has(field)]
        return [changes for changes in found if changes]

    def _of_field(self, field: str) -> list[Change]:
        x, y = (item.get(field) for item in self.items[:2])
        there = not is_missing(x), not is_missing(y)
        found = []
        if self.together:
            if all(there) and (other := self._unlike(field, x, y)) is not None:
                found.append(Change(field, "unlike", (x, other)))
        elif any(there) and x != y:
            same = x if there[0] else y
            found.append(Change(field, "equal", (same, same)))
        if any(there):
            found.append(Change(field, "missing", (None, None)))
        return found

    def _unlike(self, field: str, x: object, y: object) -> object | None:
        """A value of another item that shares no word with the two; else one that is another."""
        known, another = _words(x) | _words(y), None
        for i in self.pool:
            value = self.table.items[i].get(field)
            if is_missing(value) or value in (x, y):
                continue
            if not known & _words(value):
                return value
            another = value if another is None else another
        return another

    def make(self, changes: Sequence[Change]) -> tuple[bool, float]:
        """Whether the two are the other way with these changes, and their similarity then."""
        pair = [dict(item) for item in self.items[:2]]
        for change in changes:
            for item, value in zip(pair, change.values, strict=True):
                item[change.field] = value
        items = Table([*pair, *self.items[2:]], context=self.table.context)
        found = group(self.pipeline, items, pairs=True)
        assert found.scores is not None
        K = found.scores.matrix_or_graph()
        return bool(found.labels[0] == found.labels[1]) != self.together, float(K[0, 1])

    def greedy(self, options: Sequence[Sequence[Change]]) -> Counterfactual:
        """One field after another, then those left out again that are not needed."""
        sign = -1.0 if self.together else 1.0
        left, chosen = list(options), tuple[Change, ...]()
        while left:
            found = [(sign * self.make((*chosen, c))[1], n, c) for n, own in enumerate(left) for c in own]
            _, n, change = max(found, key=lambda entry: entry[0])
            chosen = (*chosen, change)
            del left[n]
            done, K = self.make(chosen)
            if done:
                break
        else:
            return Counterfactual(self.together, (), self.make(())[1], False)
        for change in chosen[:-1]:
            fewer = tuple(c for c in chosen if c != change)
            if (again := self.make(fewer))[0]:
                chosen, K = fewer, again[1]
        return Counterfactual(self.together, chosen, K, False)


def _words(value: object) -> set[str]:
    return set(str(value).lower().split())
