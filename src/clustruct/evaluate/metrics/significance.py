"""Which of several models is better, over the same sets: paired tests, and tests against the best."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, rankdata, ttest_rel, wilcoxon

from clustruct.core.typing import Floats
from clustruct.data.matrices import check_real

__all__ = ["PairedComparison", "compare_paired", "lower_is_better"]


@dataclass(frozen=True)
class PairedComparison:
    """First against second on the same sets (Finley 2009, Table 4.5): sets won, tied and lost.

    ``W`` is the size of the sum of signed ranks of the ``n`` differences that are not zero. ``p_wilcoxon``
    and ``p_sign`` are one-tailed, for the side that is ahead; ``p_t_test`` is two-tailed, None where
    differences do not vary. ``difference`` is the mean of the first minus that of the second over all sets;
    ``n_groups`` counts the independent values: sets, or groups of sets.
    """

    wins: int
    ties: int
    losses: int
    W: float
    n: int
    p_wilcoxon: float
    p_sign: float
    difference: float
    p_t_test: float | None
    n_groups: int = 0

    @property
    def p_two_tailed(self) -> float:
        """Two-tailed level of Wilcoxon's signed ranks."""
        return min(1.0, 2.0 * self.p_wilcoxon)


def compare_paired(
    first: ArrayLike,
    second: ArrayLike,
    *,
    lower_wins: bool = True,
    groups: Sequence[Hashable] | None = None,
) -> PairedComparison:
    """Compare two vectors of losses (or scores, with ``lower_wins=False``), one value per set.

    Sets of one group are not independent: with ``groups``, one entry per set, it is the means over each
    group that are won, lost and tested. ``difference`` stays that of the means over all sets.

    Ties are left out, equal differences share their mean rank; the level is exact without them.

    Examples
    --------
    >>> found = compare_paired([43.3, 53.4, 56.0, 39.3, 40.3], [55.6, 58.7, 56.7, 59.5, 63.4])  # Table 4.3
    >>> found.wins, found.W, found.p_wilcoxon, found.p_sign, round(found.difference, 2)
    (5, 15.0, 0.03125, 0.03125, -12.32)
    """
    check_real(first, "first")
    check_real(second, "second")
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two vectors of equal length are compared, not {a.shape} and {b.shape}")
    difference = float(np.mean(a) - np.mean(b))
    if groups is not None:
        a, b = (group_means(values, groups) for values in (a, b))
    better = np.round(b - a if lower_wins else a - b, 9)  # 0.1 + 0.2 must tie with 0.3
    left = better[better != 0.0]
    wins, n = int(np.count_nonzero(left > 0)), len(left)
    signed, p_wilcoxon, p_sign = _signed_ranks(left, wins) if n else (0.0, 1.0, 1.0)
    return PairedComparison(
        wins,
        len(a) - n,
        n - wins,
        abs(signed),
        n,
        p_wilcoxon,
        p_sign,
        difference,
        float(ttest_rel(a, b).pvalue) if len(a) > 1 and np.ptp(a - b) > 0.0 else None,
        len(a),
    )


def group_means(values: Floats, groups: Sequence[Hashable]) -> Floats:
    """One value for each group."""
    if len(groups) != len(values):
        raise ValueError(f"{len(values)} sets but {len(groups)} groups")
    number: dict[Hashable, int] = {}
    owner = np.array([number.setdefault(group, len(number)) for group in groups])
    return np.asarray(np.bincount(owner, values) / np.bincount(owner))


def _signed_ranks(left: Floats, wins: int) -> tuple[float, float, float]:
    """The sum of signed ranks, and the levels of the two tests."""
    n = len(left)
    signed = float(np.sum(np.sign(left) * rankdata(np.abs(left))))
    p = float(wilcoxon(left, alternative="greater" if signed >= 0 else "less").pvalue)
    return signed, p, float(binomtest(max(wins, n - wins), n, alternative="greater").pvalue)


def lower_is_better(name: str) -> bool:
    """Whether a score of this name falls as a clustering gets better.

    Examples
    --------
    >>> [lower_is_better(name) for name in ("pairwise_loss", "b_cubed_f1")]
    [True, False]
    """
    return name.endswith("_loss") or name == "variation_of_information"


__all__ = ["BestComparison", "compare_with_best"]

# Signs that are held at once, at most.
MOST_SIGNS = 4_000_000


@dataclass(frozen=True)
class BestComparison:
    """One model against the best of the others, by the mean over sets.

    ``p`` is the level at which the model is behind some other, corrected for how many others there are; it is
    exact where all signs were tried, not some drawn by chance.
    """

    best: int
    difference: float
    p: float
    is_exact: bool


def compare_with_best(
    values: ArrayLike,
    *,
    lower_wins: bool = True,
    groups: Sequence[Hashable] | None = None,
    n_draws: int = 10_000,
    random_state: int = 0,
) -> list[BestComparison]:
    """Which of some models are behind the best of them, over the same sets.

    A test of a model against the one with the best mean takes that one for given, but it was picked by
    the same values: the more models, the further ahead the luckiest. Here the picking is part of the test.
    With b_ij by how much model j is better than this one on set i::

        T = max over j of   sum_i b_ij / sqrt(sum_i b_ij^2)

    which orders as the largest of the paired t-statistics, and p is the share of sign vectors s, one sign
    for each set and the same for all j, for which T of s_i b_ij is as large. That is exact where no model is
    better and the differences are symmetric about zero. The models with p above .05 are a set that holds
    the best one with a confidence of 95 % (distances from the best: Hsu 1981; the largest of several
    statistics, resampled together: Westfall and Young 1993). It costs n_draws x sets x models^2.

    Losses (or scores, with ``lower_wins=False``) have one row per model; sets of one group are tested by
    their mean. Where there are no more than ``n_draws`` sign vectors, all of them are tried.

    Examples
    --------
    >>> losses = [[1.0, 2.0, 3.0, 4.0, 2.0], [1.1, 1.9, 3.1, 4.1, 1.9], [2.0, 2.9, 4.2, 5.1, 2.8]]
    >>> [(found.best, round(found.difference, 2), found.p) for found in compare_with_best(losses)]
    [(1, -0.02, 0.90625), (0, 0.02, 0.71875), (0, 1.0, 0.03125)]
    """
    check_real(values, "values")
    X = np.asarray(values, np.float64)
    if X.ndim != 2 or X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(f"values of two models at least, one row each, are compared, not {X.shape}")
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, not {n_draws!r}")
    means = X.mean(axis=1)
    if groups is not None:
        X = np.array([group_means(row, groups) for row in X])
    better = -X if lower_wins else X
    ahead = [_unit_rows(np.delete(better, m, axis=0) - better[m]) for m in range(len(X))]
    levels, is_exact = _levels(ahead, X.shape[1], n_draws, random_state)
    comparisons = []
    for m, p in enumerate(levels):
        rest = np.where(np.arange(len(X)) == m, np.inf, means if lower_wins else -means)
        best = int(np.argmin(rest))
        comparisons.append(BestComparison(best, float(means[m] - means[best]), p, is_exact))
    return comparisons


def _unit_rows(b: Floats) -> Floats:
    """Rows of length 1, without those that are zero: no sign moves them."""
    b = np.round(b, 9)  # 0.1 + 0.2 must tie with 0.3
    size = np.sqrt(np.sum(b**2, axis=1))
    return np.asarray(b[size > 0.0] / size[size > 0.0, None])


def _levels(ahead: list[Floats], n: int, n_draws: int, random_state: int) -> tuple[list[float], bool]:
    """For each model the share of sign vectors by which another is as far ahead as without signs."""
    is_exact = n < 63 and 2**n <= n_draws
    reached = np.zeros(len(ahead), np.int64)
    found = [b.sum(axis=1).max(initial=-np.inf) for b in ahead]
    for signs in _all_signs(n) if is_exact else _draw_signs(n, n_draws, random_state):
        for m, b in enumerate(ahead):
            largest = (signs @ b.T).max(axis=1, initial=-np.inf)
            reached[m] += np.count_nonzero(largest >= found[m] - 1e-12)
    if is_exact:
        return [float(r) / 2**n for r in reached], True
    # The values as they are count as one more draw, so that p is never zero and the level is kept.
    return [(1.0 + float(r)) / (1.0 + n_draws) for r in reached], False


def _all_signs(n: int) -> Iterator[Floats]:
    numbers = np.arange(2**n)
    yield np.asarray(1.0 - 2.0 * ((numbers[:, None] >> np.arange(n)) & 1), np.float64)


def _draw_signs(n: int, n_draws: int, random_state: int) -> Iterator[Floats]:
    rng = np.random.default_rng(random_state)
    at_once = max(1, MOST_SIGNS // n)
    for first in range(0, n_draws, at_once):
        shape = min(at_once, n_draws - first), n
        yield np.asarray(1.0 - 2.0 * rng.integers(0, 2, shape), np.float64)
