"""Where a clustering differs from the truth, worst first: clusters split and merged, wrong pairs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Ints, LabelsLike
from clustruct.learning.score_confidence import Similarities, symmetric_scores


@dataclass(frozen=True)
class ClusterPiece:
    """Items that lie in one cluster of the other clustering.

    Attributes
    ----------
    cluster : hashable
        The label there.
    items : tuple of hashable
        Their ids, or their numbers where there are no ids.
    numbers : tuple of int
        Their numbers.
    """

    cluster: Hashable
    items: tuple[Hashable, ...]
    numbers: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class MixedCluster:
    """One cluster that the other clustering cuts into pieces.

    Attributes
    ----------
    cluster : hashable
        Its label.
    size : int
        How many items it has.
    pairs : int
        Pairs of its items in different pieces: pairs lost by a split, wrongly made by a merge.
    pieces : tuple of ClusterPiece
        Largest first.
    """

    cluster: Hashable
    size: int
    pairs: int
    pieces: tuple[ClusterPiece, ...]


@dataclass(frozen=True)
class SplitMerge:
    """What went wrong between a true and a predicted clustering.

    Attributes
    ----------
    splits : tuple of MixedCluster
        True clusters whose items lie in more than one predicted cluster, most pairs lost first.
    merges : tuple of MixedCluster
        Predicted clusters that hold items of more than one true cluster, most wrong pairs first.
    """

    splits: tuple[MixedCluster, ...]
    merges: tuple[MixedCluster, ...]

    @property
    def pairs_lost(self) -> int:
        """Pairs together in the truth and apart in the prediction."""
        return sum(s.pairs for s in self.splits)

    @property
    def pairs_wrong(self) -> int:
        """Pairs together in the prediction and apart in the truth."""
        return sum(m.pairs for m in self.merges)


def split_merge(
    truth: LabelsLike, predicted: LabelsLike, ids: Sequence[Hashable] | None = None
) -> SplitMerge:
    """Which true clusters were split and which were merged, worst first.

    A true cluster of n items whose items lie in predicted clusters by n_1, n_2, ... loses
    (n^2 - n_1^2 - n_2^2 - ...) / 2 pairs; a predicted cluster makes as many wrong pairs from its true
    parts. The labels may be any hashables and are given back as they came. O(m log m).

    Parameters
    ----------
    truth : array-like
        The true cluster of each item.
    predicted : array-like
        The predicted cluster of each item.
    ids : sequence of hashable, optional
        The names of the items; by default their numbers.

    Returns
    -------
    SplitMerge
        The clusters that were split, and those that were merged.

    Examples
    --------
    >>> found = split_merge(["a", "a", "a", "b"], [0, 0, 1, 1], ids=["w", "x", "y", "z"])
    >>> found.splits[0].cluster, found.splits[0].pairs, [p.items for p in found.splits[0].pieces]
    ('a', 2, [('w', 'x'), ('y',)])
    >>> found.merges[0].cluster, found.pairs_wrong
    (1, 1)
    """
    t = canonical_labels(truth, name="truth")
    p = canonical_labels(predicted, n_items=t.size, name="predicted")
    names: Sequence[Hashable] = range(t.size) if ids is None else list(ids)
    if len(names) != t.size:
        raise ValueError(f"ids has {len(names)} entries for {t.size} items")
    return SplitMerge(
        _mixtures(t, p, _labels(truth), _labels(predicted), names),
        _mixtures(p, t, _labels(predicted), _labels(truth), names),
    )


def _labels(labels: LabelsLike) -> list[Hashable]:
    """The labels in canonical order, as plain Python values."""
    return list(dict.fromkeys(labels.tolist() if isinstance(labels, np.ndarray) else labels))


def _mixtures(
    y: Ints, other: Ints, own: list[Hashable], others: list[Hashable], names: Sequence[Hashable]
) -> tuple[MixedCluster, ...]:
    """The clusters of y that `other` cuts, most pairs cut first (ties by first appearance)."""
    cells: dict[int, dict[int, list[int]]] = {}
    for a, (c, d) in enumerate(zip(y.tolist(), other.tolist(), strict=True)):
        cells.setdefault(c, {}).setdefault(d, []).append(a)
    found = []
    for c, row in cells.items():
        if len(row) > 1:
            found_in = [
                ClusterPiece(others[d], tuple(names[a] for a in at), tuple(at)) for d, at in row.items()
            ]
            pieces = sorted(found_in, key=lambda piece: -len(piece.items))
            size = sum(len(p.items) for p in pieces)
            pairs = (size**2 - sum(len(p.items) ** 2 for p in pieces)) // 2
            found.append(MixedCluster(own[c], size, pairs, tuple(pieces)))
    return tuple(sorted(found, key=lambda m: -m.pairs))


@dataclass(frozen=True)
class WrongPair:
    """Items a < b whose place is wrong, with their similarity; `together` is what was predicted.

    Attributes
    ----------
    a : int
        The number of one item.
    b : int
        The number of the other.
    similarity : float
        Their similarity under the model.
    together : bool
        What was predicted of them.
    """

    a: int
    b: int
    similarity: float
    together: bool


def wrong_pairs(K: Similarities, truth: LabelsLike, predicted: LabelsLike, n: int = 5) -> list[WrongPair]:
    """The n wrong pairs whose similarity speaks most for the error: highest K among pairs wrongly put
    together, lowest among pairs wrongly kept apart, the two kinds in one order by that size.

    Of a sparse K only the listed pairs are looked at.

    Parameters
    ----------
    K : array or sparse matrix
        The similarities of the pairs: dense and symmetric, or a sparse signed graph.
    truth : array-like
        The true cluster of each item.
    predicted : array-like
        The predicted cluster of each item.
    n : int, default=5
        How many pairs are given at most.

    Returns
    -------
    list of WrongPair
        The pairs, worst first.

    Examples
    --------
    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> wrong_pairs(K, truth=[0, 1, 1], predicted=[0, 0, 1])
    [WrongPair(a=0, b=1, similarity=3.0, together=True), WrongPair(a=1, b=2, similarity=1.0, together=False)]
    """
    W = symmetric_scores(K)
    t = canonical_labels(truth, n_items=W.shape[0], name="truth")
    p = canonical_labels(predicted, n_items=W.shape[0], name="predicted")
    if sparse.issparse(W):
        entries = sparse.triu(W, 1).tocoo()
        (a, b), values = entries.coords, entries.data
    else:
        a, b = np.triu_indices(len(t), 1)
        values = W[a, b]
    together = p[a] == p[b]
    wrong = np.flatnonzero(together != (t[a] == t[b]))
    confidence = np.where(together, values, -values)[wrong]
    worst = wrong[np.argsort(-confidence, kind="stable")[:n]]
    return [WrongPair(int(a[i]), int(b[i]), float(values[i]), bool(together[i])) for i in worst]
