"""Binary classification as a structured problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from clustruct._typing import Floats, Indices
from clustruct.ssvm import BlockRows, OracleKind, SlackRule


class BinaryProblem:
    """The classical SVM: Psi(x, y) = y x / 2 for y in {-1, +1}, loss 1 for the wrong sign.

    With margin or slack scaling and slack_norm=1 it is the hinge loss, with slack_norm=2 the squared hinge
    loss (halved). ``y`` holds two kinds of labels; the second in sorted order is +1.

    Examples
    --------
    >>> from clustruct import ssvm
    >>> problem = BinaryProblem([[1.0, 0.2], [0.8, 0.0], [-1.0, 0.1], [-0.7, 0.3]], [1, 1, 0, 0])
    >>> w = ssvm.fit(problem, C=100.0).w
    >>> problem.predict([[2.0, 0.0], [-2.0, 0.0]], w).tolist()
    [1, 0]
    """

    oracle_kind: OracleKind = "exact"

    def __init__(self, X: ArrayLike, y: ArrayLike) -> None:
        self.X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
        self.classes, which = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes) != 2:
            raise ValueError(f"y must hold two kinds of labels, not {len(self.classes)}")
        if self.X.shape[0] != len(which):
            raise ValueError(f"X has shape {self.X.shape}, y has {len(which)} labels")
        self.sign = np.where(which == 1, 1.0, -1.0)
        self.n_examples, self.n_features = self.X.shape

    def predict(self, X: ArrayLike, w: Floats) -> NDArray[Any]:
        """The class on whose side of the plane each row lies."""
        rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        return np.asarray(self.classes[(np.asarray(rows @ w) > 0).astype(int)])

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> BinaryConstraints:
        margins = self.sign[indices] * np.asarray(self.X[indices] @ w)
        wrong = np.asarray(rule.violation(1.0, -margins) > 0, float)
        return BinaryConstraints(self.X, indices, self.sign[indices] * wrong, wrong)


@dataclass(frozen=True)
class BinaryConstraints:
    """Psi differences y x for examples answered wrongly, zero for the others."""

    X: Any
    indices: Indices
    sign: Floats
    losses: Floats

    def margins(self, w: Floats) -> Floats:
        return self.sign * np.asarray(self.X[self.indices] @ w)

    def combine(self, coefficients: Floats) -> Floats:
        return np.asarray((coefficients * self.sign) @ self.X[self.indices])

    def rows(self, which: Indices) -> BlockRows:
        zero = np.zeros((len(which), 1), np.intp)
        return BlockRows(self.X, self.indices[which], zero, self.sign[which][:, None], self.X.shape[1])
