"""Many starts at once: k-means and the first steps of the search in few dimensions, all in one product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.extmath import randomized_svd

from clustruct.core.typing import Floats, Indices

from .margin_problem import FEW_FEATURES, MarginProblem, lowest_first

# Leading directions that starts are made in.
DIRECTIONS = 200
# Passes of k-means at most.
PASSES = 20
# Steps that a start is judged after; so many starts are then labelled anew, and judged after as many again.
STEPS = 2
JUDGED_AGAIN = 4
# How far a step may go: least where a Universum lies across the documents in few dimensions.
SHARES = np.array([0.0, *np.geomspace(2e-3, 1.0, 10)], np.float32)


def lowest_starts(
    problem: MarginProblem, count: int, rng: np.random.RandomState, principal: bool = True
) -> list[Floats]:
    """Weights to start the search of `problem` from, lowest objective first: the best of ``count`` starts.

    Documents are seen in their `DIRECTIONS` leading principal directions, at right angles to their mean, so
    that every W there is balanced. A start is k-means there, from seeds by k-means++ (Arthur and
    Vassilvitskii 2007); with ``principal`` the first one is made in the k - 1 leading directions
    alone. Each is judged by the objective after a few steps of descent, and the best of them once more after
    as many with their new labels. All starts share their matrix products, in single precision.
    Cost O(n d^2) for the directions (O(nnz) where features are many), then O(n count k `DIRECTIONS`) a pass.
    """
    reduced, V = _reduce(problem, rng)
    labels = kmeans_many(reduced.X, problem.n_clusters, count, rng, first=int(principal))
    if principal:
        few = reduced.X @ directions(reduced.X, None, rng, problem.n_clusters - 1)
        labels[:, 0] = kmeans_many(few, problem.n_clusters, 1, rng)[:, 0]
    _, value, labels = reduced.descend(labels)
    W, value, _ = reduced.descend(labels[:, lowest_first(value)[:JUDGED_AGAIN]])
    return [W[s].astype(float) @ V.T / reduced.unit for s in lowest_first(value)]


def directions(X: Any, mean: Floats | None, rng: np.random.RandomState, count: int | None = None) -> Floats:
    """The leading principal directions of X as columns, at right angles to its mean where one is given.

    Without the direction of its mean X has mean zero, so they are those of X less its mean, too. For more
    than `FEW_FEATURES` features, and for sparse X, by a randomised decomposition.
    """
    d = X.shape[1]
    count = min(count or DIRECTIONS, d - int(mean is not None))
    along = np.zeros(d, X.dtype) if mean is None else (mean / np.linalg.norm(mean)).astype(X.dtype)
    if d > FEW_FEATURES or hasattr(X, "tocsr"):
        V = randomized_svd(X, min(count + 1, *X.shape), n_iter=2, random_state=rng)[2].T
        return np.linalg.qr(V - np.outer(along, along @ V))[0][:, :count]
    G = X.T @ X
    share = G @ along
    G += (along @ share) * np.outer(along, along) - np.outer(share, along) - np.outer(along, share)
    return np.asarray(eigh(G, subset_by_index=[d - count, d - 1])[1][:, ::-1])


def start_directions(X: Any, mean: Floats | None, rng: np.random.RandomState) -> Floats:
    """Directions to start in, as columns at right angles to the mean: the leading ones where there are many.

    Where there are not they only have to span what is at right angles to the mean: those of a reflection
    that brings the mean to the first axis do, and cost nothing.
    """
    d = X.shape[1]
    if hasattr(X, "tocsr") or d - int(mean is not None) > DIRECTIONS:
        return directions(X, mean, rng)
    V = np.eye(d, dtype=X.dtype)
    if mean is None:
        return V
    across = (mean / np.linalg.norm(mean)).astype(X.dtype)
    across[0] += np.copysign(1.0, across[0])
    return (V - 2.0 / (across @ across) * np.outer(across, across))[:, 1:]


def kmeans_many(Z: Floats, k: int, count: int, rng: np.random.RandomState, first: int = 0) -> Indices:
    """Labels by k-means from so many starts, one column each; -1 for those before the first.

    Cost O(n count k d) a pass, in one product; starts that have come to rest leave it.
    """
    from ._kernels import move_to_nearest

    n, d = Z.shape
    centres, starts = _seeds(Z, k, count, rng), np.arange(first, count)
    labels = np.full((n, count), -1, np.intp)
    sums, sizes = np.zeros((count, k, d), Z.dtype), np.zeros((count, k), np.intp)
    for _ in range(PASSES):
        mine = centres[starts]
        scores = (Z @ mine.reshape(-1, d).T).reshape(n, len(starts), k)
        half_squares = 0.5 * np.sum(mine**2, axis=2)
        moved = move_to_nearest(Z, scores, half_squares, starts, labels, sums, sizes)
        starts = starts[moved > 0]
        if not len(starts):
            break
        # An empty cluster stays where it is.
        filled = sizes[:, :, None] > 0
        centres = np.where(filled, sums / np.maximum(sizes, 1)[:, :, None].astype(Z.dtype), centres)
    return labels


def _seeds(Z: Floats, k: int, count: int, rng: np.random.RandomState) -> Floats:
    """k rows for each start: each by chance, as the square of its distance from those before it."""
    n, d = Z.shape
    seeds = np.empty((count, k, d), Z.dtype)
    seeds[:, 0] = Z[rng.randint(n, size=count)]
    squares, distance = np.sum(Z**2, axis=1)[:, None], np.full((n, count), np.inf)
    for j in range(1, k):
        last = seeds[:, j - 1]
        np.minimum(distance, squares - 2.0 * (Z @ last.T) + np.sum(last**2, axis=1), out=distance)
        total = np.cumsum(np.maximum(distance, 0.0), axis=0)
        chance = rng.random_sample(count) * total[-1]
        rows = [np.searchsorted(total[:, s], chance[s]) for s in range(count)]
        seeds[:, j] = Z[np.minimum(rows, n - 1)]
    return seeds


def _reduce(problem: MarginProblem, rng: np.random.RandomState) -> tuple[_Reduced, Floats]:
    """The problem in the leading directions of its documents, and these."""
    values = problem.X.data if hasattr(problem.X, "tocsr") else problem.X
    unit = float(np.sqrt(np.vdot(values, values) / problem.X.shape[0])) or 1.0
    X = (problem.X / unit).astype(np.float32)
    V = start_directions(X, problem.centre if problem.is_balanced else None, rng)
    U = np.zeros((0, V.shape[1]), np.float32)
    if problem.has_universum:
        U = np.asarray((problem.U / unit).astype(np.float32) @ V)
    C, C_universum = (weight * unit**2 for weight in (problem.C, problem.C_universum))
    return _Reduced(np.asarray(X @ V), U, problem.n_clusters, C, C_universum, problem.margin, unit), V


@dataclass(frozen=True)
class _Reduced:
    """`MarginProblem` in few directions and without the balance, for many W at once.

    In single precision, so X and U are divided by ``unit``; W, C and the objective are in its units.
    """

    X: Any
    U: Any
    k: int
    C: float
    C_universum: float
    margin: float
    unit: float

    def scores(self, W: Any) -> list[Any]:
        """Those of the documents and of the Universum: n x starts x clusters."""
        rows = W.reshape(-1, W.shape[2]).T
        return [(X @ rows).reshape(len(X), *W.shape[:2]) for X in (self.X, self.U)]

    def descend(self, labels: Indices) -> tuple[Any, Floats, Indices]:
        """W for each start after a few steps with its labels fixed, the objective there, and its labels.

        Where the plane ``b - <V, W>`` touches the risk at W, V - W is the way of steepest descent; the best
        of some `SHARES` of it is taken.
        """
        W = np.zeros((labels.shape[1], self.k, self.X.shape[1]), np.float32)
        at = [np.zeros((len(X), *W.shape[:2]), np.float32) for X in (self.X, self.U)]
        for _ in range(STEPS):
            move = self._plane(at, labels) - W
            moves = self.scores(move)
            lengths = np.stack([np.einsum("skd,skd->s", a, b) for a, b in ((W, W), (W, move), (move, move))])
            values = 0.5 * np.stack([np.ones(len(SHARES)), 2.0 * SHARES, SHARES**2]).T @ lengths
            values += self._risks(at, moves, labels, SHARES)
            share = SHARES[np.argmin(values, axis=0)][:, None]
            W = W + share[:, :, None] * move
            at = [scores + share * step for scores, step in zip(at, moves, strict=True)]
        labels = np.argmax(at[0], axis=2)
        risk = self._risks(at, at, labels, SHARES[:1])[0]
        return W, 0.5 * np.einsum("skd,skd->s", W, W) + risk, labels

    def _plane(self, at: list[Any], labels: Indices) -> Any:
        """V of the plane that touches the weighted risk of each start at W, whose scores these are."""
        from ._kernels import target_planes, universum_planes

        M = np.empty_like(at[0])
        target_planes(at[0], labels, M)
        V = self._weight * (M.reshape(len(M), -1).T @ self.X)
        if len(self.U):
            M = np.empty_like(at[1])
            universum_planes(at[1], self.margin, M)
            V += self._universum_weight * (M.reshape(len(M), -1).T @ self.U)
        return V.reshape(*at[0].shape[1:], -1)

    def _risks(self, at: list[Any], moves: list[Any], labels: Indices, shares: Any) -> Floats:
        """The weighted risk of each start at all shares of a move, by the scores of both."""
        from ._kernels import target_sums, universum_sums

        sums = np.zeros((len(shares), at[0].shape[1]))
        target_sums(at[0], moves[0], labels, shares, sums)
        sums *= self._weight
        if len(self.U):
            more = np.zeros_like(sums)
            universum_sums(at[1], moves[1], self.margin, shares, more)
            sums += self._universum_weight * more
        return sums

    @property
    def _weight(self) -> float:
        return self.C / (len(self.X) * self.k)

    @property
    def _universum_weight(self) -> float:
        return self.C_universum / len(self.U)
