"""The probability that an item is in the right cluster, from what its pairs say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit

from clustruct.core.partitions import UNKNOWN, canonical_labels
from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores

from .pair_probability import ScoreMap

Room: TypeAlias = Callable[[Ints, Ints], Ints]
# Of items with mates, and of items that are alone; more of each speaks for the item's place.
GROUPED = ("own", "apart", "margin", "cluster", "overlap")
ALONE = ("apart", "nearest", "open")
# Weight of the squared coefficients against the mean log loss.
RIDGE = 0.01
# Fewer items that are right, or wrong, tell nothing beyond how many of them there are.
FEWEST = 20
# What is then believed: what its pairs say of its own and of the best other cluster, as if these were
# independent; of an item that is alone, its best pair.
BELIEVED = {"grouped": np.array([1.0, 1.0, 0.0, 0.0, 0.0]), "alone": np.array([0.0, 1.0, 0.0])}
# Probabilities nearer to 0 and 1 are taken as these.
NEAREST = 1e-4


@register("MonotoneLogistic")
@dataclass(frozen=True)
class MonotoneLogistic(DataclassState):
    """p = sigmoid(<coef, (x - centre) / scale> + intercept), no coefficient negative.

    Coefficients of either sign follow the few sets that they were learned from: over five data sets the area
    under the curve fell from .88 to .87, on one from .88 to .75.
    """

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: float

    def __post_init__(self) -> None:
        shapes = {np.shape(v) for v in (self.centre, self.scale, self.coef)}
        if len(shapes) != 1 or len(shapes.pop()) != 1 or (self.scale <= 0.0).any() or (self.coef < 0.0).any():
            raise ValueError("the parts of a logistic rule do not fit")

    @classmethod
    def fit(cls, X: Floats, right: Bools, believed: Floats) -> Self:
        """Least mean log loss plus a ridge. Of few items of a kind no coefficients can be learned: those
        ``believed`` are taken, with the share that is right as their mean.
        """
        n, d = X.shape
        share = (float(right.sum()) + 1.0) / (n + 2.0)
        if min(np.count_nonzero(right), np.count_nonzero(~right)) < FEWEST:
            return cls(np.zeros(d), np.ones(d), believed, _intercept(X @ believed, share))
        centre, scale = X.mean(axis=0), X.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        Z = (X - centre) / scale

        def objective(v: Floats) -> tuple[float, Floats]:
            u, b = Z @ v[:-1] + v[-1], v[:-1]
            loss = (np.logaddexp(0.0, u) - right * u).mean() + RIDGE * (b**2).sum()
            wrong = (expit(u) - right) / n
            return float(loss), np.append(Z.T @ wrong + 2.0 * RIDGE * b, wrong.sum())

        start = np.append(np.zeros(d), logit(share))
        bounds = [(0.0, None)] * d + [(None, None)]
        v = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(centre, scale, np.maximum(v[:-1], 0.0), float(v[-1]))

    def __call__(self, X: Floats) -> Floats:
        return np.asarray(expit((X - self.centre) / self.scale @ self.coef + self.intercept), np.float64)


def _intercept(u: Floats, share: float) -> float:
    """The c for which sigmoid(u + c) is this share in the mean; 0 where there is nothing to take it of."""
    if not len(u):
        return 0.0
    wanted = float(logit(share))
    # At these ends all probabilities are below, or above, the share.
    return float(
        brentq(lambda c: expit(u + c).mean() - share, wanted - u.max() - 1.0, wanted - u.min() + 1.0)
    )


@register("ItemRule")
@dataclass(frozen=True)
class ItemRule(DataclassState):
    """How sure the place of an item is, for items with mates and for those alone; ``unit`` is the usual
    score.
    """

    grouped: MonotoneLogistic
    alone: MonotoneLogistic
    unit: float

    def __post_init__(self) -> None:
        sizes = (np.shape(self.grouped.coef), np.shape(self.alone.coef))
        if sizes != ((len(GROUPED),), (len(ALONE),)) or not 0.0 < self.unit < np.inf:
            raise ValueError("the rule for the confidence in items does not fit")

    @classmethod
    def fit(cls, evidence: Sequence[MateEvidence], right: Sequence[Bools], unit: float) -> Self:
        """The rule by items of which it is known whether they are in the right place."""
        parts = {}
        for name, columns in (("grouped", GROUPED), ("alone", ALONE)):
            rows, kept = [np.zeros((0, len(columns)))], [np.zeros(0, np.bool_)]
            for one, known in zip(evidence, right, strict=True):
                which = one.is_alone == (name == "alone")
                rows.append(one.columns(columns)[which])
                kept.append(known[which])
            rule = MonotoneLogistic.fit(np.concatenate(rows), np.concatenate(kept), BELIEVED[name])
            parts[name] = rule
        return cls(parts["grouped"], parts["alone"], unit)

    def confidence(self, evidence: MateEvidence) -> Floats:
        """The probability that each item is in the right place."""
        return np.where(
            evidence.is_alone, self.alone(evidence.columns(ALONE)), self.grouped(evidence.columns(GROUPED))
        )


@dataclass(frozen=True)
class MateEvidence:
    """What the pairs of each item say of its place.

    own : logit of the mean probability of its pairs with its own cluster
    apart : minus the logit of the same with the best other cluster
    margin : score lost by its best other place, over the size of its cluster, between -1 and 1
    cluster : logit of the mean probability of all pairs of its cluster
    overlap : how many mates it is expected to have there, over all that it is expected to have
    nearest : minus the logit of the probability of its best pair outside
    open : minus the log of how many mates it is expected to have in the best other cluster
    """

    is_alone: Bools
    own: Floats
    apart: Floats
    margin: Floats
    cluster: Floats
    overlap: Floats
    nearest: Floats
    open: Floats

    def columns(self, names: Sequence[str]) -> Floats:
        """What counts for items with mates (`GROUPED`) or for those that are alone (`ALONE`)."""
        return np.column_stack([getattr(self, name) for name in names])

    def of_items(self, which: Bools) -> Self:
        """The evidence of some items."""
        return type(self)(*(getattr(self, f.name)[which] for f in fields(self)))

    @classmethod
    def of(cls, scores: PairScores, labels: Ints, rule: ScoreMap, unit: float) -> Self:
        """What the compared pairs say of a clustering. O(pairs log pairs)."""
        listed, y = scores.list_pairs(), canonical_labels(labels)
        assert listed.index is not None
        assert listed.values is not None
        a, b = listed.index.T
        s, p = listed.values, rule.probability(listed.values)
        sizes = np.bincount(y)
        inside = y[a] == y[b]
        mean, total = _inside(a[inside], b[inside], p[inside], s[inside], len(y))
        cluster = _means(y[a[inside]], p[inside], len(sizes))[y]
        other = a[~inside], b[~inside], p[~inside], s[~inside]
        best_score, best_mean, mates, nearest = _outside(*other, y, _room(scores, y))
        size, alone = sizes[y].astype(np.float64), sizes[y] == 1
        place = np.where(alone, best_score, np.maximum(best_score, 0.0))
        margin = np.where(np.isfinite(place), total - place, total)
        return cls(
            alone,
            _logit(mean),
            -_logit(best_mean),
            np.tanh(margin / unit / size),
            _logit(cluster),
            (1.0 + mean * (size - 1.0)) / (size + mates),
            -_logit(nearest),
            -np.log1p(mates),
        )


def believed_in_place(scores: PairScores, labels: Ints) -> Floats:
    """The probability that each item is in the right place by scores that are log-odds, where nothing was
    held out: that it belongs to its mates and, independent of that, to no other cluster.

    >>> K = PairScores(3, index=np.array([[0, 1], [1, 2]]), values=np.array([2.0, -2.0]))
    >>> believed_in_place(K, np.array([0, 0, 1])).round(2).tolist()
    [0.88, 0.78, 0.88]
    """
    plain = ScoreMap(np.zeros(1), np.zeros(1), 1.0, 1.0)
    found = MateEvidence.of(scores, labels, plain, 1.0)
    return np.asarray(expit(found.apart) * np.where(found.is_alone, 1.0, expit(found.own)), np.float64)


def _logit(p: Floats) -> Floats:
    return np.asarray(logit(np.clip(p, NEAREST, 1.0 - NEAREST)), np.float64)


def _means(groups: Ints, values: Floats, n: int) -> Floats:
    """The mean of the values of each group, 1/2 where there are none."""
    count = np.bincount(groups, minlength=n)
    total = np.bincount(groups, weights=values, minlength=n)
    return np.where(count > 0, total / np.maximum(count, 1), 0.5)


def _inside(a: Ints, b: Ints, p: Floats, s: Floats, n: int) -> tuple[Floats, Floats]:
    """The mean probability and the sum of scores of each item's pairs."""
    ends, twice = np.concatenate([a, b]), np.concatenate([s, s])
    mean = _means(ends, np.concatenate([p, p]), n)
    return mean, np.asarray(np.bincount(ends, weights=twice, minlength=n), np.float64)


def _outside(
    a: Ints, b: Ints, p: Floats, s: Floats, y: Ints, room: Room
) -> tuple[Floats, Floats, Floats, Floats]:
    """The best of each item in another cluster: sum of scores, mean probability, expected mates, best
    pair.
    """
    n, k = len(y), int(y.max(initial=-1)) + 1
    item, keys = _cells(a, b, y, k)
    cells, place = np.unique(keys, return_inverse=True)
    count = np.bincount(place, minlength=len(cells))
    twice = (np.concatenate([s, s]), np.concatenate([p, p]))
    sums = [np.bincount(place, weights=v, minlength=len(cells)) for v in twice]
    score, total = np.asarray(sums, np.float64)
    mean, owner = total / np.maximum(count, 1), cells // k
    return (
        _largest(owner, score, n, -np.inf),
        _largest(owner, mean, n, 0.0),
        _largest(owner, mean * room(owner, cells % k), n, 0.0),
        _largest(item, twice[1], n, 0.0),
    )


def _room(scores: PairScores, y: Ints) -> Room:
    """How many mates an item can have in a cluster: all its items, without those of the same source."""
    sizes = np.bincount(y)
    if scores.sources is None:
        return lambda item, cluster: sizes[cluster]
    sources, k = scores.sources.astype(np.int64), len(sizes)
    there = np.unique(sources * k + y)
    return lambda item, cluster: sizes[cluster] - np.isin(sources[item] * k + cluster, there)


def _cells(a: Ints, b: Ints, y: Ints, k: int) -> tuple[Ints, Ints]:
    """Each pair from both sides: the item, and a number for it with the other one's cluster."""
    item, mate = np.concatenate([a, b]), np.concatenate([b, a])
    return item, item.astype(np.int64) * k + y[mate]


def _largest(owner: Ints, values: Floats, n: int, least: float) -> Floats:
    found = np.full(n, least)
    np.maximum.at(found, owner, values)
    return found


def in_right_place(truth: Ints, labels: Ints) -> Bools:
    """Whether more than half of the items that are in an item's cluster or in its true one are in both.

    Of a true cluster that was cut the larger part is right (if it is more than half of it), of clusters that
    were merged the items of the larger one. Items without a label (-1) are alone.
    """
    t = np.where(truth == UNKNOWN, truth.max(initial=0) + 1 + np.arange(len(truth)), truth)
    t, y = canonical_labels(t), canonical_labels(labels)
    _, place, count = np.unique(t * (len(y) + 1) + y, return_inverse=True, return_counts=True)
    shared = count[place]
    return np.asarray(2 * shared > np.bincount(t)[t] + np.bincount(y)[y] - shared)


def group_confidence(labels: Ints, items: Floats) -> Floats:
    """The share of each group's items expected to be in the right place, for each of its items.

    Examples
    --------
    >>> group_confidence(np.array([0, 0, 1]), np.array([1.0, 0.5, 0.25])).tolist()
    [0.75, 0.75, 0.25]
    """
    y = canonical_labels(labels)
    return _means(y, items, len(y))[y]
