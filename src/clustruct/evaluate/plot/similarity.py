"""Similarities ordered by cluster."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from clustruct.core.formatting import count
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import LabelsLike
from clustruct.data import ItemSet, as_item_set
from clustruct.learning.score_confidence import Similarities

from .drawing import BESIDE, DIVERGING, Ax, Display, Names, axes_for, distinct, name_rows, strip_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustruct.estimators.base import PairSimilarity

# More rows than this no screen shows. Items are sampled evenly then; where there are many clusters, whole
# ones of all sizes are shown instead, about FEWER items in all, so that small ones can be seen.
MOST_ITEMS, FEWER = 1000, 250
Truth: TypeAlias = LabelsLike | None


class SimilarityMatrixDisplay(Display):
    """The similarity of every pair, items ordered by predicted cluster, each cluster in a frame.

    Blue pairs want to be together, red ones apart. With the truth, the strip at the left shows the true
    cluster of each item: one colour within a frame is right, several are clusters merged; a colour
    that returns in another frame of like colour may be a cluster split (colours repeat after 21).

    After `plot`, ``order_`` has the items from top to bottom.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct.evaluate.plot import SimilarityMatrixDisplay
    >>> K = [[0, -1, 3], [-1, 0, 1], [3, 1, 0]]
    >>> display = SimilarityMatrixDisplay.from_predictions(K, [0, 1, 0], ids=["a", "b", "c"])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a', 'c', 'b']
    >>> import matplotlib.pyplot; matplotlib.pyplot.close(display.figure_)
    """

    def __init__(
        self, similarity: Similarities, labels: LabelsLike, *, truth: Truth = None, ids: Names = None
    ) -> None:
        self.similarity: Any = similarity if sparse.issparse(similarity) else np.asarray(similarity, float)
        m = int(np.shape(self.similarity)[0])
        self.labels = canonical_labels(labels, n_items=m)
        self.truth = None if truth is None else canonical_labels(truth, n_items=m, name="truth")
        self.ids = ids

    @classmethod
    def from_estimator(
        cls, estimator: PairSimilarity, x: ItemSet | ArrayLike, truth: Truth = None, *, ax: Ax = None
    ) -> Self:
        """One set x, its similarities and clusters from a fitted model."""
        one = as_item_set(x)
        K, labels = estimator.decision_function(one), estimator.predict(one)
        return cls(K, labels, truth=truth, ids=one.ids).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        similarity: Similarities,
        labels: LabelsLike,
        *,
        truth: Truth = None,
        ids: Names = None,
        ax: Ax = None,
    ) -> Self:
        """A similarity matrix and a clustering."""
        return cls(similarity, labels, truth=truth, ids=ids).plot(ax=ax)

    def plot(self, *, ax: Ax = None) -> Self:
        """Draw the matrix."""
        ax = axes_for(ax, 6.4, 5.4)
        import matplotlib

        self.order_ = self._order()
        K = self.similarity.tocsr() if sparse.issparse(self.similarity) else self.similarity
        K = K[self.order_][:, self.order_]
        K = K.toarray() if sparse.issparse(K) else K.copy()
        # One number in a hundred may leave the scale, so that a few do not pale the rest.
        off = np.abs(K[~np.eye(len(K), dtype=bool)])
        limit = float(np.quantile(off, 0.99)) if off.size else 1.0
        limit = limit if limit > 0.0 else float(off.max(initial=0.0)) or 1.0
        np.fill_diagonal(K, np.nan)
        colours = matplotlib.colormaps[DIVERGING].with_extremes(bad="0.75")
        self.image_ = ax.imshow(K, cmap=colours, vmin=-limit, vmax=limit, interpolation="nearest")
        extend = "both" if off.size and off.max() > limit else "neither"
        bar = ax.figure.colorbar(self.image_, ax=ax, extend=extend, shrink=0.8, pad=0.02)
        bar.set_label("similarity (blue: together)")
        self._frame_clusters(ax)
        self._name_items(ax)
        if self.truth is not None:
            self._strip_of_truth(ax)
        return self.drawn_on(ax, self._title(), pad=None if self.truth is None else 16)

    def _order(self) -> NDArray[np.intp]:
        """Largest cluster first; inside a cluster by true cluster; a sample where there are too many."""
        sizes = np.bincount(self.labels)
        rank = np.empty(len(sizes), np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        inner = np.zeros(len(self.labels)) if self.truth is None else self.truth
        order = np.lexsort((inner, rank[self.labels]))
        if len(order) <= MOST_ITEMS:
            return order
        some = rank[self.labels[order]] % -(-len(order) // FEWER) == 0
        if len(sizes) > FEWER / 3 and some.sum() <= MOST_ITEMS:
            return order[some]
        return order[np.linspace(0, len(order) - 1, MOST_ITEMS).astype(np.intp)]

    def _frame_clusters(self, ax: Axes) -> None:
        from matplotlib.patches import Rectangle

        ax.spines[:].set_visible(False)
        m = len(self.order_)
        ax.add_patch(Rectangle((-0.5, -0.5), m, m, fill=False, ec="0.3", lw=0.8, clip_on=False))
        runs = _runs(self.labels[self.order_])
        width = 1.4 if len(runs) < 40 else 0.7
        for start, size in ((start, stop - start) for start, stop in runs if stop - start > 1):
            style: dict[str, Any] = {"fill": False, "ec": "black", "lw": width, "clip_on": False}
            ax.add_patch(Rectangle((start - 0.5, start - 0.5), size, size, **style))

    def _name_items(self, ax: Axes) -> None:
        """Names of items where each row is high enough for one."""
        ax.set(xticks=[], yticks=[])
        ax.tick_params(axis="y", length=0)
        row = 72 * ax.get_window_extent().height / ax.figure.dpi / len(self.order_)
        if row > 6.5:
            names = distinct([a if self.ids is None else self.ids[a] for a in self.order_], 24)
            name_rows(ax, np.arange(len(names)), names, fontsize=min(8.5, 0.85 * row))

    def _strip_of_truth(self, ax: Axes) -> None:
        """A column of colours to the left of the matrix, in the units of the matrix."""
        from matplotlib.patches import Rectangle

        assert self.truth is not None
        seen = canonical_labels(self.truth[self.order_])
        m = len(seen)
        right, width = -0.5 - 0.02 * m, 0.035 * m
        for start, stop in _runs(seen):
            corner, colour = (right - width, start - 0.5), strip_colour(int(seen[start]))
            ax.add_patch(Rectangle(corner, width, stop - start, fc=colour, lw=0))
        ax.set_xlim(right - width, m - 0.5)
        at = (right - width / 2, -0.5)
        ax.annotate("truth", at, (0, 3), ha="center", **BESIDE)

    def _title(self) -> str:
        m, k = len(self.labels), int(self.labels.max()) + 1
        title = f"{count(m, 'item')} in {count(k, 'cluster')}"
        if self.truth is not None:
            title += f" (truth: {int(self.truth.max()) + 1:,})"
        return title + (f"\n{len(self.order_):,} items shown" if len(self.order_) < m else "")


def _runs(values: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Start and stop of each run of equal values."""
    cuts = np.flatnonzero(np.diff(values)) + 1
    return list(pairwise([0, *cuts.tolist(), len(values)]))
