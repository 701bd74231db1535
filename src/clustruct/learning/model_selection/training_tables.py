"""Tables to learn from: their labels, groups and sources, and whether anything can be learned from them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.stats import binom

from clustruct.core.exceptions import DataError, NoLabels
from clustruct.core.partitions import UNKNOWN, canonical_labels, partial_labels
from clustruct.core.random import RandomStateLike, as_generator
from clustruct.core.typing import Bools, Ints, LabelsLike
from clustruct.data import Table, as_text, fold

# One label per item of each set; None: what the sets say themselves.
LabelsOfSets: TypeAlias = Sequence[Sequence[Hashable]] | None
# More values than this are no sources, and one that fewer of the items have is none of two tables.
MOST_SOURCES, SMALLEST_SHARE = 20, 0.01
# The share of true pairs that may lie within a source, and how likely so few of them may be if the field had
# nothing to do with clusters.
MOST_WITHIN, BY_CHANCE = 0.02, 1e-6
# Values of a field that are looked at before all are.
LOOKED_AT = 100
# Clusters that must be known to say that no source has duplicates, and the share of them that may have some.
FEWEST_CLUSTERS, MOST_DOUBLED = 50, 0.02


def label_tables(sets: Iterable[Table], y: LabelsOfSets = None) -> list[Table]:
    """The sets with the labels of y, or else their own; refused where some have none."""
    tables = list(sets)
    if y is not None:
        if len(y) != len(tables):
            raise ValueError(f"{len(tables)} sets but {len(y)} label vectors")
        tables = [replace(table, labels=list(labels)) for table, labels in zip(tables, y, strict=True)]
    if not tables:
        raise DataError("nothing to learn from: no sets")
    for table in tables:
        if not isinstance(table, Table):
            raise TypeError(f"a recipe takes Tables, not {type(table).__name__}; see clustruct.read_sets")
        if table.labels is None:
            raise NoLabels(f"{table.title} has no labels")
    return tables


def known_items(table: Table) -> Bools:
    """Which items of a labelled set have a label."""
    return np.asarray(partial_labels(table.labels or ()) != UNKNOWN)


def check_learnable(sets: Sequence[Table]) -> None:
    labels = [partial_labels(table.labels or ()) for table in sets]
    for table, y in zip(sets, labels, strict=True):
        if (y == UNKNOWN).all():
            raise NoLabels(f"{table.title}: no item has a label")
    if all(len(table) < 2 for table in sets):
        raise DataError("nothing to learn from: no set has two items")
    counts = [int(y.max()) + 1 for y in labels]
    if all(k == 1 and (y != UNKNOWN).all() for k, y in zip(counts, labels, strict=True)):
        raise DataError("nothing to learn from: all items of each set are in one cluster")
    if all(k == np.count_nonzero(y != UNKNOWN) for k, y in zip(counts, labels, strict=True)):
        why = "nothing to learn from: no two items share a cluster"
        names = [set(table.labels or ()) - {None} for table in sets]
        if len(set().union(*names)) < sum(map(len, names)):
            why += " within a set; where files are tables whose rows are to be linked: --source file"
        raise DataError(why)


def groups_of(sets: Sequence[Table]) -> list[str] | None:
    """The group of each set, a set without one being a group of its own; None where no set has one."""
    if all(table.group is None for table in sets):
        return None
    return [f"set {i}" if table.group is None else f"group {table.group}" for i, table in enumerate(sets)]


@dataclass(frozen=True)
class SourceField:
    """A field that says where items come from, and what the labels say of it.

    ``sizes`` are the items of each source, ``pairs`` the labelled pairs together, ``across`` those of two
    sources, ``clusters`` the labelled clusters of two items and more, ``doubled`` those with two of one
    source, ``by_chance`` the share of pairs within a source if the field had nothing to do with clusters.
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
    """The field that looks most like a source, borne out by the labels; of several the one of fewest values.

    ``fields`` are those that may be looked at, all by default.

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
    field = _count_values(sets, name)
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
    field = _count_values(sets, name)
    total = sum(field.sizes.values())
    return field if min(field.sizes.values()) >= SMALLEST_SHARE * total else None


def _count_values(sets: Sequence[Table], name: str) -> SourceField:
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


def split_by_clusters(labels: LabelsLike, n_sets: int, *, random_state: RandomStateLike = 0) -> list[Ints]:
    """Cut a labelled set into ``n_sets`` parts of whole clusters, of nearly equal size.

    A clusterer learns from several sets, and chooses C by holding sets out. Where there is one large set,
    as in record linkage, its clusters are dealt out: the largest first, each to the part that has fewest
    items so far, equal ones in random order. No cluster is cut, so every part is a right clustering
    of its items. Returns the item numbers of each part, in their original order.

    Examples
    --------
    >>> [part.tolist() for part in split_by_clusters(["a", "a", "b", "c", "b", "d"], 2)]
    [[0, 1, 3], [2, 4, 5]]
    """
    y = canonical_labels(labels)
    sizes = np.bincount(y)
    if not 1 <= n_sets <= len(sizes):
        raise ValueError(f"n_sets must be between 1 and the number of clusters, {len(sizes)}, not {n_sets}")
    rng = as_generator(random_state)
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    # scikit-learn's GroupKFold deals in the same way, but orders equal clusters otherwise for a given seed.
    filled = np.zeros(n_sets, np.int64)
    part = np.empty(len(sizes), np.intp)
    for c in order:
        part[c] = np.argmin(filled)
        filled[part[c]] += sizes[c]
    return [np.flatnonzero(part[y] == p) for p in range(n_sets)]
