"""The probability that two items belong together: by their score, and by what their other pairs say.

Sets differ: in some nearly all items belong together, in others hardly any, and a score that is as good as
sure in the one is doubtful in the other. How many mates the items of a pair are expected to have tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit

from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Bools, Floats
from clustruct.data import PairScores

# Where the slope may change. With four knots the held-out log loss was as good as with eight, and as that of
# isotonic regression where there are many pairs, better where there are few (googlenews, abt_buy).
KNOTS = 4
# Weight of a change of slope, against the log loss summed over pairs.
STIFFNESS = 1.0
LEAST_SLOPE = 1e-3
# Of fewer held-out sets it cannot be learned what goes with them.
FEWEST_SETS = 5
# Into how many parts the sets are dealt, each judged by the others.
FOLDS = 5
# An item is taken to have as many mates, at least.
LEAST_MATES = 1e-3
# How many times larger, or smaller, a set may be than those learned from.
BEYOND = 3
LEAST_CONTEXT_SLOPE = 0.5


@register("ScoreMap")
@dataclass(frozen=True)
class ScoreMap(DataclassState):
    """p(s) = sigmoid(f(s)), f increasing and linear between knots: logistic regression that may bend.

    ``logits`` is f at the knots ``scores``, ``below`` and ``above`` are the slopes outside.

    >>> rule = ScoreMap(np.array([0.0, 1.0]), np.array([-1.0, 1.0]), 1.0, 4.0)
    >>> rule.probability(np.array([-1.0, 0.5, 2.0])).round(3).tolist()
    [0.119, 0.5, 0.993]
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
        the usual score. t are 1 and 0 drawn in as by Platt (1999): (n1 + 1) / (n1 + 2) and 1 / (n0 + 2).
        """
        s, y = np.asarray(scores, np.float64), np.asarray(same, np.bool_)
        c = np.ones(len(s)) if weights is None else np.asarray(weights, np.float64)
        if y.all() or not y.any():
            raise ValueError("pairs of one kind only tell nothing of probabilities")
        unit = float(np.sqrt(np.average(s**2, weights=c))) or 1.0
        n1, n0 = float(c[y].sum()), float(c[~y].sum())
        target = np.where(y, (n1 + 1.0) / (n1 + 2.0), 1.0 / (n0 + 2.0))
        z = s / unit
        line = _fit_slopes(z, target, c, np.array([float(np.median(z))]))
        p = expit(_segments(z, line[0]) @ line[1])
        edges, v = _fit_slopes(z, target, c, _knots(z, c * p * (1.0 - p)))
        logits = v[-1] + np.concatenate([[0.0], np.cumsum(v[1:-2] * np.diff(edges))])
        return cls(edges * unit, logits, float(v[0]) / unit, float(v[-2]) / unit)

    def with_share(self, scores: Floats, share: float, weights: Floats) -> Self:
        """The same map with f shifted, so that the weighted mean of the probabilities is a given share."""
        z, target = self.logit(scores), float(logit(share))

        def excess(shift: float) -> float:
            return float(np.average(expit(z + shift), weights=weights)) - share

        shift = float(brentq(excess, target - float(z.max()) - 1.0, target - float(z.min()) + 1.0))
        return replace(self, logits=self.logits + shift)

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


def _fit_slopes(z: Floats, target: Floats, c: Floats, edges: Floats) -> tuple[Floats, Floats]:
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


@register("PairContext")
@dataclass(frozen=True)
class PairContext(DataclassState):
    """p_ab = rule(f(s_ab) + weight x_ab), x_ab = log(min(M_a, M_b) / n), M_a = sum over c of p(s_ac).

    f and p are the map of scores alone, n is the number of items: x is the share of the set that the item
    with fewer mates is expected to belong to. Where items have one mate each the weight is negative; where
    sets differ in their share of pairs that are together it is positive. n is held between ``smallest`` and
    ``largest``, three times beyond the sets learned from (calibration error on author_names 4.3 % without
    bounds, 12.5 % with the very sizes, 7.8 % by scores alone).
    """

    weight: float
    rule: ScoreMap
    smallest: int
    largest: int

    def __post_init__(self) -> None:
        if not 0 < self.smallest <= self.largest or not np.isfinite(self.weight):
            raise ValueError("the numbers of a context of pairs do not fit")

    @classmethod
    def fit(cls, pairs: Sequence[SetPairs], sizes: Sequence[int]) -> Self | None:
        """The context by pairs of held-out sets; None of fewer than five sets, or where the log loss of sets
        left out (five parts in turn) does not fall by more than its standard error over sets.
        """
        if len(pairs) < FEWEST_SETS:
            return None
        held = [(u, _share(m, n), y, w) for (u, m, y, w), n in zip(pairs, sizes, strict=True)]
        if not _helps(held):
            return None
        every = _join_sets(held)
        weight = _weight(every)
        return cls(weight, _fit_map(every, weight), -(-min(sizes) // BEYOND), BEYOND * max(sizes))

    def probability(self, scores: PairScores, rule: ScoreMap) -> Floats:
        """The probabilities of the listed pairs of a set, ``rule`` being the map of scores alone."""
        assert scores.values is not None
        n = min(max(scores.n_items, self.smallest), self.largest)
        x = _share(least_mates(scores, rule), n)
        return self.rule.probability(rule.logit(scores.values) + self.weight * x)


# Of pairs of a set: f(s), the mates of the item that has fewer (or x), whether they are together, weights.
SetPairs: TypeAlias = tuple[Floats, Floats, Bools, Floats]


def least_mates(scores: PairScores, rule: ScoreMap) -> Floats:
    """min(M_a, M_b) of each listed pair: how many mates the item with fewer of them is expected to have."""
    assert scores.index is not None
    assert scores.values is not None
    a, b = scores.index.T
    p = rule.probability(scores.values)
    mates = np.bincount(np.concatenate([a, b]), weights=np.concatenate([p, p]), minlength=scores.n_items)
    return np.asarray(np.minimum(mates[a], mates[b]), np.float64)


def _share(mates: Floats, n: int) -> Floats:
    return np.asarray(np.log(np.maximum(mates, LEAST_MATES) / n), np.float64)


def _join_sets(sets: Sequence[SetPairs]) -> SetPairs:
    u, x, same, w = (np.concatenate(column) for column in zip(*sets, strict=True))
    return u, x, same, w


def _weight(rows: SetPairs) -> float:
    """What x counts beside f(s): logistic regression on both."""
    u, x, same, w = rows
    X = np.column_stack([u, x, np.ones(len(u))])
    c = w / w.sum()

    def objective(v: Floats) -> tuple[float, Floats]:
        z = X @ v
        return float(c @ (np.logaddexp(0.0, z) - same * z)), X.T @ (c * (expit(z) - same))

    bounds = [(LEAST_CONTEXT_SLOPE, None), (None, None), (None, None)]
    start = np.array([1.0, 0.0, 0.0])
    slope, weight, _ = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(weight / slope)


def _fit_map(rows: SetPairs, weight: float) -> ScoreMap:
    u, x, same, w = rows
    return ScoreMap.fit(u + weight * x, same, w)


def _helps(sets: Sequence[SetPairs]) -> bool:
    """Whether sets that were left out have a lower log loss with x than without, by a standard error."""
    gains = np.zeros(len(sets))
    for k in range(FOLDS):
        left_out = range(k, len(sets), FOLDS)
        rest = _join_sets([one for i, one in enumerate(sets) if i not in left_out])
        if len(np.unique(rest[2])) < 2:
            return False
        plain, with_x = (_losses(rest, weight) for weight in (0.0, _weight(rest)))
        for i in left_out:
            gains[i] = plain(sets[i]) - with_x(sets[i])
    spread = np.sqrt(len(gains) * gains.var(ddof=1))
    return bool(gains.sum() > spread)


def _losses(rest: SetPairs, weight: float) -> Callable[[SetPairs], float]:
    """The log loss, summed over the pairs of a set, of the map that the rest gives."""
    rule = _fit_map(rest, weight)

    def loss(rows: SetPairs) -> float:
        u, x, same, w = rows
        z = rule.logit(u + weight * x)
        return float(w @ (np.logaddexp(0.0, z) - same * z))

    return loss
