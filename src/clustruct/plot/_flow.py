"""Which clusters a flow diagram shows, in what order, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from clustruct._typing import LabelsLike
from clustruct.explain import SplitMerge


@dataclass(frozen=True)
class Band:
    """Items that a true and a predicted cluster share; `main` if it is the largest part of both."""

    true: Hashable
    predicted: Hashable
    size: int
    main: bool


@dataclass(frozen=True)
class Flow:
    """Clusters to draw, from top to bottom, each with its number of items in bands shown.

    shown, total : errors (splits and merges) wholly or partly drawn, and all of them
    cut :          whether anything that is wrong is left out
    """

    left: dict[Hashable, int]
    right: dict[Hashable, int]
    bands: list[Band]
    true_sizes: dict[Hashable, int]
    predicted_sizes: dict[Hashable, int]
    shown: int
    total: int
    cut: bool

    def extent(self, nodes: dict[Hashable, int]) -> float:
        """Height of a column: each cluster at least as high as a name needs."""
        return sum(self._slots(nodes).values())

    def _slots(self, nodes: dict[Hashable, int]) -> dict[Hashable, float]:
        biggest = max(sum(self.left.values()), sum(self.right.values()), 1)
        line = biggest / max(len(self.left), len(self.right)) * 0.8
        gap = 0.25 * line
        return {label: max(size + gap, line) for label, size in nodes.items()}

    def places(self, nodes: dict[Hashable, int], height: float) -> dict[Hashable, float]:
        """The upper edge of each cluster's bar; the column is centred in `height`."""
        slots = self._slots(nodes)
        top = height - (height - sum(slots.values())) / 2
        found = {}
        for label, slot in slots.items():
            found[label] = top - (slot - nodes[label]) / 2
            top -= slot
        return found


def flow_between(truth: LabelsLike, predicted: LabelsLike, errors: SplitMerge, n: int) -> Flow:
    """The worst errors that fit n clusters a side (an error that alone needs more is cut)."""
    true_labels, predicted_labels = _plain_list(truth), _plain_list(predicted)
    cells = Counter(zip(true_labels, predicted_labels, strict=True))
    left: dict[Hashable, None] = {}
    right: dict[Hashable, None] = {}
    everything = [(m.pairs, "split", m) for m in errors.splits] + [
        (m.pairs, "merge", m) for m in errors.merges
    ]
    everything.sort(key=lambda e: -e[0])
    shown = 0
    for _, kind, mixture in everything:
        own, others = (left, right) if kind == "split" else (right, left)
        pieces = [p.cluster for p in mixture.pieces]
        missing = [c for c in pieces if c not in others]
        if len(own.keys() | {mixture.cluster}) > n or (shown and len(others) + len(missing) > n):
            continue
        own[mixture.cluster] = None
        others.update(dict.fromkeys(missing[: n - len(others)]))
        shown += 1
    split, mixed = {m.cluster for m in errors.splits}, {m.cluster for m in errors.merges}
    cut = any((t in split or p in mixed) and not (t in left and p in right) for t, p in cells)
    return _laid_out(cells, left, right, shown, len(everything), cut)


def _laid_out(
    cells: Counter[tuple[Hashable, Hashable]],
    left: dict[Hashable, None],
    right: dict[Hashable, None],
    shown: int,
    total: int,
    cut: bool,
) -> Flow:
    true_sizes, predicted_sizes = Counter[Hashable](), Counter[Hashable]()
    home: dict[Hashable, Hashable] = {}
    main: dict[Hashable, Hashable] = {}
    for (t, p), size in cells.items():
        true_sizes[t] += size
        predicted_sizes[p] += size
        if t not in home or size > cells[t, home[t]]:
            home[t] = p
        if p not in main or size > cells[main[p], p]:
            main[p] = t
    bands = [
        Band(t, p, size, home[t] == p and main[p] == t)
        for (t, p), size in cells.items()
        if t in left and p in right
    ]
    rank = {t: i for i, t in enumerate(left)}
    centre = {
        p: np.average([rank[b.true] for b in bands if b.predicted == p], weights=_sizes_to(bands, p))
        for p in right
    }
    rights = sorted(right, key=lambda p: (centre[p], -predicted_sizes[p]))
    place = {p: i for i, p in enumerate(rights)}
    bands.sort(key=lambda b: (rank[b.true], place[b.predicted]))
    return Flow(
        {t: sum(b.size for b in bands if b.true == t) for t in left},
        {p: sum(b.size for b in bands if b.predicted == p) for p in rights},
        bands,
        dict(true_sizes),
        dict(predicted_sizes),
        shown,
        total,
        cut,
    )


def _sizes_to(bands: list[Band], predicted: Hashable) -> list[int]:
    return [b.size for b in bands if b.predicted == predicted]


def _plain_list(labels: LabelsLike) -> list[Hashable]:
    return list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
