"""Which of two is better, over the same sets: wins, signed ranks, signs and the t-test."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, rankdata, ttest_rel, wilcoxon

from clustruct.core.typing import Floats
from clustruct.data.matrices import check_real

__all__ = ["PairedComparison", "compare_paired", "lower_is_better"]


@dataclass(frozen=True)
class PairedComparison:
    """First against second on the same sets (Finley 2009, Table 4.5).

    Attributes
    ----------
    wins, ties, losses : int
        Sets on which the first is better, equal, worse.
    W : float
        Size of the sum of signed ranks of the differences that are not zero.
    n : int
        How many these are.
    p_wilcoxon : float
        One-tailed level of Wilcoxon's signed ranks, for the side that is ahead.
    p_sign : float
        One-tailed level of the sign test.
    difference : float
        Mean of the first minus mean of the second.
    p_t_test : float or None
        Two-tailed level of the paired t-test; None where the differences do not vary.
    n_groups : int, default=0
        How many independent values were compared: sets, or groups of sets.
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

    Parameters
    ----------
    first : array-like
        One value for each set.
    second : array-like
        One value for each set, in the same order.
    lower_wins : bool, default=True
        Whether smaller values are better.
    groups : sequence of hashable, optional
        The group of each set.

    Returns
    -------
    PairedComparison
        Sets won, tied and lost, the mean difference and the level of the test.

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

    Parameters
    ----------
    name : str
        The name of a score of `evaluate`.

    Returns
    -------
    bool
        True for losses and distances.

    Examples
    --------
    >>> [lower_is_better(name) for name in ("pairwise_loss", "b_cubed_f1")]
    [True, False]
    """
    return name.endswith("_loss") or name == "variation_of_information"
