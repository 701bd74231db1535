r"""Equal items grouped as one with a multiplicity.

.. math:: \sum_{r<s} K_{rs} \sum_c n_{rc} n_{sc} + \sum_r K_{rr} \sum_c n_{rc} (n_{rc} - 1) / 2

is the sum of the scores of all pairs that are together, n_rc being how many items of row r are in cluster c.
Where K_rr >= 0 some best clustering has all items of a row in one cluster: moving all of them to the best
place of one of them loses nothing. So they are one node there, whose pairs count as often as there are pairs
of items. Where K_rr < 0, or where a source holds each thing once, they are looked at one by one, as many as
can be of use together, and the others are placed one after the other. Items of which something is known are
nodes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints
from clustruct.data import EqualRows, Evidence, PairScores

# Of equal items that are not one node so many are searched at most; the others are placed afterwards.
MOST_SEARCHED = 16
# How often the places of the others are gone through.
SWEEPS = 30


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores between rows (``pairs``, a < b), and of two items of one (``identical``; 0: not compared)."""

    equal: EqualRows
    pairs: Ints
    values: Floats
    identical: Floats

    @classmethod
    def of(cls, scores: PairScores) -> Self:
        """Those of items, some of which are equal."""
        assert scores.equal is not None
        index, values = scores.pairs_and_scores()
        rows = scores.equal.row[index]
        inside = rows[:, 0] == rows[:, 1]
        identical = np.zeros(len(scores.equal.counts))
        identical[rows[inside, 0]] = values[inside]
        return cls(scores.equal, np.sort(rows[~inside], axis=1), values[~inside], identical)

    def of_nodes(self, row: Ints) -> tuple[Ints, Floats]:
        """The pairs of nodes, each of a row (``row``, which rises), and their scores."""
        size = np.bincount(row, minlength=len(self.identical))
        start = np.cumsum(size) - size
        (r, s), several = self.pairs.T, np.flatnonzero((size > 1) & (self.identical != 0.0))
        a, b, of_pair = _products(start[r], size[r], start[s], size[s])
        c, d, of_row = _products(start[several], size[several], start[several], size[several])
        once = c < d
        index = np.concatenate([np.column_stack([a, b]), np.column_stack([c, d])[once]])
        return index, np.concatenate([self.values[of_pair], self.identical[several[of_row[once]]]])

    @cached_property
    def neighbours(self) -> tuple[Ints, Ints, Floats]:
        """For each row where its partners begin, the partners, and their scores."""
        ends = np.concatenate([self.pairs, self.pairs[:, ::-1]])
        order = np.argsort(ends[:, 0], kind="stable")
        starts = np.searchsorted(ends[order, 0], np.arange(len(self.identical) + 1))
        return starts, ends[order, 1], np.concatenate([self.values, self.values])[order]


def _products(start: Ints, size: Ints, other: Ints, other_size: Ints) -> tuple[Ints, Ints, Ints]:
    """All pairs of two ranges of numbers, for many ranges: both numbers, and of which ranges they are."""
    total = size * other_size
    of = np.repeat(np.arange(len(total)), total)
    within = np.arange(len(of)) - np.repeat(np.cumsum(total) - total, total)
    return start[of] + within // other_size[of], other[of] + within % other_size[of], of


@dataclass(frozen=True, eq=False)
class Nodes:
    """What a search moves: some items of a row each.

    scores : the scores of the items
    node : the node of each item, -1 for those that are placed afterwards
    row, first, count : of each node its row, its first item, how many items it has
    """

    scores: PairScores
    rows: RowScores
    node: Ints
    row: Ints
    first: Ints
    count: Ints

    @classmethod
    def of(cls, scores: PairScores, evidence: Evidence | None, largest: int | None = None) -> Self:
        """Those of items, some of which are equal; no node of more than ``largest`` items of which nothing is
        known.
        """
        rows, n = RowScores.of(scores), scores.n_items
        equal = rows.equal
        piece = np.full(n, -1) if evidence is None else evidence.piece
        free = piece < 0
        # The place of each free item among those of its row.
        order = np.lexsort((np.arange(n), equal.row))
        free_before: Ints = np.cumsum(free[order]) - free[order]
        starts = np.searchsorted(equal.row[order], np.arange(len(equal.counts)))
        place = np.empty(n, np.int64)
        place[order] = free_before - free_before[starts][equal.row[order]]
        loose = (rows.identical < 0.0) | (scores.sources is not None)
        part = np.where(loose[equal.row], place, 0 if largest is None else place // largest)
        rest = free & loose[equal.row] & (place >= _most_of_use(rows)[equal.row])
        kept = np.flatnonzero(~rest)
        kind = np.where(free, part, int(part.max(initial=0)) + 1 + piece)
        keys = (equal.row * (int(kind.max(initial=0)) + 1) + kind)[kept]
        _, first, node, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        of_item = np.full(n, -1, np.int64)
        of_item[kept] = node
        return cls(scores, rows, of_item, equal.row[kept[first]], kept[first], count)

    def node_scores(self) -> PairScores:
        """The scores of nodes, each as often as there are pairs of items."""
        index, values = self.rows.of_nodes(self.row)
        return self._scores(index, values * self.count[index[:, 0]] * self.count[index[:, 1]], self.first)

    def of_rows(self, scores: PairScores) -> PairScores:
        """Other scores of nodes, each once: for searches that do not add them up."""
        index, values = RowScores.of(scores).of_nodes(self.row)
        return self._scores(index, values, self.first)

    def plain(self, scores: PairScores) -> tuple[PairScores, Ints]:
        """The scores of pairs of items of which each node has two at most, and the node of each of them."""
        node = np.repeat(np.arange(len(self.row)), np.minimum(self.count, 2))
        index, values = RowScores.of(scores).of_nodes(self.row[node])
        return self._scores(index, values, self.first[node]), node

    def _scores(self, index: Ints, values: Floats, items: Ints) -> PairScores:
        sources = None if self.scores.sources is None else self.scores.sources[items]
        return PairScores(len(items), index, sources, values=values)

    def of_items(self) -> PairScores:
        """The weighted scores as those of the first items of nodes."""
        found = self.node_scores()
        assert found.index is not None
        index = np.sort(self.first[found.index], axis=1)
        return PairScores(self.scores.n_items, index, self.scores.sources, values=found.values)

    @property
    def ties(self) -> Ints:
        """The first item of each node with each other one."""
        items = np.flatnonzero(self.node >= 0)
        pairs = np.column_stack([self.first[self.node[items]], items])
        return pairs[pairs[:, 0] != pairs[:, 1]]

    def labels(self, of_node: Ints) -> Ints:
        """The clusters of all items by those of the nodes."""
        found = np.append(of_node, -1)[self.node]
        rest = np.flatnonzero(found < 0)
        if not len(rest):
            return canonical_labels(found)
        if self.scores.sources is None:
            self._place(found, rest)
            rest = rest[found[rest] < 0]
        found[rest] = int(found.max(initial=-1)) + 1 + np.arange(len(rest))
        return canonical_labels(found)

    def of_all(self, of_node: Floats, labels: Ints) -> Floats:
        """What holds of nodes as what holds of all items: those that were placed afterwards have that of a
        node of their row, of the same cluster where there is one.
        """
        found = np.append(of_node, np.nan)[self.node]
        rest = np.flatnonzero(self.node < 0)
        if len(rest):
            least = np.full(len(self.rows.identical), np.inf)
            np.minimum.at(least, self.row, of_node)
            row, k = self.rows.equal.row, len(labels) + 1
            own, first = np.unique(self.row * k + labels[self.first], return_index=True)
            place = np.minimum(np.searchsorted(own, row[rest] * k + labels[rest]), len(own) - 1)
            there = own[place] == row[rest] * k + labels[rest]
            found[rest] = np.where(there, of_node[first[place]], least[row[rest]])
        return found

    def _place(self, labels: Ints, rest: Ints) -> None:
        """Give further items of rows to the clusters that gain by them, until nothing changes."""
        equal = self.rows.equal
        held: dict[int, dict[int, int]] = {}
        for row, cluster in zip(equal.row[labels >= 0].tolist(), labels[labels >= 0].tolist(), strict=True):
            here = held.setdefault(row, {})
            here[cluster] = here.get(cluster, 0) + 1
        order = rest[np.argsort(equal.row[rest], kind="stable")]
        rows, starts = np.unique(equal.row[order], return_index=True)
        parts = np.split(order, starts[1:])
        waiting = {row: items[::-1].tolist() for row, items in zip(rows.tolist(), parts, strict=True)}
        for _ in range(SWEEPS):
            placed = [self._fill(row, items, held, labels) for row, items in waiting.items()]
            if not any(placed):
                return

    def _fill(self, row: int, items: list[int], held: dict[int, dict[int, int]], labels: Ints) -> bool:
        """Place waiting items of a row: one more gains S - n |K| in a cluster that has n of them."""
        starts, partners, values = self.rows.neighbours
        sums: dict[int, float] = {}
        for k in range(starts[row], starts[row + 1]) if items else ():
            for cluster, n in held.get(int(partners[k]), {}).items():
                sums[cluster] = sums.get(cluster, 0.0) + n * float(values[k])
        own, cost, placed = held.setdefault(row, {}), -float(self.rows.identical[row]), False
        for cluster in sorted(sums, key=lambda c: (-sums[c], c)):
            wanted = int(np.ceil(sums[cluster] / cost)) - own.get(cluster, 0)
            for _ in range(min(wanted, len(items))):
                labels[items.pop()] = cluster
                own[cluster] = own.get(cluster, 0) + 1
                placed = True
        return placed


def _most_of_use(rows: RowScores) -> Ints:
    """How many items of a row can be in clusters with others, and one more, within bounds."""
    starts, partners, values = rows.neighbours
    useful = np.where(values > 0.0, rows.equal.counts[partners], 0)
    total = np.append(0, np.cumsum(useful))
    return np.minimum(1 + total[starts[1:]] - total[starts[:-1]], MOST_SEARCHED)


def count_equal_apart(scores: PairScores, labels: Ints, evidence: Evidence | None) -> dict[str, int]:
    """How many items are not with all that are equal to them, by the reason: "evidence", "source", "score",
    or "options" where bounds or doubts have parted them.
    """
    if scores.equal is None:
        return {}
    equal, k = scores.equal, int(labels.max(initial=0)) + 1
    places = np.unique(equal.row * k + labels) // k
    left = np.bincount(places, minlength=len(equal.counts)) > 1
    known = np.zeros(len(equal.counts), np.bool_)
    if evidence is not None:
        known[equal.row[evidence.piece >= 0]] = True
    source = np.full(len(equal.counts), scores.sources is not None)
    negative = RowScores.of(scores).identical < 0.0
    found = {}
    for name, holds in (("evidence", known), ("source", source), ("score", negative), ("options", left)):
        if count := int(equal.counts[left & holds].sum()):
            found[name] = count
        left = left & ~holds
    return found
