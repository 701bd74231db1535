"""What is known of the items of one set, whoever said it; transitivity and contradictions are here alone.

Items that are known to be together are a *piece*. A pair is judged where something is known of it: both items
in one piece, or in two pieces that are known to differ.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from clustruct.core.partitions import UNKNOWN, canonical_labels, chained_pairs, connected_items
from clustruct.core.typing import Bools, Ints


class Contradiction(ValueError):
    """Two items differ that other pairs tie together: the number of the pair that says so among those that
    differ, and the numbers of the fewest that tie them.
    """

    def __init__(self, items: tuple[int, int], different: int, same: list[int]) -> None:
        a, b = items
        super().__init__(f"contradiction: items {a} and {b} differ, but other pairs tie them together")
        self.different, self.same = different, same


@dataclass(frozen=True)
class Evidence:
    """What is known of the items of one set.

    Attributes
    ----------
    piece : array of int
        For each item the number of its piece, -1 where nothing is known of it.
    named : array of bool
        The items that people judged; pairs that touch one of them are looked at.
    apart : array of int
        Pairs of pieces (p x 2) that are not the same.
    labelled : array of bool
        Which pieces are labelled clusters, any two of which differ.
    complete : array of bool
        To which pieces nothing else belongs.
    unsure : array of int
        Pairs of items (p x 2) of which nothing is known, whatever follows from the rest.
    shown : array of int, optional
        The groups that people corrected, as they are after it; None: not known.

    Examples
    --------
    >>> Evidence.of_pairs(4, same=[(0, 1)], different=[(1, 2)]).piece
    array([ 0,  0,  1, -1])
    """

    piece: Ints
    named: Bools
    apart: Ints
    labelled: Bools
    complete: Bools
    unsure: Ints
    shown: Ints | None = None

    def __post_init__(self) -> None:
        n, k = len(self.piece), int(self.piece.max(initial=UNKNOWN)) + 1
        if len(self.named) != n or len(self.labelled) != k or len(self.complete) != k:
            raise ValueError("the parts of the evidence do not fit")
        if (
            (self.apart >= k).any()
            or (self.unsure >= n).any()
            or (self.apart[:, 0] == self.apart[:, 1]).any()
        ):
            raise ValueError("the evidence contradicts itself, or names what is not there")

    @classmethod
    def of_pairs(
        cls,
        n_items: int,
        same: object = (),
        different: object = (),
        *,
        unsure: object = (),
        labels: Ints | None = None,
        complete: object = (),
        labels_complete: bool = False,
    ) -> Evidence:
        """Evidence of n items: pairs of item numbers, and labels (-1 where not known) where there are some.

        ``complete``: items whose pieces have all their items. ``labels_complete``: labelled clusters have.
        `Contradiction` where a pair is different of which others say that it is the same.
        """
        y = np.full(n_items, UNKNOWN) if labels is None else np.asarray(labels, np.int64)
        must, cannot, open_ = (_pairs(pairs) for pairs in (same, different, unsure))
        whole = np.asarray(list(complete), np.int64)  # type: ignore[call-overload]
        named = np.zeros(n_items, np.bool_)
        for items in (must, cannot, open_, whole):
            named[items.ravel()] = True
        ties = np.concatenate([must, chained_pairs(y)])
        tied = connected_items(n_items, ties)
        for pair in np.flatnonzero(tied[cannot[:, 0]] == tied[cannot[:, 1]])[:1].tolist():
            a, b = cannot[pair].tolist()
            raise Contradiction((a, b), pair, _shortest_chain(ties, a, b))
        known = named | (y != UNKNOWN)
        piece = np.full(n_items, UNKNOWN, np.int64)
        piece[known] = canonical_labels(tied[known]) if known.any() else 0
        k = int(piece.max(initial=UNKNOWN)) + 1
        of_label, of_whole = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
        of_label[piece[y != UNKNOWN]] = True
        of_whole[piece[whole]] = True
        return cls(piece, named, piece[cannot], of_label, of_whole | (of_label & labels_complete), open_)

    @classmethod
    def of_labels(cls, labels: Ints, *, complete: bool = False) -> Evidence:
        """What labels (-1 where not known) say, which name the items that have one.

        ``complete``: items without a label belong to no labelled cluster.
        """
        known = labels != UNKNOWN
        piece = np.full(len(labels), UNKNOWN, np.int64)
        piece[known] = canonical_labels(labels[known]) if known.any() else 0
        k = int(piece.max(initial=UNKNOWN)) + 1
        return cls(piece, known, NO_PAIRS, np.ones(k, np.bool_), np.full(k, complete), NO_PAIRS)

    def judges(self, pairs: Ints) -> Bools:
        """Of which pairs of items (p x 2) something is known."""
        n, (first, second) = len(self.piece), self.piece[pairs].T
        known = (first >= 0) & (second >= 0)
        judged = known & (first == second)
        judged |= known & (first != second) & self._of(self.labelled, first) & self._of(self.labelled, second)
        judged |= (first != second) & (self._of(self.complete, first) | self._of(self.complete, second))
        k = len(self.labelled) + 1
        judged |= np.isin(_keys(first, second, k), _keys(self.apart[:, 0], self.apart[:, 1], k))
        return judged & ~np.isin(
            _keys(pairs[:, 0], pairs[:, 1], n), _keys(self.unsure[:, 0], self.unsure[:, 1], n)
        )

    @property
    def nodes(self) -> Ints:
        """The piece of each item, one of its own where nothing is known of it, by first appearance."""
        return alone_where_unknown(self.piece)

    @property
    def must_link(self) -> Ints:
        """Pairs of items (p x 2) that tie each piece together."""
        return chained_pairs(self.piece)

    @property
    def cannot_link(self) -> Ints:
        """An item of each of two pieces that are not the same (p x 2); labelled and complete ones apart."""
        pieces, first = np.unique(self.piece, return_index=True)
        return np.asarray(first[pieces >= 0][self.apart])

    @property
    def is_binding(self) -> bool:
        """Whether some groups are ruled out."""
        sizes = np.bincount(self.piece[self.piece >= 0], minlength=len(self.labelled))
        several = (sizes > 1).any() or np.count_nonzero(self.labelled) > 1
        return bool(several or len(self.apart) or self.complete.any())

    @staticmethod
    def _of(which: Bools, piece: Ints) -> Bools:
        return np.append(which, np.False_)[piece]

    def with_complete_groups(self, groups: Ints) -> Evidence:
        """With all that a person has looked at who corrected these groups: those of the named items, as they
        are after the corrections, are complete clusters.

        Corrections name errors alone, and a model that learns from these alone learns that all is wrong: with
        50 pairs judged apart the loss on other records rose from 18 to 76. What was not corrected in a group
        that was looked at is right.
        """
        touched = np.zeros(int(groups.max(initial=-1)) + 1, np.bool_)
        touched[groups[self.named]] = True
        labels = np.where(touched[groups], groups, UNKNOWN)
        shown = Evidence.of_labels(labels, complete=True)
        return replace(shown, labelled=np.zeros_like(shown.labelled), unsure=self.unsure)

    def without(self, hidden: Bools) -> Evidence:
        """Evidence of pairs of other items; that groups are complete is known of no pair by itself."""
        piece = np.where(hidden, UNKNOWN, self.piece)
        first = np.full(len(self.complete), UNKNOWN)
        for item in np.flatnonzero(piece >= 0)[::-1].tolist():
            first[piece[item]] = item
        apart = first[self.apart]
        unsure = self.unsure[~hidden[self.unsure].any(axis=1)]
        different = apart[(apart >= 0).all(axis=1)]
        return Evidence.of_pairs(len(piece), chained_pairs(piece), different, unsure=unsure)

    def take(self, items: Ints) -> Evidence:
        """The evidence of some items, pieces keeping their order."""
        place = np.full(len(self.piece), UNKNOWN)
        place[items] = np.arange(len(items))
        unsure = place[self.unsure]
        pieces = np.full(len(items), UNKNOWN) if not len(items) else self.piece[items]
        here = np.zeros(len(self.labelled), np.bool_)
        here[pieces[pieces >= 0]] = True
        number = np.cumsum(here) - 1
        held = self.apart[here[self.apart].all(axis=1)]
        return Evidence(
            np.where(pieces >= 0, np.append(number, UNKNOWN)[pieces], UNKNOWN),
            self.named[items],
            number[held],
            self.labelled[here],
            self.complete[here],
            unsure[(unsure >= 0).all(axis=1)],
        )


NO_PAIRS = np.zeros((0, 2), np.int64)


def alone_where_unknown(labels: Ints) -> Ints:
    """Canonical labels in which each unknown item has a cluster of its own.

    >>> alone_where_unknown(np.array([-1, 5, -1, 5]))
    array([0, 1, 2, 1])
    """
    unknown = labels == UNKNOWN
    spread = labels.copy()
    spread[unknown] = labels.max(initial=UNKNOWN) + 1 + np.arange(np.count_nonzero(unknown))
    return canonical_labels(spread)


def _shortest_chain(pairs: Ints, a: int, b: int) -> list[int]:
    """The numbers of the fewest pairs that lead from an item to another, in order.

    >>> _shortest_chain(np.array([[0, 1], [1, 2], [2, 3], [1, 3]]), 0, 3)
    [0, 3]
    """
    near: dict[int, list[tuple[int, int]]] = {}
    for pair, (first, second) in enumerate(pairs.tolist()):
        near.setdefault(first, []).append((second, pair))
        near.setdefault(second, []).append((first, pair))
    came: dict[int, tuple[int, int]] = {}
    waiting = deque([a])
    while waiting and b not in came:
        here = waiting.popleft()
        for there, pair in near.get(here, ()):
            if there != a and there not in came:
                came[there] = (here, pair)
                waiting.append(there)
    chain = []
    while b != a:
        b, pair = came[b]
        chain.append(pair)
    return chain[::-1]


def _pairs(given: object) -> Ints:
    return np.asarray(list(given), np.int64).reshape(-1, 2)  # type: ignore[call-overload]


def _keys(first: Ints, second: Ints, n: int) -> Ints:
    return np.asarray(np.minimum(first, second) * n + np.maximum(first, second))
