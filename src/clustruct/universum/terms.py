"""The two terms of the objective, each a mean of hinges and so a maximum over planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from clustruct._typing import Floats, Indices


class View(Protocol):
    """A convex function of the scores S = X W', with X dense or CSR."""

    @property
    def X(self) -> Any: ...

    def cut(self, scores: Floats) -> tuple[Floats, float]:
        """M and b of the plane ``b - <M, S>`` that touches the function at these scores."""
        ...


@dataclass(frozen=True)
class TargetView:
    """``1/(nk) sum_{i, r != u_i} max(0, 1 - (w_{u_i} - w_r) . x_i)`` with the labels u fixed."""

    X: Any
    labels: Indices

    def cut(self, scores: Floats) -> tuple[Floats, float]:
        from ._kernels import target_cut

        n, k = scores.shape
        M = np.empty((k, n))
        total = target_cut(np.ascontiguousarray(scores.T), self.labels, M)
        M /= n * k
        return M.T, float(total) / (n * k)


@dataclass(frozen=True)
class UniversumView:
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


def slack(view: View, scores: Floats) -> float:
    """The value of the view at these scores."""
    M, b = view.cut(scores)
    return b - inner_product(M, scores)


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
    return np.asarray((X.T @ M).T)
