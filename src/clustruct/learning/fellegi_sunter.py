r"""Which pairs belong together, without labels: a mixture of two classes of pairs.

Each field of a pair agrees to some level (0: missing). Given whether the pair belongs together, fields are
taken as independent, and the likelihood

.. math:: \prod_p \Big( \lambda \prod_f m_{f, \gamma_{pf}}^{t_f}
   + (1 - \lambda) \prod_f u_{f, \gamma_{pf}}^{t_f} \Big)

is made large by expectation-maximisation: m are the shares of levels among pairs that belong together, u
among the others, lambda is the share of the former. (Fellegi and Sunter, "A theory for record linkage", JASA
1969; the EM of Winkler, 1988.) The weight of a level is t log(m / u); ``rising`` weights never fall with
agreement, by a projection after each step, which keeps the two classes from changing places.

What is missing says nothing (m = u = 1 at level 0): that both rows have a field tells which list they are
from. Fields that agree together in pairs that are apart (a town and its postcode, a field and its copy) tell
one thing, and share its weight: t (`field_discounts`) is 1 for a field that is independent of all others. As
independent evidence they would be the strongest pattern in the pairs of a wide table, and the two classes
would be pairs of one town and others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit, softmax
from scipy.stats import rankdata

from clustruct.core.typing import Bools, Floats, Ints
from clustruct.features import likeness_features

# Levels of agreement are cut at these quantiles of what pairs have.
CUTS = (0.5, 0.75, 0.9, 0.97, 0.99)
# What is added to each count, as if so many pairs more had been seen.
SMOOTHING = 0.5
MISSING = "missing in"


@dataclass(frozen=True)
class Mixture:
    """Two classes of pairs.

    share : lambda
    weights : log(m / u) of each field (row) and level
    posterior : the probability that each pair belongs together
    log_likelihood : after each round
    """

    share: float
    weights: Floats
    posterior: Floats
    log_likelihood: tuple[float, ...]


def agreement(features: Floats, names: Sequence[str]) -> tuple[Floats, Bools]:
    """How surprising the likeness of each pair is, field by field, and which fields are missing in it.

    For a feature that measures a likeness, minus the logarithm of the share of pairs at least as alike:
    common agreement says little, rare agreement much. The mean over the features of a field (``field:
    feature``).
    """
    alike = set(likeness_features(names))
    columns: dict[str, list[int]] = {}
    missing: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        kind = columns if name in alike else missing if MISSING in name else {}
        kind.setdefault(name.rpartition(": ")[0] or name, []).append(j)
    if not columns:
        raise ValueError("no feature tells a likeness: without labels there is nothing to go by")
    none = np.zeros(len(features), np.bool_)
    absent = [features[:, missing[f]].any(axis=1) if f in missing else none for f in columns]
    return np.column_stack([_surprise(features[:, own]) for own in columns.values()]), np.column_stack(absent)


def _surprise(columns: Floats) -> Floats:
    tails = [rankdata(-column, method="max") / len(column) for column in columns.T]
    return -np.log(np.column_stack(tails)).mean(axis=1)


def levels(values: Floats, missing: Bools) -> Ints:
    """The level of each value, 1 and up; 0 where it is missing.

    >>> levels(np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([[True], [False], [False], [False]])).ravel()
    array([0, 1, 2, 6])
    """
    found = np.zeros(values.shape, np.int64)
    for j, column in enumerate(values.T):
        known = ~missing[:, j]
        if known.any():
            cuts = np.unique(np.quantile(column[known], CUTS))
            found[known, j] = 1 + np.searchsorted(cuts, column[known], side="right")
    return found


def field_discounts(values: Floats, missing: Bools, apart: Floats) -> Floats:
    """How much each field counts beside the others: 1 over the sum of squared correlations with all fields.

    Correlations are those of the values over pairs that weigh ``apart``; that one field agrees where another
    does not takes nothing away.

    >>> once, other = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> fields = np.column_stack([once, once, other])
    >>> field_discounts(fields, np.zeros((4, 3), bool), np.ones(4)).tolist()
    [0.5, 0.5, 1.0]
    """
    known = np.where(missing, 0.0, apart[:, None])
    centred = np.where(
        missing, 0.0, values - (known * values).sum(axis=0) / np.maximum(known.sum(axis=0), 1e-300)
    )
    products = (centred * apart[:, None]).T @ centred
    spread = np.sqrt(np.diag(products))
    among = np.maximum(products, 0.0) / np.maximum(np.outer(spread, spread), 1e-12)
    np.fill_diagonal(among, 1.0)
    return np.asarray(1.0 / (among**2).sum(axis=1))


def fit_mixture(
    gamma: Ints,
    start: Floats,
    *,
    discounts: Floats | None = None,
    rising: bool = True,
    rounds: int = 100,
) -> Mixture:
    """The two classes of pairs with these levels of agreement, from probabilities to begin with.

    ``discounts`` are t, 1 by default. Cost O(pairs fields) each round.
    """
    r, seen, k = np.asarray(start, np.float64), list[float](), int(gamma.max(initial=0)) + 1
    t = np.ones((gamma.shape[1], 1)) if discounts is None else discounts[:, None]
    for _ in range(rounds):
        share = float(np.clip(r.mean(), 1e-9, 1.0 - 1e-9))
        m, u = _shares(gamma, r, k) ** t, _shares(gamma, 1.0 - r, k) ** t
        weights = np.log(m / u)
        if rising:
            weights = _rising(weights, gamma)
        seen.append(_log_likelihood(gamma, share, m, u))
        before, r = r, expit(logit(share) + _sum_by_level(weights, gamma))
        if np.abs(r - before).max(initial=0.0) < 1e-4:
            break
    return Mixture(share, weights, r, tuple(seen))


@dataclass(frozen=True)
class ThreeClasses:
    """Pairs that are apart, near misses, and mates.

    posterior : the probability of each class (column) for each pair
    near_misses : how much more near misses agree like mates than like pairs that are apart, as a log-odds
    """

    posterior: Floats
    near_misses: float


def fit_three_classes(gamma: Ints, start: Floats, discounts: Floats, rounds: int = 100) -> ThreeClasses:
    """Three classes of pairs with these levels of agreement, from probabilities (pairs x 3) to begin with.

    In a table of few mates pairs of one town may be the second class of two. Here they are the near misses:
    they agree in a field or two, and otherwise like pairs that are apart. Where near misses agree like mates
    they are mates, and two classes are right. Cost O(pairs fields) each round.
    """
    r, k, t = np.asarray(start, np.float64), int(gamma.max(initial=0)) + 1, discounts[:, None]
    for _ in range(rounds):
        apart = np.log(_shares(gamma, r[:, 0], k))
        weights = [_rising(t * (np.log(_shares(gamma, r[:, c], k)) - apart), gamma) for c in (1, 2)]
        scores = np.column_stack([np.zeros(len(r)), *(_sum_by_level(w, gamma) for w in weights)])
        before, r = r, softmax(scores + np.log(np.clip(r.mean(axis=0), 1e-9, 1.0)), axis=1)
        if np.abs(r - before).max(initial=0.0) < 1e-4:
            break
    return ThreeClasses(r, float(r[:, 1] @ scores[:, 2] / max(float(r[:, 1].sum()), 1e-300)))


def _shares(gamma: Ints, r: Floats, k: int) -> Floats:
    """The share of each level in each field where it is not missing, of pairs that count r; 1 where it is."""
    counts = np.array([np.bincount(column, weights=r, minlength=k) for column in gamma.T]) + SMOOTHING
    counts[:, 0] = 0.0
    found = counts / counts.sum(axis=1, keepdims=True)
    found[:, 0] = 1.0
    return found


def _rising(weights: Floats, gamma: Ints) -> Floats:
    found = weights.copy()
    for f, column in enumerate(gamma.T):
        n = np.bincount(column, minlength=weights.shape[1])[1:] + 1e-9
        found[f, 1:] = isotonic_regression(weights[f, 1:], weights=n).x
    return found


def _sum_by_level(table: Floats, gamma: Ints) -> Floats:
    return np.sum([row[column] for row, column in zip(table, gamma.T, strict=True)], axis=0)


def _log_likelihood(gamma: Ints, share: float, m: Floats, u: Floats) -> float:
    together = np.log(share) + _sum_by_level(np.log(m), gamma)
    return float(np.logaddexp(together, np.log1p(-share) + _sum_by_level(np.log(u), gamma)).sum())
