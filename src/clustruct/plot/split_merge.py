"""How true clusters flow into predicted ones."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Self

import numpy as np

from clustruct._typing import LabelsLike
from clustruct.explain import SplitMerge, split_merge
from clustruct.explain.models import SetClusterer
from clustruct.itemsets import ItemSet
from clustruct.partitions import canonical_labels
from clustruct.text import count

from ._flow import Flow, flow_between
from .drawing import AGAINST, FOR, Ax, axes_for, distinct, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

__all__ = ["SplitMergeDisplay"]

LEFT, RIGHT, NODE = 0.0, 1.0, 0.03


class SplitMergeDisplay:
    """True clusters at the left, predicted ones at the right, bands as wide as the items they share.

    Only clusters that were split or merged are drawn, worst first. A band is blue where it is the main
    part of both its clusters, orange where its items went astray.

    Parameters
    ----------
    truth, predicted : one label per item, any hashables

    Attributes
    ----------
    errors : SplitMerge, all of them (`clustruct.explain.split_merge`)
    flow_ : what is drawn, after `plot`

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct.plot import SplitMergeDisplay
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
        ax.set_title(self._title(), fontsize="medium", pad=18)
        ax.set_xlim(-0.62, 1.62)
        if self.flow_.bands:
            self._draw(ax, self.flow_)
        else:
            ax.text(0.5, 0.5, "no cluster was split or merged", ha="center", va="center")
        self.ax_, self.figure_ = ax, ax.figure
        return self

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
        used: dict[tuple[str, Hashable], float] = {}
        for band in flow.bands:
            y0 = left[band.true] - used.get(("t", band.true), 0.0)
            y1 = right[band.predicted] - used.get(("p", band.predicted), 0.0)
            colour = FOR if band.main else AGAINST
            ax.add_patch(PathPatch(_ribbon(y0, y1, band.size), fc=colour, alpha=0.45, lw=0))
            for end in (("t", band.true), ("p", band.predicted)):
                used[end] = used.get(end, 0.0) + band.size
        self._draw_nodes(ax, flow.left, left, LEFT, flow.true_sizes)
        self._draw_nodes(ax, flow.right, right, RIGHT, flow.predicted_sizes)
        ax.set_ylim(-0.02 * height, height)
        for x, word, at in ((LEFT, "true", "right"), (RIGHT, "predicted", "left")):
            ax.annotate(
                word, (x, height), (0, 3), textcoords="offset points", ha=at, fontsize="small", color="0.35"
            )

    def _draw_nodes(
        self,
        ax: Axes,
        nodes: dict[Hashable, int],
        places: dict[Hashable, float],
        x: float,
        sizes: dict[Hashable, int],
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
    points = [
        (LEFT, y0),
        (middle, y0),
        (middle, y1),
        (RIGHT, y1),
        (RIGHT, y1 - width),
        (middle, y1 - width),
        (middle, y0 - width),
        (LEFT, y0 - width),
        (LEFT, y0),
    ]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return Path(np.array(points), codes)
