"""Fields that look like the source of an item: few values, and what belongs together is across them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from clustruct.core.exceptions import DataError
from clustruct.core.partitions import canonical_labels, partial_labels
from clustruct.core.typing import Ints
from clustruct.data import Table, as_text, fold

# More values than this are no sources, and one that fewer of the items have is none of two tables.
MOST_SOURCES, SMALLEST_SHARE = 20, 0.01
# The share of true pairs that may lie within a source, and how likely so few of them may be if the field had
# nothing to do with clusters.
MOST_WITHIN, BY_CHANCE = 0.02, 1e-6
# Values of a field that are looked at before all are.
LOOKED_AT = 100
# Clusters that must be known to say that no source has duplicates, and the share of them that may have some.
FEWEST_CLUSTERS, MOST_DOUBLED = 50, 0.02


@dataclass(frozen=True)
class SourceField:
    """A field that says where items come from, and what the labels say of it.

    field :  its name
    sizes :  how many items each source has, largest first
    pairs :  how many labelled pairs belong together; across : how many of them are of two sources
    clusters : how many labelled clusters have two items and more; doubled : how many of them have two of one
        source
    by_chance : the share of pairs within a source if the field had nothing to do with clusters
    """

    field: str
    sizes: dict[str, int]
    pairs: int = 0
    across: int = 0
    clusters: int = 0
    doubled: int = 0
    by_chance: float = 0.0

    @property
    def is_borne_out(self) -> bool:
        """Whether true pairs are nearly all across sources, and that is no chance."""
        within = self.pairs - self.across
        chance = float(binom.cdf(within, self.pairs, self.by_chance))
        return within <= MOST_WITHIN * self.pairs and chance < BY_CHANCE

    @property
    def has_no_duplicates(self) -> bool:
        """Whether so many clusters are known, hardly one with two items of a source, that it may be ruled
        out.
        """
        return self.clusters >= FEWEST_CLUSTERS and self.doubled <= MOST_DOUBLED * self.clusters


def find_source(sets: Sequence[Table], fields: Sequence[str] | None = None) -> SourceField | None:
    """The field that looks most like a source, borne out by the labels; None where there is none.

    ``fields`` are those that may be looked at, all by default. Of several the one of fewest values counts.
    O(items) for each field.

    >>> items = [{"shop": "ab"[k % 2], "name": k // 2} for k in range(60)]
    >>> found = find_source([Table(items, labels=[k // 2 for k in range(60)])])
    >>> found.field, found.sizes, found.pairs, found.across
    ('shop', {'a': 30, 'b': 30}, 30, 30)
    """
    names = dict.fromkeys(name for table in sets for name in table.fields()) if fields is None else fields
    found = [_looked_at(sets, name) for name in names if _has_few_values(sets, name)]
    suited = [field for field in found if field is not None and field.is_borne_out]
    return min(suited, key=lambda field: len(field.sizes), default=None)


def named_source(sets: Sequence[Table], name: str) -> SourceField:
    """What the labels say of a field that is said to be the source. `DataError` where it cannot be."""
    if not any(table.has(name) for table in sets):
        there = dict.fromkeys(field for table in sets for field in table.fields())
        raise DataError(f"no item has the field {name!r} of the sources; there are {', '.join(there)}")
    for table in sets:
        codes = table.factorize(name).codes
        if (codes < 0).any():
            raise DataError(
                f"{table.item_title(int(np.argmin(codes)))} has no source (the field {name!r} is empty)"
            )
    field = _counted(sets, name)
    if len(field.sizes) == 1:
        raise DataError(
            f"all items have one source, {next(iter(field.sizes))!r} (the field {name!r}): nothing to link"
        )
    return field


def _has_few_values(sets: Sequence[Table], name: str) -> bool:
    """Whether every item has one of a few values; quick to tell for most fields."""
    seen = set[str]()
    for table in sets:
        some = table.some(name, slice(0, LOOKED_AT))
        if not all(isinstance(v, str | int | float) for v in some) or len(set(some)) > MOST_SOURCES:
            return False
        codes, values = table.factorize(name)
        if len(values) > MOST_SOURCES or (codes < 0).any():
            return False
        seen.update(fold(as_text(v)) for v in values)
    return 2 <= len(seen) <= MOST_SOURCES


def _looked_at(sets: Sequence[Table], name: str) -> SourceField | None:
    field = _counted(sets, name)
    total = sum(field.sizes.values())
    return field if min(field.sizes.values()) >= SMALLEST_SHARE * total else None


def _counted(sets: Sequence[Table], name: str) -> SourceField:
    """Sizes of the sources, and labelled pairs within and across them."""
    numbers: dict[str, int] = {}
    sizes = np.zeros(0, np.int64)
    found = SourceField(name, {})
    chance = 0.0
    for table in sets:
        codes, values = table.factorize(name)
        place = [numbers.setdefault(fold(as_text(v)), len(numbers)) for v in values]
        of_item = np.array(place, np.int64)[codes]
        sizes = np.concatenate([sizes, np.zeros(len(numbers) - len(sizes), np.int64)])
        sizes += np.bincount(of_item, minlength=len(numbers))
        labels = partial_labels(table.labels or [None] * len(table))
        known = labels >= 0
        if not known.any():
            continue
        more = _pairs(labels[known], of_item[known])
        share = np.bincount(of_item[known]) / np.count_nonzero(known)
        chance += more[0] * float((share**2).sum())
        sums = (found.pairs, found.across, found.clusters, found.doubled)
        pairs, across, clusters, doubled = (a + b for a, b in zip(sums, more, strict=True))
        found = replace(found, pairs=pairs, across=across, clusters=clusters, doubled=doubled)
    order = np.argsort(-sizes, kind="stable").tolist()
    names = list(numbers)
    held = {names[k]: int(sizes[k]) for k in order}
    return replace(found, sizes=held, by_chance=chance / found.pairs if found.pairs else 0.0)


def _pairs(labels: Ints, sources: Ints) -> tuple[int, int, int, int]:
    """Pairs together, those of two sources, clusters of two items and more, those with a source twice.

    >>> _pairs(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 1, 1]))
    (4, 3, 2, 1)
    """
    y = canonical_labels(labels)
    cells, first = np.unique(y * (int(sources.max()) + 1) + sources, return_inverse=True)
    sizes, inside = np.bincount(y), np.bincount(first)
    pairs, within = (int((n * (n - 1) // 2).sum()) for n in (sizes, inside))
    of_cell = cells // (int(sources.max()) + 1)
    doubled = len(np.unique(of_cell[inside > 1]))
    return pairs, pairs - within, int(np.count_nonzero(sizes > 1)), doubled
