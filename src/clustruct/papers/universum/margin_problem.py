"""Maximum-margin clustering with Universum: the data, the objective and its two terms, the balance; in what
unit the data are measured, and where a search starts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from clustruct.core.typing import Floats, Indices
from clustruct.ssvm import WeightConstraints

# k-means on a part of the data gives a start as good as on the whole.
SAMPLE = 4000
# Up to this many features the principal directions come from the covariance matrix.
FEW_FEATURES = 500
# Root mean square distance of the documents from their mean, after scaling: see `natural_scale`.
SPREAD = 10.0


class ConvexTerm(ABC):
    """A convex function of the scores S = X W', with X dense or CSR."""

    X: Any

    @abstractmethod
    def cut(self, scores: Floats) -> tuple[Floats, float]:
        """M and b of the plane ``b - <M, S>`` that touches the function at these scores."""

    @abstractmethod
    def along(self, scores: Floats, moves: Floats, share: float) -> tuple[float, float]:
        """The value at ``scores + share * moves``, and its slope by the share."""


def lowest_first(values: Sequence[float] | Floats) -> Indices:
    """The order of some objectives; those that differ by rounding alone stay in the order they are in.

    Starts often have the same clusters under other names: which of them is taken must not hang on the unit
    of the data.

    >>> lowest_first([2.0, 1.0 + 1e-7, 1.0]).tolist()
    [1, 2, 0]
    """
    return np.argsort([float(f"{value:.5g}") for value in values], kind="stable")


@dataclass(frozen=True)
class TargetTerm(ConvexTerm):
    """``1/(nk) sum_{i, r != u_i} max(0, 1 - (w_{u_i} - w_r) . x_i)`` with the labels u fixed."""

    X: Any
    labels: Indices

    def cut(self, scores: Floats) -> tuple[Floats, float]:
        from ._kernels import target_cut

        n, k = scores.shape
        M = np.empty((k, n))
        total = target_cut(by_cluster(scores), self.labels, M)
        M /= n * k
        return M.T, float(total) / (n * k)

    def along(self, scores: Floats, moves: Floats, share: float) -> tuple[float, float]:
        from ._kernels import target_line

        value, slope = target_line(by_cluster(scores), by_cluster(moves), self.labels, share)
        return value / scores.size, slope / scores.size


@dataclass(frozen=True)
class UniversumTerm(ConvexTerm):
    """``1/N sum_i max(0, k/(k-1) (max_p w_p . x_i - mean_p w_p . x_i) - margin)``.

    A maximum minus a mean is convex, so that nothing has to be fixed: the maximum is taken at the scores
    given (the paper fixes it as well, and its objective can rise).
    """

    X: Any
    margin: float

    def cut(self, scores: Floats) -> tuple[Floats, float]:
        N, k = scores.shape
        rows, top = np.arange(N), np.argmax(scores, axis=1)
        excess = k / (k - 1) * (scores[rows, top] - scores.mean(axis=1)) - self.margin
        outside = (excess > 0.0).astype(float)
        # k/(k-1) (e_top - 1/k): minus, as the plane is written b - <M, S>.
        M = np.repeat(outside[:, None] / (N * (k - 1)), k, axis=1)
        M[rows, top] = -outside / N
        return M, -self.margin * float(outside.mean())

    def along(self, scores: Floats, moves: Floats, share: float) -> tuple[float, float]:
        from ._kernels import universum_line

        value, slope = universum_line(by_cluster(scores), by_cluster(moves), self.margin, share)
        return value / len(scores), slope / len(scores)


def slack(term: ConvexTerm, scores: Floats) -> float:
    """The value of the term at these scores."""
    M, b = term.cut(scores)
    return b - inner_product(M, scores)


def by_cluster(scores: Floats) -> Floats:
    """k x n, one row after another in memory, as dense scores are laid out anyway."""
    return np.ascontiguousarray(scores.T)


def inner_product(A: Floats, B: Floats) -> float:
    """<A, B>; through the transposes, as arrays laid out by column would be copied otherwise."""
    return float(np.vdot(A.T, B.T))


def scores_of(X: Any, W: Floats) -> Floats:
    """X W', as an array also where X is sparse.

    Dense scores are laid out by column: sums and comparisons over the few clusters run twice as fast.
    """
    return np.asarray(X @ W.T) if hasattr(X, "tocsr") else (W @ X.T).T


def plane_of(X: Any, M: Floats) -> Floats:
    """M' X: the plane as a function of W, one row per cluster."""
    return np.asarray((X.T @ M).T if hasattr(X, "tocsr") else M.T @ X)


@dataclass(frozen=True)
class MarginProblem:
    """n documents X for k clusters, N documents U that belong to none, one weight vector per cluster::

        min over W   1/2 |W|^2 + C/(nk) sum_{i, r != u_i} max(0, 1 - (w_{u_i} - w_r) . x_i)
                     + C_u/N sum_i max(0, k/(k-1) (max_p w_p . u_i - mean_p w_p . u_i) - margin)
        subject to   |(w_p - w_q) . sum_i x_i| <= balance     for all p, q

    with u_i = argmax_p w_p . x_i (Zhang, Wang and Si 2011, problem 10). ``U`` is None where there are no
    such documents; ``C_universum = 0`` leaves them out as well.
    """

    X: Any
    n_clusters: int
    C: float
    balance: float
    U: Any = None
    C_universum: float = 0.0
    margin: float = 0.5

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of W."""
        return self.n_clusters, int(self.X.shape[1])

    def part(self, count: int, rng: np.random.RandomState) -> MarginProblem:
        """The same with as many documents of each kind by chance at most; itself where there are no more."""
        U = None if self.U is None else some_rows(self.U, count, rng)
        X = some_rows(self.X, count, rng)
        return self if X is self.X and U is self.U else replace(self, X=X, U=U)

    @cached_property
    def centre(self) -> Floats:
        """The mean of the rows of X."""
        return np.asarray(self.X.sum(axis=0), dtype=float).ravel() / self.X.shape[0]

    @property
    def weights(self) -> Floats:
        """The weight of each term's slack."""
        return np.array([self.C, self.C_universum][: 2 if self.has_universum else 1])

    @property
    def has_universum(self) -> bool:
        """Whether documents of no cluster count."""
        return self.U is not None and self.C_universum > 0.0 and self.n_clusters > 1

    def terms(self, labels: Indices) -> list[ConvexTerm]:
        """The terms of the convex problem in which the labels are fixed."""
        found: list[ConvexTerm] = [TargetTerm(self.X, labels)]
        if self.has_universum:
            found.append(UniversumTerm(self.U, self.margin))
        return found

    def assign(self, W: Floats) -> Indices:
        """u_i = argmax_p w_p . x_i."""
        return np.argmax(scores_of(self.X, W), axis=1)

    def scores(self, W: Floats) -> list[Floats]:
        """The scores of every term."""
        return [scores_of(X, W) for X in ([self.X, self.U] if self.has_universum else [self.X])]

    def objective(
        self, W: Floats, labels: Indices | None = None, scores: list[Floats] | None = None
    ) -> float:
        """The value at W; with labels that of the convex problem that fixes them, which is no less.

        ``scores`` are those at W, where they are known.
        """
        scores = self.scores(W) if scores is None else scores
        terms = self.terms(np.argmax(scores[0], axis=1) if labels is None else labels)
        slacks = np.array([slack(term, S) for term, S in zip(terms, scores, strict=True)])
        return 0.5 * float(np.vdot(W, W)) + float(self.weights @ slacks)

    def balance_rows(self, all_pairs: bool = True) -> WeightConstraints:
        """``-(w_p - w_q) . mean x >= -balance/n`` for all ordered pairs, or for none.

        Divided by n: as sums they have n times the norm of the planes, and the QP is hopelessly
        conditioned. None where the mean is zero (centred data) and so says nothing.
        """
        k, d = self.shape
        pairs = [(p, q) for p in range(k) for q in range(k) if p != q and all_pairs and self.is_balanced]
        rows = np.array([self.balance_row(p, q) for p, q in pairs]).reshape(len(pairs), k * d)
        lower, free = np.full(len(pairs), -self.balance_room), np.empty(0)
        return WeightConstraints(np.zeros(k * d), free, free, rows, lower)

    @property
    def balance_room(self) -> float:
        """How far apart ``w_p . mean x`` may lie."""
        return self.balance / self.X.shape[0]

    def balance_row(self, p: int, q: int) -> Floats:
        """``-(w_p - w_q) . mean x`` as a function of W."""
        row = np.zeros(self.shape)
        row[p], row[q] = -self.centre, self.centre
        return row.ravel()

    def unbalanced_pairs(self, W: Floats, slack: float = 0.0) -> list[tuple[int, int]]:
        """Pairs whose ``(w_p - w_q) . mean x`` is above the room less slack: of those 2k - 3 in which the
        largest or the smallest has a part.
        """
        if not self.is_balanced:
            return []
        means = W @ self.centre
        low, high, room = int(np.argmin(means)), int(np.argmax(means)), self.balance_room - slack
        above = [(int(p), low) for p in np.flatnonzero(means - means[low] > room) if p != low]
        return above + [
            (high, int(q)) for q in np.flatnonzero(means[high] - means > room) if q not in (low, high)
        ]

    @cached_property
    def is_balanced(self) -> bool:
        """Whether the balance says anything: not where it is infinite, nor where the mean is zero."""
        values = self.X.data if hasattr(self.X, "tocsr") else self.X
        mean_square = float(np.vdot(values, values)) / self.X.shape[0]
        has_mean = float(self.centre @ self.centre) > 1e-16 * mean_square
        return bool(np.isfinite(self.balance) and has_mean)

    def balance_weights(self, W: Floats) -> Floats:
        """W moved along the mean of X until the balance holds to the last digits."""
        if not self.is_balanced:
            return W
        means = W @ self.centre
        middle, room = 0.5 * (means.max() + means.min()), 0.5 * self.balance_room
        moves = np.clip(means, middle - room, middle + room) - means
        return W + np.outer(moves, self.centre) / float(self.centre @ self.centre)


def natural_scale(X: Any) -> float:
    """The factor that brings the root mean square distance of the rows from their mean to 10.

    The margins are fixed at 1, so the scale of X is the unit of C: with rows of length 1 the scores stay
    below the Universum margin over most of the paper's grid, with a spread of 10 all of it is in use.
    """
    centre = np.asarray(X.sum(axis=0), dtype=float).ravel() / X.shape[0]
    values = X.data if hasattr(X, "tocsr") else np.asarray(X)
    variance = float(np.vdot(values, values)) / X.shape[0] - float(centre @ centre)
    largest = float(np.abs(values).max(initial=0.0))
    if variance <= 1e-12 * largest**2 or variance == 0.0:
        return 1.0
    return SPREAD / float(np.sqrt(variance))


def some_rows(X: Any, count: int, rng: np.random.RandomState) -> Any:
    """As many rows by chance; X itself where it has no more."""
    return X if X.shape[0] <= count else X[rng.choice(X.shape[0], count, replace=False)]


def kmeans_labels(X: Any, n_clusters: int, rng: np.random.RandomState, runs: int = 1) -> Indices:
    """Labels of all rows by k-means on at most 4000 of them."""
    model = KMeans(n_clusters, n_init=runs, random_state=rng).fit(some_rows(X, max(SAMPLE, n_clusters), rng))
    return np.asarray(model.predict(X), dtype=np.intp)


def principal_labels(X: Any, n_clusters: int, rng: np.random.RandomState) -> Indices:
    """Labels by k-means in the k - 1 leading principal directions.

    The relaxed optimum of k-means lies in their span (Ding and He 2004), with far fewer local optima than in
    the full space. k-means on X itself where X has no more than k features.
    """
    n, d = X.shape
    if min(n, d) <= n_clusters or n_clusters < 2:
        return kmeans_labels(X, n_clusters, rng, runs=5)
    solver = "covariance_eigh" if d <= FEW_FEATURES and not hasattr(X, "tocsr") else "arpack"
    reduced = PCA(n_clusters - 1, svd_solver=solver, random_state=rng).fit_transform(X)
    return np.asarray(KMeans(n_clusters, n_init=5, random_state=rng).fit_predict(reduced), dtype=np.intp)
