"""Spectral clustering with an entropy: a smooth stand-in for the sum of the k largest eigenvalues.

    maximise over Z, 0 <= Z <= I, trace Z = k:   <K, Z> + mu S(Z),
    S(Z) = - sum_j [ p_j log p_j + (1 - p_j) log(1 - p_j) ],   p_j the eigenvalues of Z

Z is a mean of relaxed clusterings Y Y'. The solution has the eigenvectors of K, and with l_j its eigenvalues
p_j = 1 / (1 + exp((t - l_j)/mu)), t such that these sum to k. For mu = 0 it is `spectral.relax`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit, xlogy

from clustruct._typing import Floats

from .kmeans import check_k, check_similarity
from .spectral import centre

__all__ = ["SoftClustering", "occupations", "soft_relax"]

# Eigenvectors with a smaller share are left out.
NEGLIGIBLE = 1e-13


class SoftClustering(NamedTuple):
    """Z = U U', the two values at it, and the sum of the k largest eigenvalues."""

    U: Floats
    value: float
    smoothed: float
    largest: float


def soft_relax(K: Floats, k: int, mu: float, *, centred: bool = False) -> SoftClustering:
    """The solution above for a dense symmetric K, with <K, Z>, <K, Z> + mu S(Z), and their limit at mu = 0.

    With ``centred`` every Z has the constant vector with share 1, as in `relax`. Cost O(m^3).

    >>> K = np.diag([3.0, 2.0, 0.0])
    >>> found = soft_relax(K, 2, mu=0.1)
    >>> found.largest, bool(found.value < 5.0 < found.smoothed), round(float(np.sum(found.U**2)), 9)
    (5.0, True, 2.0)
    """
    A = check_similarity(K)
    m = len(A)
    check_k(k, m)
    if mu <= 0.0:
        raise ValueError(f"mu must be positive, not {mu!r}")
    first = np.zeros((m, 0))
    if centred:
        first = np.full((m, 1), 1.0 / np.sqrt(m))
        if k == 1:
            value = float(first[:, 0] @ A @ first[:, 0])
            return SoftClustering(first, value, value, value)
    eigenvalues, V = linalg.eigh(centre(A) if centred else A, check_finite=False)
    if centred:
        # The constant vector comes last, and has its share already.
        last = int(np.abs(first[:, 0] @ V).argmax())
        eigenvalues, V = np.delete(eigenvalues, last), np.delete(V, last, axis=1)
    free = k - first.shape[1]
    p = occupations(eigenvalues, free, mu)
    entropy = -float(np.sum(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p)))
    kept = p > NEGLIGIBLE
    U = np.column_stack([first, V[:, kept] * np.sqrt(p[kept])])
    along = float(first[:, 0] @ A @ first[:, 0]) if centred else 0.0
    value = along + float(p @ eigenvalues)
    return SoftClustering(
        U, value, value + mu * entropy, along + float(eigenvalues[len(eigenvalues) - free :].sum())
    )


def occupations(eigenvalues: Floats, k: int, mu: float) -> Floats:
    """p_j = 1 / (1 + exp((t - l_j)/mu)), t such that the sum is k, by bisection.

    >>> occupations(np.array([0.0, 1.0, 2.0]), 2, 0.5).round(3)
    array([0.291, 0.752, 0.957])
    """
    if k == len(eigenvalues):
        return np.ones(k)
    z = (eigenvalues - eigenvalues.max()) / mu
    # Between the k-th and the (k+1)-th eigenvalue but for the tails of the others.
    order = np.sort(z)[::-1]
    margin = 1.0 + np.log(len(z)) + np.log(2.0)
    low, high = order[k] - margin, order[k - 1] + margin
    for _ in range(80):
        t = 0.5 * (low + high)
        if expit(z - t).sum() > k:
            low = t
        else:
            high = t
    p = np.asarray(expit(z - 0.5 * (low + high)))
    return np.minimum(p * (k / p.sum()), 1.0)
