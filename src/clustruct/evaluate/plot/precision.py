"""What precision costs in recall."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from clustruct.learning.calibration import Dial, PrecisionCurve

from .drawing import AGAINST, BESIDE, FOR, QUIET, Ax, Display, axes_for


class PrecisionDisplay(Display):
    """Precision against recall of pairs at several thresholds, by held-out clusters, with the lower bound.

    Parameters
    ----------
    curve : PrecisionCurve
        PrecisionCurve, of the `calibration_` of a model.
    other : PrecisionCurve, optional
        The same thresholds on other data.
    dial : Dial, optional
        A threshold to mark.

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
