"""Clusterings with a largest size of clusters, and with bounds on their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clustruct.core.formatting import count
from clustruct.core.partitions import canonical_labels, chained_pairs
from clustruct.core.typing import Floats, Ints
from clustruct.data import PairScores

from .graph import Pairs, check_labels, link_groups, local_search

# How often the threshold is halved in the search for one that gives enough clusters.
HALVINGS = 12


def bounded_search(
    scores: PairScores,
    labels: Ints,
    *,
    max_size: int | None = None,
    min_groups: int | None = None,
    max_groups: int | None = None,
    must_link: Pairs | None = None,
    cannot_link: Pairs | None = None,
    random_state: int = 0,
) -> Ints:
    r"""A clustering near a given one that keeps to bounds on the size and the number of its clusters.

    .. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab} \quad |c| \le \text{max\_size}, \quad
              \text{min\_groups} \le k \le \text{max\_groups}

    searched greedily: clusters that are too large are built anew from single items, the two parts of
    largest sum first, as long as they fit; too few clusters are cut where a rising threshold cuts them
    first; of too many those of largest sum are merged, then (no pair of them is listed) the smallest ones.
    Bounds and links hold exactly, where the clustering given holds the links; a `ValueError` says where
    they cannot, or where the search found no such clustering: with cannot-links that question is as hard as
    colouring graphs.

    Cost O(pairs log pairs), and at most 12 searches where there are too few clusters.

    Examples
    --------
    >>> K = np.array([[0.0, 3, 2, 2], [3, 0, 2, 2], [2, 2, 0, 3], [2, 2, 3, 0]])
    >>> bounded_search(PairScores(4, matrix=K), np.zeros(4, int), max_size=2)
    array([0, 0, 1, 1])
    """
    y = check_labels(labels, scores.n_items)
    pieces, apart = link_groups(scores.n_items, must_link, cannot_link)
    bounds = _Bounds(pieces, apart, max_size, min_groups, max_groups)
    bounds.check()
    if bounds.hold(y):
        return y
    search = _Repair(*scores.pairs_and_scores(), bounds, random_state)
    y = search.merge_more(search.cut_more(search.cut_large(y)))
    if not bounds.hold(y):
        raise ValueError(f"no clustering was found with {bounds}")
    return y


@dataclass(frozen=True)
class _Bounds:
    """What must hold: pieces of items that stay together, pieces kept apart, sizes and numbers."""

    pieces: Ints
    apart: Ints
    max_size: int | None
    min_groups: int | None
    max_groups: int | None

    @property
    def most(self) -> int:
        return len(self.pieces) if self.max_size is None else self.max_size

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.pieces)

    def __str__(self) -> str:
        limits = [("at most", self.max_size, "item", " in each"), ("at least", self.min_groups, "group", "")]
        limits.append(("at most", self.max_groups, "group", ""))
        parts = [f"{how} {count(n, what)}{where}" for how, n, what, where in limits if n is not None]
        links = len(self.apart) or len(self.sizes) < len(self.pieces)
        return ", ".join(parts) + (" that keeps the links" if links else "")

    def check(self) -> None:
        """Refuse what cannot be."""
        n, largest = len(self.pieces), int(self.sizes.max(initial=0))
        for name in ("max_size", "min_groups", "max_groups"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if largest > self.most:
            raise ValueError(f"{count(largest, 'item')} must be together, and max_size is {self.most}")
        if self.min_groups is not None and self.min_groups > len(self.sizes):
            more = "" if len(self.sizes) == n else f" in {len(self.sizes):,} pieces that must be together"
            raise ValueError(f"{count(n, 'item')}{more} cannot make {count(self.min_groups, 'group')}")
        if self.max_groups is not None and self.max_groups < (self.min_groups or 1):
            raise ValueError(f"min_groups is {self.min_groups}, above max_groups, {self.max_groups}")
        if self.max_groups is not None and self.max_groups * self.most < n:
            room = f"{count(self.max_groups, 'group')} of {count(self.most, 'item')}"
            raise ValueError(f"{count(n, 'item')} do not fit into {room}")

    def hold(self, y: Ints) -> bool:
        """Whether a clustering keeps all of them."""
        first = np.unique(self.pieces, return_index=True)[1]
        of_piece, k = y[first], int(y.max(initial=-1)) + 1
        joined = of_piece[self.apart]
        return bool(
            np.bincount(y, minlength=1).max() <= self.most
            and (of_piece[self.pieces] == y).all()
            and not (joined[:, 0] == joined[:, 1]).any()
            and k >= (self.min_groups or 0)
            and k <= (k if self.max_groups is None else self.max_groups)
        )


@dataclass(frozen=True)
class _Repair:
    """Listed scores of items, and the bounds."""

    index: Ints
    values: Floats
    bounds: _Bounds
    random_state: int

    def cut_large(self, y: Ints) -> Ints:
        """Build clusters that are too large, or that break a link, anew."""
        large = np.bincount(y) > self.bounds.most
        if not large.any():
            return y
        wanted = large[y]
        nodes = np.where(wanted, len(y) + self.bounds.pieces, y)
        ends = wanted[self.index].all(axis=1) & (y[self.index[:, 0]] == y[self.index[:, 1]])
        return self._merge(canonical_labels(nodes), 0, 0.0, ends)

    def cut_more(self, y: Ints) -> Ints:
        """Cut clusters until there are enough: by the smallest rise of the threshold that does it, after
        which parts are joined again as long as there are enough.
        """
        wanted = self.bounds.min_groups or 0
        if int(y.max(initial=-1)) + 1 >= wanted:
            return y
        inside = y[self.index[:, 0]] == y[self.index[:, 1]]
        low, high = 0.0, float(np.abs(self.values[inside]).max(initial=0.0)) * (1.0 + 1e-9) + 1e-300
        finest = self._above(inside, high)
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            found = self._above(inside, middle)
            if int(found.max()) + 1 >= wanted:
                high, finest = middle, found
            else:
                low = middle
        return self._merge(finest, wanted, 0.0, inside)

    def _above(self, which: Ints, threshold: float) -> Ints:
        """The clustering by some of the pairs, their scores less a threshold."""
        pieces = self.bounds.pieces
        part = PairScores(len(pieces), index=self.index[which], values=self.values[which] - threshold)
        found = local_search(part, must_link=chained_pairs(pieces), random_state=self.random_state)
        # Pairs that are kept apart stay so: all of this is inside clusters that hold the links.
        return canonical_labels(found)

    def merge_more(self, y: Ints) -> Ints:
        """Merge clusters until there are few enough."""
        wanted = self.bounds.max_groups
        if wanted is None or int(y.max(initial=-1)) + 1 <= wanted:
            return y
        y = self._merge(y, wanted, -np.inf)
        k = int(y.max()) + 1
        if k > wanted:
            first = np.unique(self.bounds.pieces, return_index=True)[1]
            apart = np.unique(np.sort(y[first][self.bounds.apart], axis=1), axis=0)
            packed = packed_into(np.bincount(y), apart, wanted, self.bounds.most)
            y = canonical_labels(packed[y]) if packed is not None else y
        if int(y.max()) + 1 > wanted:  # whole clusters do not fit: scores have no say any more
            packed = packed_into(self.bounds.sizes, self.bounds.apart, wanted, self.bounds.most)
            y = canonical_labels(packed[self.bounds.pieces]) if packed is not None else y
        return y

    def _merge(self, nodes: Ints, wanted: int, least: float, which: Ints | None = None) -> Ints:
        """Nodes (of each item, canonical) merged by the sums of the pairs between them."""
        from clustruct.search._kernels.anchored import merge_up_to_size

        chosen = slice(None) if which is None else which
        low, high = np.sort(nodes[self.index[chosen]], axis=1).T
        n, off = int(nodes.max()) + 1, low != high
        first = np.unique(self.bounds.pieces, return_index=True)[1]
        apart = nodes[first][self.bounds.apart]
        rows = np.concatenate([low[off], high[off], apart[:, 0], apart[:, 1]])
        columns = np.concatenate([high[off], low[off], apart[:, 1], apart[:, 0]])
        values = self.values[chosen][off]
        data = np.concatenate([values, values, np.full(2 * len(apart), -np.inf)])
        graph = sparse.csr_array((data, (rows, columns)), shape=(n, n))
        graph.sum_duplicates()
        indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        sizes = np.bincount(nodes).astype(np.int64)
        roots = merge_up_to_size(indptr, indices, graph.data, sizes, self.bounds.most, wanted, least)
        return canonical_labels(roots[nodes])


def packed_into(sizes: Ints, apart: Ints, n_bins: int, most: int) -> Ints | None:
    """The bin of each thing, the largest first, each into the bin that is least filled and holds none that
    it must be apart from; None where one fits nowhere.

    >>> packed_into(np.array([2, 1, 2, 1]), np.array([[0, 1]]), 2, 3).tolist()
    [0, 1, 1, 0]
    """
    import heapq

    foes: dict[int, set[int]] = {}
    for a, b in apart.tolist():
        foes.setdefault(a, set()).add(b)
        foes.setdefault(b, set()).add(a)
    filled = [(0, number) for number in range(n_bins)]
    home = np.full(len(sizes), -1, np.int64)
    for thing in np.argsort(-sizes, kind="stable").tolist():
        barred = {int(home[foe]) for foe in foes.get(thing, ())}
        passed = []
        while filled and filled[0][1] in barred:
            passed.append(heapq.heappop(filled))
        if not filled or filled[0][0] + int(sizes[thing]) > most:
            return None
        load, number = filled[0]
        heapq.heapreplace(filled, (load + int(sizes[thing]), number))
        home[thing] = number
        for entry in passed:
            heapq.heappush(filled, entry)
    return home


def alone(labels: Ints, items: Iterable[int] | Ints) -> Ints:
    """The clustering in which some items are alone.

    >>> alone(np.array([0, 0, 0, 1]), [1])
    array([0, 1, 0, 2])
    """
    y = canonical_labels(labels)
    out = np.asarray(list(items) if not isinstance(items, np.ndarray) else items, np.int64)
    y[out] = len(y) + np.arange(len(out))
    return canonical_labels(y)
