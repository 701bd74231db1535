"""What the other pairs of two items say of a pair: a score means more where mates are many.

Sets differ: in some nearly all items belong together, in others hardly any, and a score that is as good as
sure in the one is doubtful in the other. How many mates the items of a pair are expected to have tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Bools, Floats
from clustruct.data import PairScores

from .score_map import ScoreMap

# Of fewer held-out sets it cannot be learned what goes with them.
FEWEST_SETS = 5
# Into how many parts the sets are dealt, each judged by the others.
FOLDS = 5
# An item is taken to have as many mates, at least.
LEAST_MATES = 1e-3
# How many times larger, or smaller, a set may be than those learned from.
BEYOND = 3
LEAST_SLOPE = 0.5


@register("PairContext")
@dataclass(frozen=True)
class PairContext(DataclassState):
    """p_ab = rule(f(s_ab) + weight x_ab), x_ab = log(min(M_a, M_b) / n), M_a = sum over c of p(s_ac).

    f and p are the map of scores alone, n is the number of items: x is the share of the set that the item
    with fewer mates is expected to belong to. Where items have one mate each a rival speaks against a pair
    (the weight is negative); where sets differ in their share of pairs that are together it is positive.

    Attributes
    ----------
    weight : float
        What x_ab counts.
    rule : ScoreMap
        From the sum to a probability.
    smallest, largest : int
        n outside of these is taken as these: three times beyond the sets learned from. (With the very
        sizes, and x as far as it was seen, the calibration error on halves of the teaching half of
        author_names was 12.5 %, without bounds 4.3 %; by scores alone 7.8 %.)
    """

    weight: float
    rule: ScoreMap
    smallest: int
    largest: int

    def __post_init__(self) -> None:
        if not 0 < self.smallest <= self.largest or not np.isfinite(self.weight):
            raise ValueError("the numbers of a context of pairs do not fit")

    @classmethod
    def fit(cls, pairs: Sequence[Judged], sizes: Sequence[int]) -> Self | None:
        """The context by pairs of held-out sets (f(s), mates, whether together, weight), one for each set.

        None where there are fewer than five sets, or where it does not lower the log loss of sets left out
        (five parts in turn) by more than a standard error of the difference over sets.
        """
        if len(pairs) < FEWEST_SETS:
            return None
        held = [_Rows(u, _share(m, n), y, w) for (u, m, y, w), n in zip(pairs, sizes, strict=True)]
        if not _helps(held):
            return None
        every = _joined(held)
        weight = _weight(every)
        return cls(weight, _fitted(every, weight), -(-min(sizes) // BEYOND), BEYOND * max(sizes))

    def probability(self, scores: PairScores, rule: ScoreMap) -> Floats:
        """The probabilities of the listed pairs of a set, ``rule`` being the map of scores alone."""
        assert scores.values is not None
        n = min(max(scores.n_items, self.smallest), self.largest)
        x = _share(least_mates(scores, rule), n)
        return self.rule.probability(rule.logit(scores.values) + self.weight * x)


# f(s), the mates of the item that has fewer, whether they are together, and weights.
Judged: TypeAlias = tuple[Floats, Floats, Bools, Floats]


@dataclass(frozen=True)
class _Rows:
    """Pairs of a set: f(s), x, whether they are together, weights."""

    u: Floats
    x: Floats
    same: Bools
    w: Floats


def least_mates(scores: PairScores, rule: ScoreMap) -> Floats:
    """min(M_a, M_b) of each listed pair: how many mates the item with fewer of them is expected to have.

    >>> flat = ScoreMap(np.array([0.0]), np.array([0.0]), 1.0, 1.0)
    >>> least_mates(PairScores(3, index=np.array([[0, 1], [1, 2]]), values=np.zeros(2)), flat).tolist()
    [0.5, 0.5]
    """
    assert scores.index is not None
    assert scores.values is not None
    a, b = scores.index.T
    p = rule.probability(scores.values)
    mates = np.bincount(np.concatenate([a, b]), weights=np.concatenate([p, p]), minlength=scores.n_items)
    return np.asarray(np.minimum(mates[a], mates[b]), np.float64)


def _share(mates: Floats, n: int) -> Floats:
    return np.asarray(np.log(np.maximum(mates, LEAST_MATES) / n), np.float64)


def _joined(sets: Sequence[_Rows]) -> _Rows:
    return _Rows(*(np.concatenate([getattr(one, k) for one in sets]) for k in ("u", "x", "same", "w")))


def _weight(rows: _Rows) -> float:
    """What x counts beside f(s): logistic regression on both."""
    X = np.column_stack([rows.u, rows.x, np.ones(len(rows.u))])
    c = rows.w / rows.w.sum()

    def objective(v: Floats) -> tuple[float, Floats]:
        z = X @ v
        return float(c @ (np.logaddexp(0.0, z) - rows.same * z)), X.T @ (c * (expit(z) - rows.same))

    bounds = [(LEAST_SLOPE, None), (None, None), (None, None)]
    start = np.array([1.0, 0.0, 0.0])
    slope, weight, _ = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(weight / slope)


def _fitted(rows: _Rows, weight: float) -> ScoreMap:
    return ScoreMap.fit(rows.u + weight * rows.x, rows.same, rows.w)


def _helps(sets: Sequence[_Rows]) -> bool:
    """Whether sets that were left out have a lower log loss with x than without, by a standard error."""
    gains = np.zeros(len(sets))
    for k in range(FOLDS):
        left_out = range(k, len(sets), FOLDS)
        rest = _joined([one for i, one in enumerate(sets) if i not in left_out])
        if rest.same.all() or not rest.same.any():
            return False
        plain, with_x = (_losses(rest, weight) for weight in (0.0, _weight(rest)))
        for i in left_out:
            gains[i] = plain(sets[i]) - with_x(sets[i])
    spread = np.sqrt(len(gains) * gains.var(ddof=1))
    return bool(gains.sum() > spread)


def _losses(rest: _Rows, weight: float) -> Callable[[_Rows], float]:
    """The log loss, summed over the pairs of a set, of the map that the rest gives."""
    rule = _fitted(rest, weight)

    def loss(rows: _Rows) -> float:
        z = rule.logit(rows.u + weight * rows.x)
        return float(rows.w @ (np.logaddexp(0.0, z) - rows.same * z))

    return loss
