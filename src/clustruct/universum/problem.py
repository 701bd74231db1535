"""Maximum-margin clustering with Universum: the data, the objective, the balance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clustruct._typing import Floats, Indices
from clustruct.ssvm import WeightConstraints

from .terms import TargetView, UniversumView, View, scores_of, slack


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

    @cached_property
    def centre(self) -> Floats:
        """The mean of the rows of X."""
        return np.asarray(self.X.sum(axis=0), dtype=float).ravel() / self.X.shape[0]

    @property
    def weights(self) -> Floats:
        """The weight of each view's slack."""
        return np.array([self.C, self.C_universum][: 2 if self.has_universum else 1])

    @property
    def has_universum(self) -> bool:
        return self.U is not None and self.C_universum > 0.0 and self.n_clusters > 1

    def views(self, labels: Indices) -> list[View]:
        """The terms of the convex problem in which the labels are fixed."""
        found: list[View] = [TargetView(self.X, labels)]
        if self.has_universum:
            found.append(UniversumView(self.U, self.margin))
        return found

    def assign(self, W: Floats) -> Indices:
        """u_i = argmax_p w_p . x_i."""
        return np.argmax(scores_of(self.X, W), axis=1)

    def objective(self, W: Floats, labels: Indices | None = None) -> float:
        """The value at W; with labels that of the convex problem that fixes them, which is no less."""
        return self.objective_at(W, self.scores(W), labels)

    def scores(self, W: Floats) -> list[Floats]:
        """The scores of every view."""
        return [scores_of(X, W) for X in ([self.X, self.U] if self.has_universum else [self.X])]

    def objective_at(self, W: Floats, scores: list[Floats], labels: Indices | None = None) -> float:
        """As `objective`, where the scores at W are known."""
        views = self.views(np.argmax(scores[0], axis=1) if labels is None else labels)
        slacks = np.array([slack(view, S) for view, S in zip(views, scores, strict=True)])
        return 0.5 * float(np.vdot(W, W)) + float(self.weights @ slacks)

    def balance_rows(self) -> WeightConstraints:
        """``-(w_p - w_q) . mean x >= -balance/n`` for all ordered pairs.

        Divided by n: as sums they have n times the norm of the planes, and the QP is hopelessly
        conditioned. None where the mean is zero (centred data) and so says nothing.
        """
        k, d = self.shape
        pairs = [(p, q) for p in range(k) for q in range(k) if p != q]
        if not np.isfinite(self.balance) or not self._has_centre:
            pairs = []
        rows = np.zeros((len(pairs), k, d))
        for row, (p, q) in zip(rows, pairs, strict=True):
            row[p], row[q] = -self.centre, self.centre
        lower = np.full(len(pairs), -self.balance / self.X.shape[0])
        free = np.empty(0)
        return WeightConstraints(np.zeros(k * d), free, free, rows.reshape(len(pairs), k * d), lower)

    @cached_property
    def _has_centre(self) -> bool:
        values = self.X.data if hasattr(self.X, "tocsr") else self.X
        mean_square = float(np.vdot(values, values)) / self.X.shape[0]
        return float(self.centre @ self.centre) > 1e-16 * mean_square

    def balanced(self, W: Floats) -> Floats:
        """W moved along the mean of X until the balance holds to the last digits."""
        if not np.isfinite(self.balance) or not self._has_centre:
            return W
        means = W @ self.centre
        middle, room = 0.5 * (means.max() + means.min()), 0.5 * self.balance / self.X.shape[0]
        moves = np.clip(means, middle - room, middle + room) - means
        return W + np.outer(moves, self.centre) / float(self.centre @ self.centre)
