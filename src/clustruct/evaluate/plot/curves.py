"""Curves: how training came to its end, and what precision costs in recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clustruct.core.typing import Floats
from clustruct.learning.calibration import Dial, PrecisionCurve
from clustruct.ssvm import FitResult

from .drawing import AGAINST, BESIDE, FOR, QUIET, Ax, Display, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shown = Literal["bounds", "gap"]
Against = Literal["seconds", "rounds"]


class ConvergenceDisplay(Display):
    """Upper and lower bound of the training objective, or their relative gap, as training went on.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct import SupervisedCorrelationClustering
    >>> from clustruct.papers.toy_marbles import make_marbles
    >>> from clustruct.evaluate.plot import ConvergenceDisplay
    >>> sets = make_marbles(3)
    >>> model = SupervisedCorrelationClustering(C=1.0).fit(
    ...     [m.item_set() for m in sets], [m.labels for m in sets])
    >>> display = ConvergenceDisplay.from_estimator(model, against="rounds")
    >>> display.ax_.get_xlabel()
    'rounds'
    >>> import matplotlib.pyplot; matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, result: FitResult) -> None:
        if not result.history:
            raise ValueError("the result has no history: nothing was trained, or it was not kept")
        self.result = result

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, show: Shown = "bounds", against: Against = "seconds", ax: Ax = None
    ) -> Self:
        """The last training of a fitted estimator."""
        check_is_fitted(estimator)
        result = getattr(estimator, "result_", None)
        if result is None:
            raise ValueError(f"{type(estimator).__name__} has no result_: its training was not kept")
        return cls.from_predictions(result, show=show, against=against, ax=ax)

    @classmethod
    def from_predictions(
        cls, result: FitResult, *, show: Shown = "bounds", against: Against = "seconds", ax: Ax = None
    ) -> Self:
        """A result of `clustruct.ssvm.fit`."""
        return cls(result).plot(show=show, against=against, ax=ax)

    def plot(self, *, show: Shown = "bounds", against: Against = "seconds", ax: Ax = None) -> Self:
        """Draw the bounds, or the gap on a logarithmic axis, against seconds or rounds."""
        if show not in ("bounds", "gap") or against not in ("seconds", "rounds"):
            raise ValueError(
                f"show is bounds or gap, against is seconds or rounds, not {show!r}, {against!r}"
            )
        ax = axes_for(ax, 6.4, 3.8)
        rounds = self.result.history
        x = np.array([h.seconds if against == "seconds" else h.iteration for h in rounds], float)
        upper, lower = np.array([[h.primal, h.dual] for h in rounds], float).T
        draw = self._draw_gap if show == "gap" else self._draw_bounds
        draw(ax, x, upper, lower)
        ax.legend(frameon=False, fontsize="small", loc="best")
        ax.set_xlabel(against)
        return self.drawn_on(ax, self._title())

    def _draw_bounds(self, ax: Axes, x: Floats, upper: Floats, lower: Floats) -> None:
        """The upper bound is not known in rounds that looked at a part of the sets only."""
        known, sound = np.isfinite(upper), np.isfinite(lower)
        both = known & sound
        ax.axhline(self.result.objective, color="0.6", lw=0.8, ls=":", label="objective at the end")
        ax.plot(x[sound], lower[sound], color=FOR, ls="--", label="lower bound", **_dots(x))
        rings: dict[str, Any] = {"marker": "o", "ms": 6, "mfc": "none"} if known.sum() < 40 else {}
        ax.plot(x[known], upper[known], color=AGAINST, label="upper bound (best objective seen)", **rings)
        ax.fill_between(x[both], lower[both], upper[both], color="0.85", lw=0)
        ax.ticklabel_format(axis="y", useOffset=False)
        ax.set_ylabel("training objective")

    def _draw_gap(self, ax: Axes, x: Floats, upper: Floats, lower: Floats) -> None:
        """Where no upper bound is known yet, the objective at the end stands for it."""
        end = np.full(len(x), self.result.objective)
        words = ("lower bound to the objective at the end", "gap between the bounds")
        for high, label, colour, line in zip((end, upper), words, (QUIET, FOR), ("--", "-"), strict=True):
            known = np.isfinite(high) & np.isfinite(lower)
            gap = np.maximum((high - lower)[known] / self._size, 1e-16)
            ax.plot(x[known], gap, color=colour, ls=line, label=label, **_dots(x))
        ax.set_yscale("log")
        ax.set_ylabel("relative gap")

    @property
    def _size(self) -> float:
        """What gaps are measured by."""
        return max(abs(self.result.objective), float(np.finfo(float).tiny))

    def _title(self) -> str:
        result = self.result
        reason, gap = result.stop_reason.replace("_", " "), result.gap / self._size
        return f"{reason} after {result.n_iter} rounds, {result.seconds:.3g} s, relative gap {gap:.2g}"


def _dots(x: Floats) -> dict[str, Any]:
    """Rounds are marked where there are few."""
    return {"marker": "o" if len(x) < 40 else "", "ms": 3}


class PrecisionDisplay(Display):
    """Precision against recall of pairs at several thresholds, by held-out clusters, with the lower bound.

    ``other`` has the same thresholds on other data; ``dial`` is a threshold to mark.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from clustruct.learning.calibration import PrecisionCurve
    >>> curve = PrecisionCurve(np.array([0.0, 1.0]), np.array([9.0, 5.0]), np.array([10.0, 5.0]), 10.0,
    ...                        np.array([0.6, 0.7]))
    >>> PrecisionDisplay(curve).plot().ax_.get_xlabel()
    'recall'
    """

    def __init__(
        self, curve: PrecisionCurve, other: PrecisionCurve | None = None, dial: Dial | None = None
    ) -> None:
        self.curve, self.other, self.dial = curve, other, dial

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Ax = None) -> Self:
        """The curve of a model that has probabilities."""
        return cls(estimator.probabilities().curve).plot(ax=ax)

    def plot(self, *, ax: Ax = None) -> Self:
        """Draw the curve, its lower bound, and the point of the model as it is."""
        ax = axes_for(ax, 5.6, 4.2)
        recall, precision, lower = self.curve.recall, self.curve.precision, self.curve.lower
        ax.plot(recall, precision, color=FOR, marker="o", ms=4, label="held-out clusters")
        ax.fill_between(recall, lower, precision, color=FOR, alpha=0.15, lw=0, label="down to the 95 % bound")
        if self.other is not None:
            known = self.other.found > 0.0
            x, y = self.other.recall[known], self.other.precision[known]
            ax.plot(x, y, color=AGAINST, marker="s", ms=4, label="this data")
        at = int(np.argmin(np.abs(self.curve.thresholds)))
        ax.plot(recall[at], precision[at], "o", ms=10, mfc="none", color=QUIET)
        ax.annotate("as trained", (recall[at], precision[at]), xytext=(6, -12), **BESIDE)
        if self.dial is not None:
            ax.plot(self.dial.recall, self.dial.precision, "D", color="black", label="chosen")
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")
        ax.legend(frameon=False, fontsize="small", loc="lower left")
        return self.drawn_on(ax, "pairs put together, by threshold")
