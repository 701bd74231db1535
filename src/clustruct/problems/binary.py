"""Binary classification as a structured problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct._typing import Floats, Indices
from clustruct.ssvm import OracleKind, PieceRows, SlackRule

from ._rows import RowConstraints, SharedRows, checked_rows


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
        self.source = SharedRows(checked_rows(X))
        self.X = self.source.X
        self.classes, which = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes) != 2:
            raise ValueError(f"y must hold two kinds of labels, not {len(self.classes)}")
        if self.X.shape[0] != len(which):
            raise ValueError(f"X has shape {self.X.shape}, y has {len(which)} labels")
        self.sign = np.where(which == 1, 1.0, -1.0)
        self.n_examples, self.n_features = self.X.shape

    def predict(self, X: ArrayLike, w: Floats) -> NDArray[Any]:
        """The class on whose side of the plane each row lies."""
        rows = checked_rows(X)
        return np.asarray(self.classes[(np.asarray(rows @ w) > 0).astype(int)])

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> BinaryConstraints:
        sign = self.sign[indices]
        margins = sign * np.asarray(self.X[indices] @ w)
        wrong = np.asarray(rule.violation(1.0, -margins) > 0, float)
        return BinaryConstraints(self.source, indices, wrong, (w, margins * wrong), sign * wrong)


@dataclass(frozen=True)
class BinaryConstraints(RowConstraints):
    """Psi differences y x for examples answered wrongly, zero for the others."""

    sign: Floats

    def margins(self, w: Floats) -> Floats:
        if self.is_known(w):
            return self.known[1]
        return self.sign * np.asarray(self.source.X[self.indices] @ w)

    def combine(self, coefficients: Floats) -> Floats:
        return np.asarray((coefficients * self.sign) @ self.source.X[self.indices])

    def rows(self, which: Indices) -> PieceRows:
        zero, sign = np.zeros((len(which), 1), np.intp), self.sign[which][:, None]
        return self.source.blocks(self.indices[which], zero, sign, self.source.X.shape[1])
