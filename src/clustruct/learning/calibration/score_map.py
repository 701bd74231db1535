"""From a score of a pair to the probability that the two belong together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Bools, Floats

# Where the slope may change. With four knots the held-out log loss was as good as with eight, and as that of
# isotonic regression where there are many pairs, better where there are few (googlenews, abt_buy).
KNOTS = 4
# Weight of a change of slope, against the log loss summed over pairs.
STIFFNESS = 1.0
LEAST_SLOPE = 1e-3


@register("ScoreMap")
@dataclass(frozen=True)
class ScoreMap(DataclassState):
    """p(s) = sigmoid(f(s)), f increasing and linear between knots: logistic regression that may bend.

    Attributes
    ----------
    scores, logits : array
        The knots and f there.
    below, above : float
        The slopes outside.

    Examples
    --------
    >>> rule = ScoreMap(np.array([0.0, 1.0]), np.array([-1.0, 1.0]), 1.0, 4.0)
    >>> rule.probability(np.array([-1.0, 0.5, 2.0])).round(3).tolist()
    [0.119, 0.5, 0.993]
    >>> rule.score(0.5)
    0.5
    """

    scores: NDArray[np.float64]
    logits: NDArray[np.float64]
    below: float
    above: float

    def __post_init__(self) -> None:
        knots = (np.asarray(self.scores), np.asarray(self.logits))
        fitting = knots[0].ndim == 1 and knots[0].shape == knots[1].shape and len(knots[0]) > 0
        slopes = fitting and min(self.below, self.above) > 0.0 and np.isfinite(self.below + self.above)
        if not slopes or any((np.diff(k) <= 0.0).any() for k in knots):
            raise ValueError("the map from scores to probabilities does not rise")

    @classmethod
    def fit(cls, scores: Floats, same: Bools, weights: Floats | None = None) -> Self:
        """The map of least log loss plus a penalty on changes of slope, from pairs that are together or not.

        min sum_i c_i l(t_i, f(s_i)) + stiffness sum_j (b_j - b_{j-1})^2, b_j > 0 the slopes of f in units of
        the usual score. t are 1 and 0 drawn in a little, as Platt (1999) does: with n1 pairs that are
        together (n1 + 1) / (n1 + 2), with n0 that are not 1 / (n0 + 2).
        """
        s, y = np.asarray(scores, np.float64), np.asarray(same, np.bool_)
        c = np.ones(len(s)) if weights is None else np.asarray(weights, np.float64)
        if y.all() or not y.any():
            raise ValueError("pairs of one kind only tell nothing of probabilities")
        unit = float(np.sqrt(np.average(s**2, weights=c))) or 1.0
        n1, n0 = float(c[y].sum()), float(c[~y].sum())
        target = np.where(y, (n1 + 1.0) / (n1 + 2.0), 1.0 / (n0 + 2.0))
        z = s / unit
        line = _fitted(z, target, c, np.array([float(np.median(z))]))
        p = expit(_segments(z, line[0]) @ line[1])
        edges, v = _fitted(z, target, c, _knots(z, c * p * (1.0 - p)))
        logits = v[-1] + np.concatenate([[0.0], np.cumsum(v[1:-2] * np.diff(edges))])
        return cls(edges * unit, logits, float(v[0]) / unit, float(v[-2]) / unit)

    def logit(self, scores: Floats) -> Floats:
        """f(s), the logit of the probability."""
        s = np.asarray(scores, np.float64)
        inside = np.interp(s, self.scores, self.logits)
        low = self.below * np.minimum(s - self.scores[0], 0.0)
        return np.asarray(inside + low + self.above * np.maximum(s - self.scores[-1], 0.0))

    def probability(self, scores: Floats) -> Floats:
        """The probability that the two items of a pair belong together."""
        return np.asarray(expit(self.logit(scores)), np.float64)

    def score(self, probability: float) -> float:
        """The score of that probability."""
        if not 0.0 < probability < 1.0:
            raise ValueError(f"a probability between 0 and 1 is wanted, not {probability!r}")
        z = float(logit(probability))
        inside = float(np.interp(z, self.logits, self.scores))
        low, high = min(z - self.logits[0], 0.0), max(z - self.logits[-1], 0.0)
        return float(inside + low / self.below + high / self.above)


def _knots(z: Floats, weights: Floats) -> Floats:
    """Quantiles of the scores, by how doubtful they are."""
    order = np.argsort(z, kind="stable")
    share = np.cumsum(weights[order])
    levels = (np.arange(KNOTS) + 0.5) / KNOTS
    edges = np.unique(np.interp(levels, share / share[-1], z[order]))
    return edges[np.concatenate([[True], np.diff(edges) > 1e-6 * max(1.0, float(np.ptp(edges)))])]


def _segments(z: Floats, edges: Floats) -> Floats:
    """How far each z goes in each segment, and 1: columns whose weights are the slopes and f at the first
    knot.
    """
    parts = [np.minimum(z - edges[0], 0.0)]
    parts += [np.clip(z - a, 0.0, b - a) for a, b in pairwise(edges)]
    return np.column_stack([*parts, np.maximum(z - edges[-1], 0.0), np.ones(len(z))])


def _fitted(z: Floats, target: Floats, c: Floats, edges: Floats) -> tuple[Floats, Floats]:
    X = _segments(z, edges)

    def objective(v: Floats) -> tuple[float, Floats]:
        u, change = X @ v, np.diff(v[:-1])
        loss = c @ (np.logaddexp(0.0, u) - target * u) + STIFFNESS * (change**2).sum()
        gradient = X.T @ (c * (expit(u) - target))
        gradient[1:-1] += 2.0 * STIFFNESS * change
        gradient[:-2] -= 2.0 * STIFFNESS * change
        return float(loss), gradient

    start = np.ones(X.shape[1])
    start[-1] = 0.0
    bounds = [(LEAST_SLOPE, None)] * (X.shape[1] - 1) + [(None, None)]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    return edges, np.asarray(found.x, np.float64)
