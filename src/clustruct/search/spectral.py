"""Spectral clustering: k-means with the partition relaxed to orthonormal columns.

    maximise over Y (m x k) with Y'Y = I:   trace(Y'KY)

Solved by the k leading eigenvectors of K, which may be indefinite; the value is the sum of the k largest
eigenvalues and never below that of a partition. Finley and Joachims 2008; Finley 2009, section 4.3.3.
With an entropy, a smooth stand-in for that sum (`soft_relax`)::

    maximise over Z, 0 <= Z <= I, trace Z = k:   <K, Z> + mu S(Z),
    S(Z) = - sum_j [ p_j log p_j + (1 - p_j) log(1 - p_j) ],   p_j the eigenvalues of Z
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh
from scipy.special import expit, xlogy

from clustruct.core.partitions import RelaxedClustering
from clustruct.core.typing import Floats, Ints

from .kmeans import best_hill_climb, check_k, check_similarity, order_of_rows, starts

Method = Literal["auto", "dense", "lanczos"]
# Below this size LAPACK's subset solver is the faster (python -m benchmarks.eigen).
SMALL = 200
# Eigenvectors with a smaller share are left out of a soft clustering.
NEGLIGIBLE = 1e-13
# Leading eigenvectors whose least share is more than this part of the largest do not stand out at all.
FLAT = 1.0 - 1e-6
# Where nothing is known, k is looked for up to this many.
MOST_CLUSTERS = 30
# Lanczos steps that look for an eigenvalue passed over.
GUARD_STEPS = 12


def relax(
    K: Any,
    k: int,
    *,
    centred: bool = False,
    method: Method = "auto",
    tol: float = 1e-10,
    start: Floats | None = None,
) -> RelaxedClustering:
    """Spectral: the k leading eigenvectors of K.

    Deterministic; the entry of largest size of each column is positive. Cost O(m^3) dense; 40 to 200
    products with K by Lanczos, fewer where the k leading eigenvalues stand apart.

    >>> K = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> np.abs(relax(K, 2).Y).round(3)
    array([[0.707, 0.   ],
           [0.707, 0.   ],
           [0.   , 1.   ]])
    """
    if not centred:
        return RelaxedClustering(leading_eigenvectors(K, k, method=method, tol=tol, start=start)[1])
    m = K.shape[0]
    check_k(k, m)
    constant = np.full((m, 1), 1.0 / np.sqrt(m))
    if k == 1:
        return RelaxedClustering(constant)
    start = None if start is None else start[:, 1:]
    Y = leading_eigenvectors(centre(K), k - 1, method=method, tol=tol, start=start)[1]
    # Where HKH has too few positive eigenvalues its null vector, the constant, may be among the leading.
    Y = linalg.qr(np.column_stack([constant, Y]), mode="economic", check_finite=False)[0]
    return RelaxedClustering(Y)


def centre(K: Any) -> Any:
    """HKH - c 11'/m, H = I - 11'/m: no part of K along the constant vector, which comes last (c large).

    An array for an array, an operator for a sparse matrix or an operator.
    """
    if not (isinstance(K, LinearOperator) or sparse.issparse(K)):
        A = check_similarity(K)
        mean = A.mean(axis=1)
        A = A - mean[:, None] - mean[None, :] + mean.mean()
        # No eigenvalue of HKH is larger than this norm.
        push = float(np.abs(A).sum(axis=1).max(initial=0.0)) + (2.0 if not A.any() else 0.0)
        return A - push / len(A)
    m = K.shape[0]
    # Lanczos moves among the vectors orthogonal to the constant: three products bound what it can meet.
    v = np.random.default_rng(2).standard_normal((m, 4))
    push = 0.0
    for _ in range(3):
        v = v - v.mean(axis=0)
        v = v / np.maximum(np.linalg.norm(v, axis=0), 1e-300)
        v = np.asarray(K @ v)
        push = max(push, float(np.linalg.norm(v, axis=0).max()))

    def times(V: Floats) -> Floats:
        block = np.asarray(V, dtype=np.float64).reshape(m, -1)
        mean = block.mean(axis=0)
        out = np.asarray(K @ (block - mean))
        return np.asarray(out - out.mean(axis=0) - 10.0 * push * mean).reshape(np.shape(V))

    return LinearOperator((m, m), matvec=times, matmat=times, rmatvec=times, dtype=np.float64)


def leading_eigenvectors(
    K: Any, k: int, *, method: Method = "auto", tol: float = 1e-10, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """The k largest eigenvalues, falling, and their eigenvectors. Arguments as for `relax`."""
    if method not in ("auto", "dense", "lanczos"):
        raise ValueError(f"method must be auto, dense or lanczos, not {method!r}")
    implicit = isinstance(K, LinearOperator) or sparse.issparse(K)
    A = K if implicit else check_similarity(K)
    m = A.shape[0]
    check_k(k, m)
    if method == "auto":
        method = "dense" if m < SMALL or 10 * k > m else "lanczos"
    found = _lanczos(A, k, tol, start) if method == "lanczos" and k < m - 1 else None
    values, Y = _lapack(check_similarity(A) if implicit else A, k) if found is None else found
    largest = Y[np.abs(Y).argmax(axis=0), np.arange(k)]
    return values, np.ascontiguousarray(Y * np.where(largest < 0.0, -1.0, 1.0))


def discretise(
    relaxed: RelaxedClustering,
    k: int | None = None,
    *,
    n_init: int = 10,
    random_state: int | np.random.Generator = 0,
) -> Ints:
    """Discrete: `kmeans.iterative` on Y Y' of a relaxed clustering, k clusters (as many as Y has columns).

    Y Y' is never formed. Returns canonical labels. Cost O(m k^2) for a pass.

    >>> discretise(RelaxedClustering(np.array([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]])))
    array([0, 0, 1])
    """
    Y = np.ascontiguousarray(relaxed.Y)
    k = relaxed.n_clusters if k is None else k
    check_k(k, len(Y))
    own = np.sum(Y * Y, axis=1)
    # Sums over items of Y Y', which no rotation of Y changes: see `kmeans.order_by_similarity`.
    sums = [Y @ (Y.T @ v) for v in (np.ones(len(Y)), own, own * own)]
    order = order_of_rows(np.stack([own, *sums], axis=1))
    return best_hill_climb(Y, k, starts(len(Y), k, n_init, random_state, order=order), order, rows=True)


class SoftClustering(NamedTuple):
    """Z = U U' with <K, Z> (``value``), <K, Z> + mu S(Z) (``smoothed``), the sum of the k largest eigenvalues
    and the eigenvectors found.
    """

    U: Floats
    value: float
    smoothed: float
    largest: float
    vectors: Floats


def soft_relax(
    K: Any,
    k: int,
    mu: float,
    *,
    centred: bool = False,
    n_pairs: int | None = None,
    tol: float = 1e-10,
    start: Floats | None = None,
) -> SoftClustering:
    """The best Z for a symmetric K, with <K, Z>, <K, Z> + mu S(Z), and their limit at mu = 0.

    Z is a mean of relaxed clusterings Y Y'. It has the eigenvectors of K, and with l_j the eigenvalues
    p_j = 1 / (1 + exp((t - l_j)/mu)), t such that these sum to k. For mu = 0 it is `relax`. With
    ``centred`` every Z has the constant vector with share 1, as in `relax`.

    Cost O(m^3). With ``n_pairs`` (at least k + 1) only so many leading eigenvectors have a share, and K is
    only multiplied with: Z is still such a mean, ``largest`` still what it is, and <K, Z> + mu S(Z) below
    that of all eigenvectors by what the others would add, next to nothing where mu is small beside the gap.
    ``tol`` and ``start`` are those of `relax` then. Where these few share alike, as for K = 0, all are taken.

    >>> K = np.diag([3.0, 2.0, 0.0])
    >>> found = soft_relax(K, 2, mu=0.1)
    >>> found.largest, bool(found.value < 5.0 < found.smoothed), round(float(np.sum(found.U**2)), 9)
    (5.0, True, 2.0)
    """
    m = K.shape[0]
    check_k(k, m)
    if mu <= 0.0:
        raise ValueError(f"mu must be positive, not {mu!r}")
    first, along = np.full((m, int(centred)), 1.0 / np.sqrt(m)), 0.0
    if centred:
        along = float(first[:, 0] @ (K @ first[:, 0]))
        if k == 1:
            return SoftClustering(first, along, along, along, first)
    free, n_pairs = k - int(centred), m if n_pairs is None else max(n_pairs, k + 1)
    few = n_pairs < m - 1
    if few:
        A = centre(K) if centred else K
        eigenvalues, V = leading_eigenvectors(A, n_pairs, tol=tol, start=start)
        p = occupations(eigenvalues, free, mu)
    if not few or p.min() > FLAT * p.max():
        eigenvalues, V = _all_eigenvectors(check_similarity(K), first if centred else None)
        p = occupations(eigenvalues, free, mu)
    entropy = -float(np.sum(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p)))
    kept = p > NEGLIGIBLE
    U = np.column_stack([first, V[:, kept] * np.sqrt(p[kept])])
    value, largest = along + float(p @ eigenvalues), along + float(np.sort(eigenvalues)[-free:].sum())
    return SoftClustering(U, value, value + mu * entropy, largest, V)


def _all_eigenvectors(A: Floats, constant: Floats | None) -> tuple[Floats, Floats]:
    """All eigenvalues, rising, and eigenvectors; of the centred matrix but for the constant vector, where one
    is given.
    """
    if constant is None:
        eigenvalues, V = linalg.eigh(A, check_finite=False)
        return eigenvalues, V
    eigenvalues, V = linalg.eigh(centre(A), check_finite=False)
    # The constant vector comes last, and has its share already.
    last = int(np.abs(constant[:, 0] @ V).argmax())
    return np.delete(eigenvalues, last), np.delete(V, last, axis=1)


def occupations(eigenvalues: Floats, k: int, mu: float) -> Floats:
    """p_j = 1 / (1 + exp((t - l_j)/mu)), t such that the sum is k, by bisection."""
    if k == len(eigenvalues):
        return np.ones(k)
    z = (eigenvalues - eigenvalues.max()) / mu
    # Between the k-th and the (k+1)-th eigenvalue but for the tails of the others.
    order = np.sort(z)[::-1]
    margin = 1.0 + np.log(len(z)) + np.log(2.0)
    low, high = order[k] - margin, order[k - 1] + margin
    for _ in range(80):
        t = 0.5 * (low + high)
        low, high = (t, high) if expit(z - t).sum() > k else (low, t)
    p = np.asarray(expit(z - 0.5 * (low + high)))
    return np.minimum(p * (k / p.sum()), 1.0)


def count_clusters(K: Any, least: int = 1, most: int = MOST_CLUSTERS) -> int:
    """1 + the place of the largest eigengap of centred K, between ``least`` and ``most`` clusters.

    The columns of every partition's Y span the constant vector, so that k clusters show as k - 1 leading
    eigenvalues of HKH, H = I - 11'/m, which training pushes up against the others by the margin. (K
    itself says less: no partition depends on 1'K1, and training leaves it where it falls.) Without a
    positive eigenvalue there is one cluster. `python -m studies.kmeans2008 --only count` compares rules.

    >>> count_clusters(np.array([[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]]))
    2
    """
    m = len(K)
    if m < 3:
        one = m < 2 or (least < 2 and K[0][1] > 0.0) or most < 2
        return 1 if one else 2
    low, high = min(max(least, 2), m - 1), min(most, m - 1)
    if high < 2:
        return 1
    # The last of the m eigenvalues belongs to the constant vector. Place j holds the (j + 1)st eigenvalue.
    values = leading_eigenvectors(centre(K), min(high, m - 1))[0]
    if least < 2 and values[0] <= 1e-12 * float(np.abs(K).max()) * m:
        return 1
    gaps = (values[:-1] - values[1:])[low - 2 :]
    return int(np.argmax(gaps)) + low if gaps.size else low


def count_range(labels: Sequence[Ints]) -> tuple[int, int]:
    """Where to look for k after training: from half the fewest clusters seen to twice the most."""
    seen = [int(y.max()) + 1 for y in labels]
    return max(1, min(seen) // 2), 2 * max(seen)


def _lapack(K: Floats, k: int) -> tuple[Floats, Floats]:
    m = len(K)
    values, Y = linalg.eigh(K, subset_by_index=[m - k, m - 1], check_finite=False)
    return values[::-1], Y[:, ::-1]


def _lanczos(A: Any, k: int, tol: float, start: Floats | None) -> tuple[Floats, Floats] | None:
    """Implicitly restarted Lanczos (ARPACK). None where it fails, or where a copy of a multiple eigenvalue
    was passed over, which one starting vector cannot rule out."""
    m = A.shape[0]
    v0 = np.random.default_rng(0).standard_normal(m)
    if start is not None:
        v0 = start.sum(axis=1) + 1e-3 * np.linalg.norm(start) / np.sqrt(m) * v0
    try:
        values, Y = eigsh(A, k, which="LA", v0=v0, ncv=min(m - 1, max(2 * k + 8, 20)), tol=tol)
    except ArpackError:  # no convergence, or K times the first vector is zero
        return None
    order = np.argsort(-values, kind="stable")
    values = values[order]
    Y = linalg.qr(Y[:, order], mode="economic", check_finite=False)[0]
    scale = max(float(np.abs(values).max()), 1e-300)
    return None if _largest_beside(A, Y) > values[-1] + max(1e-8, 10.0 * tol) * scale else (values, Y)


def _largest_beside(A: Any, Y: Floats) -> float:
    """The largest Ritz value of A in a few Lanczos steps orthogonal to Y: never above the true one."""
    v = np.random.default_rng(1).standard_normal(len(Y))
    Q = np.empty((len(Y), GUARD_STEPS))
    products = np.empty_like(Q)
    known = Y
    for j in range(GUARD_STEPS):
        for _ in range(2):  # once loses orthogonality when v lies almost within the known part
            v = v - known @ (known.T @ v)
        size = float(np.linalg.norm(v))
        if size < 1e-12:
            break
        Q[:, j] = v / size
        known = np.column_stack([known, Q[:, j]])
        v = products[:, j] = A @ Q[:, j]
    steps = known.shape[1] - Y.shape[1]
    H = Q[:, :steps].T @ products[:, :steps]
    return float(linalg.eigvalsh((H + H.T) / 2)[-1]) if steps else -np.inf
