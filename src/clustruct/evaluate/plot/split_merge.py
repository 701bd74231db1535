"""How true clusters flow into predicted ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from clustruct.core.formatting import count
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import LabelsLike
from clustruct.data import ItemSet
from clustruct.evaluate.explain import SplitMerge, split_merge

from .drawing import AGAINST, BESIDE, FOR, Ax, Display, axes_for, distinct, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

    from clustruct.estimators.base import SetClusterer

# Clusters and their numbers of items.
Sizes: TypeAlias = dict[Hashable, int]
LEFT, RIGHT, NODE = 0.0, 1.0, 0.03


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

    left: Sizes
    right: Sizes
    bands: list[Band]
    true_sizes: Sizes
    predicted_sizes: Sizes
    shown: int
    total: int
    cut: bool

    def extent(self, nodes: Sizes) -> float:
        """Height of a column: each cluster at least as high as a name needs."""
        return sum(self._slots(nodes).values())

    def _slots(self, nodes: Sizes) -> dict[Hashable, float]:
        biggest = max(sum(self.left.values()), sum(self.right.values()), 1)
        line = biggest / max(len(self.left), len(self.right)) * 0.8
        gap = 0.25 * line
        return {label: max(size + gap, line) for label, size in nodes.items()}

    def places(self, nodes: Sizes, height: float) -> dict[Hashable, float]:
        """The upper edge of each cluster's bar; the column is centred in `height`."""
        slots = self._slots(nodes)
        top = height - (height - sum(slots.values())) / 2
        found = {}
        for label, slot in slots.items():
            found[label] = top - (slot - nodes[label]) / 2
            top -= slot
        return found


class SplitMergeDisplay(Display):
    """True clusters at the left, predicted ones at the right, bands as wide as the items they share.

    Only clusters that were split or merged are drawn, worst first. A band is blue where it is the main
    part of both its clusters, orange where its items went astray.

    ``errors`` has all of them (`clustruct.evaluate.explain.split_merge`); after `plot`, ``flow_`` has what is
    drawn.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct.evaluate.plot import SplitMergeDisplay
    >>> display = SplitMergeDisplay.from_predictions(["a", "a", "a", "b", "c"], [0, 0, 1, 1, 2])
    >>> display.errors.pairs_lost, display.errors.pairs_wrong, len(display.flow_.bands)
    (2, 1, 3)
    >>> import matplotlib.pyplot; matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, truth: LabelsLike, predicted: LabelsLike) -> None:
        self.errors: SplitMerge = split_merge(truth, predicted)
        self.truth, self.predicted = truth, predicted

    @classmethod
    def from_estimator(
        cls, estimator: SetClusterer, x: ItemSet, truth: LabelsLike, *, n: int = 8, ax: Ax = None
    ) -> Self:
        """One set x, clustered by a fitted model, against its truth."""
        return cls(truth, canonical_labels(estimator.predict(x))).plot(n=n, ax=ax)

    @classmethod
    def from_predictions(cls, truth: LabelsLike, predicted: LabelsLike, *, n: int = 8, ax: Ax = None) -> Self:
        """A clustering against the truth."""
        return cls(truth, predicted).plot(n=n, ax=ax)

    def plot(self, *, n: int = 8, ax: Ax = None) -> Self:
        """Draw the errors, worst first, with at most about n clusters at each side."""
        self.flow_ = flow_between(self.truth, self.predicted, self.errors, n)
        rows = max(len(self.flow_.left), len(self.flow_.right), 2)
        ax = axes_for(ax, 6.8, 1.4 + 0.42 * rows)
        ax.set_axis_off()
        ax.set_xlim(-0.62, 1.62)
        if self.flow_.bands:
            self._draw(ax, self.flow_)
        else:
            ax.text(0.5, 0.5, "no cluster was split or merged", ha="center", va="center")
        return self.drawn_on(ax, self._title(), pad=18)

    def _title(self) -> str:
        found, flow = self.errors, self.flow_
        title = (
            f"{count(len(found.splits), 'true cluster')} split "
            f"({count(found.pairs_lost, 'pair')} lost), "
            f"{count(len(found.merges), 'predicted one')} mixed "
            f"({count(found.pairs_wrong, 'wrong pair')})"
        )
        return title + (f"\nthe worst shown: {flow.shown} of {flow.total}" if flow.cut else "")

    def _draw(self, ax: Axes, flow: Flow) -> None:
        from matplotlib.patches import PathPatch

        height = max(flow.extent(flow.left), flow.extent(flow.right))
        left, right = (flow.places(nodes, height) for nodes in (flow.left, flow.right))
        tops, ends = left.copy(), right.copy()  # of the next band
        for band in flow.bands:
            ribbon = _ribbon(tops[band.true], ends[band.predicted], band.size)
            ax.add_patch(PathPatch(ribbon, fc=FOR if band.main else AGAINST, alpha=0.45, lw=0))
            tops[band.true] -= band.size
            ends[band.predicted] -= band.size
        self._draw_nodes(ax, flow.left, left, LEFT, flow.true_sizes)
        self._draw_nodes(ax, flow.right, right, RIGHT, flow.predicted_sizes)
        ax.set_ylim(-0.02 * height, height)
        for x, word, at in ((LEFT, "true", "right"), (RIGHT, "predicted", "left")):
            ax.annotate(word, (x, height), (0, 3), ha=at, color="0.35", **BESIDE)

    def _draw_nodes(
        self, ax: Axes, nodes: Sizes, places: dict[Hashable, float], x: float, sizes: Sizes
    ) -> None:
        from matplotlib.patches import Rectangle

        at_left = x == LEFT
        for (label, drawn), text in zip(nodes.items(), distinct(nodes, 26), strict=True):
            corner = (x - NODE if at_left else x, places[label] - drawn)
            ax.add_patch(Rectangle(corner, NODE, drawn, fc="0.25", lw=0))
            shown = f"{drawn}" if drawn == sizes[label] else f"{drawn} of {sizes[label]}"
            at = x - NODE - 0.02 if at_left else x + NODE + 0.02
            middle, side = places[label] - drawn / 2, "right" if at_left else "left"
            plain(ax.text(at, middle, f"{text} ({shown})", ha=side, va="center", fontsize="small"))


def _ribbon(y0: float, y1: float, width: float) -> Path:
    """A band from (LEFT, y0) to (RIGHT, y1), its upper edges there, of equal height at both ends."""
    from matplotlib.path import Path

    middle = (LEFT + RIGHT) / 2
    upper = [(LEFT, y0), (middle, y0), (middle, y1), (RIGHT, y1)]
    points = [*upper, *((x, y - width) for x, y in reversed(upper)), (LEFT, y0)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return Path(np.array(points), codes)


def flow_between(truth: LabelsLike, predicted: LabelsLike, errors: SplitMerge, n: int) -> Flow:
    """The worst errors that fit n clusters a side (an error that alone needs more is cut)."""
    cells = Counter(zip(_plain_list(truth), _plain_list(predicted), strict=True))
    left: dict[Hashable, None] = {}
    right: dict[Hashable, None] = {}
    worst = [(left, right, m) for m in errors.splits] + [(right, left, m) for m in errors.merges]
    worst.sort(key=lambda error: -error[2].pairs)
    shown = 0
    for own, others, mixture in worst:
        missing = [p.cluster for p in mixture.pieces if p.cluster not in others]
        if len(own.keys() | {mixture.cluster}) > n or (shown and len(others) + len(missing) > n):
            continue
        own[mixture.cluster] = None
        others.update(dict.fromkeys(missing[: n - len(others)]))
        shown += 1
    split, mixed = ({m.cluster for m in found} for found in (errors.splits, errors.merges))
    cut = any((t in split or p in mixed) and not (t in left and p in right) for t, p in cells)
    return Flow(*_layout(cells, left, right), shown, len(worst), cut)


def _layout(
    cells: Counter[tuple[Hashable, Hashable]], left: dict[Hashable, None], right: dict[Hashable, None]
) -> tuple[Sizes, Sizes, list[Band], Sizes, Sizes]:
    """Clusters of both sides and bands in their order, and the sizes of all clusters."""
    true_sizes, predicted_sizes = Counter[Hashable](), Counter[Hashable]()
    home: dict[Hashable, Hashable] = {}
    main: dict[Hashable, Hashable] = {}
    for (t, p), size in cells.most_common():
        true_sizes[t] += size
        predicted_sizes[p] += size
        home.setdefault(t, p)
        main.setdefault(p, t)
    rank = {t: i for i, t in enumerate(left)}
    bands = [
        Band(t, p, size, home[t] == p and main[p] == t)
        for (t, p), size in cells.items()
        if t in left and p in right
    ]
    lefts, rights, places = dict.fromkeys(left, 0), dict.fromkeys(right, 0), dict.fromkeys(right, 0)
    for band in bands:
        lefts[band.true] += band.size
        rights[band.predicted] += band.size
        places[band.predicted] += rank[band.true] * band.size
    # A predicted cluster stands where its bands come from, on average.
    order = sorted(right, key=lambda p: (places[p] / rights[p], -predicted_sizes[p]))
    bands.sort(key=lambda band: (rank[band.true], order.index(band.predicted)))
    return lefts, {p: rights[p] for p in order}, bands, true_sizes, predicted_sizes


def _plain_list(labels: LabelsLike) -> list[Hashable]:
    return list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
