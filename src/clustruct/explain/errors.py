"""Where a clustering differs from the truth: true clusters split, true clusters merged, worst first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clustruct._typing import Ints, LabelsLike
from clustruct.partitions import canonical_labels


@dataclass(frozen=True)
class Piece:
    """Items that lie in one cluster of the other clustering.

    cluster : the label there
    items :   their ids, or their numbers where there are no ids
    numbers : their numbers
    """

    cluster: Hashable
    items: tuple[Hashable, ...]
    numbers: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class Mixture:
    """One cluster that the other clustering cuts into pieces.

    cluster : its label
    size :    how many items it has
    pairs :   pairs of its items in different pieces: pairs lost by a split, wrongly made by a merge
    pieces :  largest first
    """

    cluster: Hashable
    size: int
    pairs: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class SplitMerge:
    """What went wrong between a true and a predicted clustering.

    splits : true clusters whose items lie in more than one predicted cluster, most pairs lost first
    merges : predicted clusters that hold items of more than one true cluster, most wrong pairs first
    """

    splits: tuple[Mixture, ...]
    merges: tuple[Mixture, ...]

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
) -> tuple[Mixture, ...]:
    """The clusters of y that `other` cuts, most pairs cut first (ties by first appearance)."""
    cells: dict[int, dict[int, list[int]]] = {}
    for a, (c, d) in enumerate(zip(y.tolist(), other.tolist(), strict=True)):
        cells.setdefault(c, {}).setdefault(d, []).append(a)
    found = []
    for c, row in cells.items():
        if len(row) > 1:
            found_in = [Piece(others[d], tuple(names[a] for a in at), tuple(at)) for d, at in row.items()]
            pieces = sorted(found_in, key=_small)
            size = sum(len(p.items) for p in pieces)
            pairs = (size**2 - sum(len(p.items) ** 2 for p in pieces)) // 2
            found.append(Mixture(own[c], size, pairs, tuple(pieces)))
    return tuple(sorted(found, key=lambda m: -m.pairs))


def _small(piece: Piece) -> int:
    return -len(piece.items)
