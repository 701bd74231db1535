"""Bars: the largest weights of a model, and why two items are together or apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from clustruct.core.formatting import short
from clustruct.core.typing import LabelsLike
from clustruct.data import ItemSet
from clustruct.estimators.inputs import read_sets
from clustruct.evaluate.explain import PairExplanation, pair_contributions
from clustruct.learning.problems import mean_squares
from clustruct.pipeline import model_weights

from .drawing import AGAINST, BESIDE, FOR, QUIET, Ax, Display, Names, axes_for, distinct, name_rows, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustruct.estimators.base import PairSimilarity


class WeightsDisplay(Display):
    """The largest weights of a learned similarity as bars, by feature name.

    Weights are shown times the root mean square of their feature, so that bars compare: a long bar
    moves the similarity of a usual pair by much. Blue speaks for together, orange for apart.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct.evaluate.plot import WeightsDisplay
    >>> display = WeightsDisplay(["words", "constant"], [2.0, -0.5]).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['words', 'constant']
    >>> import matplotlib.pyplot; matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, names: Sequence[str], weights: ArrayLike, scale: ArrayLike | None = None) -> None:
        self.names = list(names)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.scale = None if scale is None else np.asarray(scale, dtype=np.float64)
        for what, values in (("names", self.names), ("scale", self.scale)):
            if values is not None and len(values) != len(self.weights):
                raise ValueError(f"{len(self.weights)} weights but {len(values)} {what}")

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: Sequence[ItemSet] | None = None, *, n: int = 20, ax: Ax = None
    ) -> Self:
        """The weights of a fitted model. The scale is that of the sets X; without X that of training."""
        w, _, names = model_weights(estimator)
        scale = getattr(estimator, "feature_scale_", None)
        if X is not None:
            sets = read_sets(estimator, X, reset=False).sets
            scale = np.sqrt(np.mean([mean_squares(x) for x in sets], axis=0))
        return cls(names, w, scale).plot(n=n, ax=ax)

    def plot(self, *, n: int = 20, ax: Ax = None) -> Self:
        """Draw the n largest, largest at the top."""
        sizes = self.weights if self.scale is None else self.weights * self.scale
        shown = np.argsort(-np.abs(sizes), kind="stable")[:n]
        ax = axes_for(ax, 6.8, 1.1 + 0.27 * max(len(shown), 2))
        places = np.arange(len(shown))
        colours = [FOR if sizes[j] >= 0 else AGAINST for j in shown]
        bars = ax.barh(places, sizes[shown], color=colours, height=0.7)
        ax.bar_label(bars, [number(sizes[j]) for j in shown], padding=3, fontsize="small")
        ax.axvline(0.0, color="0.3", lw=0.8)
        low, high = (float(end(sizes[shown], initial=0.0)) for end in (np.min, np.max))
        margin = 0.18 * (high - low) or 1.0
        ax.set_xlim(low - margin * (low < 0.0), high + margin * (high > 0.0 or low == 0.0))
        ax.set_ylim(len(shown) - 0.4, -0.6)
        name_rows(ax, places, distinct([self.names[j] for j in shown]))
        ax.set_xlabel("weight" if self.scale is None else "weight times the typical size of the feature")
        title = f"{len(shown)} largest weights of {len(sizes)}" if len(shown) < len(sizes) else "weights"
        return self.drawn_on(ax, title)


@dataclass(eq=False, repr=False)
class PairContributionDisplay(Display):
    """The similarity of two items as a waterfall of the features' contributions, largest first.

    Each bar starts where the one above ends; the last one is their sum, the similarity. Above zero
    speaks for together.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> from clustruct.evaluate.plot import PairContributionDisplay
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]], feature_names=["words", "constant"])
    >>> model = SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]])
    >>> display = PairContributionDisplay.from_estimator(model, x, 0, 1)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['words = 1', 'constant = 1', 'similarity']
    >>> import matplotlib.pyplot; matplotlib.pyplot.close(display.figure_)
    """

    explanation: PairExplanation
    ids: Names = None

    @classmethod
    def from_estimator(
        cls,
        estimator: PairSimilarity,
        x: ItemSet,
        a: int,
        b: int,
        *,
        labels: LabelsLike | None = None,
        n: int = 12,
        ax: Ax = None,
    ) -> Self:
        """Items a and b of the set x under a fitted model; `labels` is its prediction, if at hand."""
        return cls(pair_contributions(estimator, x, a, b, labels), x.ids).plot(n=n, ax=ax)

    @classmethod
    def from_predictions(
        cls, explanation: PairExplanation, *, ids: Names = None, n: int = 12, ax: Ax = None
    ) -> Self:
        """An explanation made before."""
        return cls(explanation, ids).plot(n=n, ax=ax)

    def plot(self, *, n: int = 12, ax: Ax = None) -> Self:
        """Draw the n largest contributions, the rest summed up as one."""
        found = self.explanation
        steps = found.largest(n)
        ends = np.cumsum([0.0, *(c for _, c in steps)])
        ax = axes_for(ax, 6.8, 1.4 + 0.3 * (len(steps) + 1))
        for row, (_, size) in enumerate(steps):
            ax.barh(row, size, left=ends[row], color=FOR if size >= 0 else AGAINST, height=0.66)
            ax.plot([ends[row + 1]] * 2, [row + 0.33, row + 0.67], color="0.4", lw=0.8)
        total = found.similarity
        ax.barh(len(steps), total, color=QUIET, height=0.66, ec="0.2", lw=1.0)
        self._write_sizes(ax, [c for _, c in steps] + [total], [*ends[:-1], 0.0])
        ax.axvline(0.0, color="0.3", lw=0.8)
        low, high = min(*ends, total), max(*ends, total)
        margin = 0.2 * (high - low) or 1.0
        ax.set_xlim(low - margin, high + margin)
        ax.set_ylim(len(steps) + 0.6, -0.6)
        name_rows(ax, np.arange(len(steps) + 1), [*self._row_names(len(steps)), "similarity"])
        ax.set_xlabel("contribution (above zero: together)")
        return self.drawn_on(ax, self._title())

    def _row_names(self, count: int) -> list[str]:
        found = self.explanation
        values = found.values[found.contributions != 0.0]
        texts = distinct([name for name, _ in found.largest(count)], 34)
        shown = count - (len(values) > count)  # the last row may be a sum
        named = [f"{text} = {number(v)}" for text, v in zip(texts, values[:shown], strict=False)]
        return named + texts[len(named) :]

    def _write_sizes(self, ax: Axes, sizes: list[float], starts: list[float]) -> None:
        for row, (size, start) in enumerate(zip(sizes, starts, strict=True)):
            away, side = (4, "left") if size >= 0 else (-4, "right")
            text = ("+" if size >= 0 and row < len(sizes) - 1 else "") + number(size)
            ax.annotate(text, (start + size, row), (away, 0), ha=side, va="center", **BESIDE)

    def _title(self) -> str:
        found = self.explanation
        first, second = (short(self._name(item), 24) for item in (found.a, found.b))
        title = f"{first} and {second}: {'together' if found.together else 'apart'}"
        links = " > ".join(short(self._name(i), 12) for i in found.path)
        return title + (f"\nthrough {short(links, 70)}" if links else "")

    def _name(self, item: int) -> Hashable:
        return f"item {item}" if self.ids is None else self.ids[item]
