"""The largest weights of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from clustruct.data import ItemSet
from clustruct.estimators.inputs import read_sets
from clustruct.learning.problems import mean_squares
from clustruct.pipeline import model_weights

from .drawing import AGAINST, FOR, Ax, Display, axes_for, distinct, name_rows, number


class WeightsDisplay(Display):
    """The largest weights of a learned similarity as bars, by feature name.

    Weights are shown times the root mean square of their feature, so that bars compare: a long bar
    moves the similarity of a usual pair by much. Blue speaks for together, orange for apart.

    Parameters
    ----------
    names, weights
        One of each per feature.
    scale : array, optional
        What each weight is multiplied by; without it weights are shown as they are.

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
