"""How good probabilities are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.typing import Bools, Floats


def calibration_error(
    truth: ArrayLike, probability: ArrayLike, *, bins: int = 10, between: tuple[float, float] = (0.0, 1.0)
) -> float:
    """Mean over bins of equally many cases of |mean probability - share that is true|; nan without cases.

    Only cases with a probability strictly between the two bounds count. With n cases in all, chance alone
    gives about 0.4 sqrt(bins / n) where probabilities are near 1/2.

    Parameters
    ----------
    truth : array-like
        Whether each case is true.
    probability : array-like
        The probability that was said of each case.
    bins : int, default=10
        Into how many bins of equally many cases they are put.
    between : tuple of float, float, default=(0.0, 1.0)
        Probabilities outside of these bounds are left out.

    Returns
    -------
    float
        The error, from 0 to 1.

    Examples
    --------
    >>> calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], bins=2)
    0.25
    """
    y, p = _cases(truth, probability)
    inside = (p > between[0]) & (p < between[1]) if between != (0.0, 1.0) else np.ones(len(p), np.bool_)
    y, p = y[inside], p[inside]
    if not len(p):
        return float("nan")
    parts = np.array_split(np.argsort(p, kind="stable"), min(bins, len(p)))
    return float(sum(abs(p[part].sum() - y[part].sum()) for part in parts) / len(p))


def brier_skill(truth: ArrayLike, probability: ArrayLike) -> float:
    """1 - (mean squared error of the probabilities) / (that of the share that is true, for every case).

    1 is best; 0 is no better than to know the share. nan where all cases are alike.

    Parameters
    ----------
    truth : array-like
        Whether each case is true.
    probability : array-like
        The probability that was said of each case.

    Returns
    -------
    float
        The skill, at most 1.

    Examples
    --------
    >>> brier_skill([0, 1], [0.0, 1.0]), brier_skill([0, 1], [0.5, 0.5])
    (1.0, 0.0)
    """
    y, p = _cases(truth, probability)
    share = y.mean() if len(y) else 0.0
    if not 0.0 < share < 1.0:
        return float("nan")
    return float(1.0 - np.mean((p - y) ** 2) / (share * (1.0 - share)))


def _cases(truth: ArrayLike, probability: ArrayLike) -> tuple[Bools, Floats]:
    y, p = np.asarray(truth, np.bool_), np.asarray(probability, np.float64)
    if y.shape != p.shape or y.ndim != 1:
        raise ValueError(f"truth of shape {y.shape} does not fit probabilities of shape {p.shape}")
    if len(p) and not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities lie between 0 and 1")
    return y, p
