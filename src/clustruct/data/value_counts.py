"""The different values of a column with their rows, and of many those that are looked at."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clustruct.core.typing import Floats

from .column_types import value_key
from .table import Table
from .values import as_text, fold

LOOKED_AT = 2000  # different values of a field that are looked at, at least
MOST_SETS = 1000  # sets that are looked at, of all parts of the data


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The different values of a column, and how many rows have each.

    Of many, ``sample`` says which are looked at; each of them stands for ``weights`` rows.
    """

    values: list[Any]
    counts: Floats
    rows: int
    # The most rows of a set, and whether no set has a value twice.
    largest: int
    once: bool

    @classmethod
    def of(cls, sets: Sequence[Table], name: str) -> ValueCounts:
        """Those of a column of some sets."""
        some = sets[:: 1 + (len(sets) - 1) // MOST_SETS]
        places: dict[Any, int] = {}
        values, parts, once = list[Any](), list[tuple[Any, Any]](), True
        for table in some:
            codes, own = table.factorize(name)
            counts = np.bincount(codes[codes >= 0], minlength=len(own))
            once = once and bool((counts <= 1).all())
            if len(some) == 1:
                return cls(own, counts.astype(np.float64), len(codes), len(codes), once)
            numbers = [places.setdefault(value_key(value), len(places)) for value in own]
            if len(places) > len(values):
                new = {
                    number: value for number, value in zip(numbers, own, strict=True) if number >= len(values)
                }
                values.extend(new[number] for number in sorted(new))
            parts.append((np.array(numbers, np.int64), counts))
        total = np.zeros(len(values))
        for numbers, counts in parts:
            np.add.at(total, numbers, counts)
        return cls(values, total, sum(map(len, some)), max(map(len, some)), once)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def sample(self) -> tuple[list[Any], Floats]:
        """Values that are looked at, and for how many rows each stands: frequent ones, some of the others."""
        if len(self.values) <= 2 * LOOKED_AT:
            return self.values, self.counts
        mask = 2 ** int(np.log2(len(self.values) / LOOKED_AT)) - 1
        sums = [
            zlib.crc32((v if type(v) is str else as_text(v)).encode("utf-8", "surrogatepass")) & mask
            for v in self.values
        ]
        often = self.counts >= max(self.rows / LOOKED_AT, 2)
        chosen = often | (np.array(sums) == 0)
        rest = self.counts[~often].sum() / max(self.counts[chosen & ~often].sum(), 1.0)
        kept = np.flatnonzero(chosen)
        weights = np.where(often[kept], 1.0, rest) * self.counts[kept]
        return [self.values[k] for k in kept.tolist()], weights

    def texts(self) -> list[tuple[str, float]]:
        """The looked at values as texts, with their rows."""
        return [(as_text(v), w) for v, w in zip(*(self.sample[0], self.sample[1].tolist()), strict=True)]

    def share(self, test: Callable[[Any], float]) -> float:
        """The mean of a test over the rows that have a value."""
        values, weights = self.sample
        total = float(weights.sum())
        found = np.fromiter((float(test(v)) for v in values), np.float64, len(values))
        return float(found @ weights) / total if total else 0.0

    def without(self, placeholders: Sequence[str]) -> ValueCounts:
        """The same without some folded values."""
        if not placeholders:
            return self
        words, least = frozenset(placeholders), max(map(len, placeholders))
        kept = [
            k
            for k, value in enumerate(self.values)
            if len(text := as_text(value)) > 2 * least + 20 or fold(text) not in words
        ]
        return replace(self, values=[self.values[k] for k in kept], counts=self.counts[kept])


def entropy_bits(counts: Floats) -> float:
    """The entropy of values with these counts, in bits."""
    p = np.sort(counts[counts > 0]) / max(float(counts.sum()), 1.0)
    return max(0.0, float(-(p * np.log2(p)).sum()))
