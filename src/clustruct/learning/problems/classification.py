"""Binary and multiclass classification as structured problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from clustruct.core.storage import digest
from clustruct.core.typing import Floats, Indices
from clustruct.ssvm import BatchProblem, ConstraintBatch, OracleKind, PieceRows, SlackRule

_SHARED: WeakValueDictionary[str, SharedRows] = WeakValueDictionary()


def check_rows(X: ArrayLike) -> Any:
    """X as a finite C-ordered float64 array or CSR."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")


class SharedRows:
    """The rows of a problem end to end, dense or CSR. Answers from another process find them by their
    name.
    """

    def __init__(self, X: Any) -> None:
        n, d = X.shape
        self.X, self.name = X, uuid4().hex
        if sparse.issparse(X):
            self.data, self.indices = X.data, X.indices
            self.start, self.length = X.indptr[:-1], np.diff(X.indptr)
        else:
            self.data, self.indices = X.reshape(-1), np.zeros(0, np.int32)
            self.start, self.length = np.arange(n) * d, np.full(n, d)
        _SHARED[self.name] = self

    def blocks(self, examples: Indices, offset: Indices, factor: Floats, n_features: int) -> PieceRows:
        """Vector j: the sum over k of ``factor[j, k]`` times row ``examples[j]``, at ``offset[j, k]``."""
        pieces = offset.shape[1]
        start, length = (np.repeat(a[examples], pieces) for a in (self.start, self.length))
        count = np.full(len(examples), pieces)
        return PieceRows(
            self.data, self.indices, count, start, length, offset.ravel(), factor.ravel(), n_features
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _receive_rows, (type(self), self.X, self.name)


def _receive_rows(kind: type[SharedRows], X: Any, name: str) -> SharedRows:
    if name not in _SHARED:
        rows = kind(X)
        rows.name = name
        _SHARED[name] = rows
        return rows
    return _SHARED[name]


@dataclass(frozen=True)
class RowConstraints(ConstraintBatch[Floats]):
    """Constraints made of rows of the problem's own data, which are not copied: answers from another process
    find the rows that are there. ``known`` is the w of the search with the margins there.
    """

    source: SharedRows
    indices: Indices
    losses: Floats
    known: tuple[Floats, Floats]

    def is_known(self, w: Floats) -> bool:
        return w is self.known[0] or np.array_equal(w, self.known[0])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": self.source.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "source": _SHARED[state["source"]]})


class BinaryProblem(BatchProblem):
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
        self.source = SharedRows(check_rows(X))
        self.X = self.source.X
        self.classes, which = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes) != 2:
            raise ValueError(f"y must hold two kinds of labels, not {len(self.classes)}")
        if self.X.shape[0] != len(which):
            raise ValueError(f"X has shape {self.X.shape}, y has {len(which)} labels")
        self.sign = np.where(which == 1, 1.0, -1.0)
        self.n_examples, self.n_features = self.X.shape

    def identity(self) -> dict[str, str]:
        return {"features": digest(self.X), "labels": digest(self.sign)}

    def supports(self, rule: SlackRule) -> bool:
        return True

    def predict(self, X: ArrayLike, w: Floats) -> NDArray[Any]:
        """The class on whose side of the plane each row lies."""
        rows = check_rows(X)
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


class MulticlassProblem(BatchProblem):
    """Choose one of k classes: Psi(x, y) puts x in block y (Crammer and Singer 2001).

    w has k * d entries, block by block in the order of ``classes``. The oracle is exact: one matrix
    product for all examples.

    ``cost[t, c]`` is the loss of answering c where t is right, 0/1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct import ssvm
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 1.0]])
    >>> problem = MulticlassProblem(X, ["a", "a", "b", "b"])
    >>> result = ssvm.fit(problem, C=10.0)
    >>> problem.predict(X, result.w).tolist()
    ['a', 'a', 'b', 'b']
    """

    oracle_kind: OracleKind = "exact"

    def __init__(self, X: ArrayLike, y: ArrayLike, cost: ArrayLike | None = None) -> None:
        self.source = SharedRows(check_rows(X))
        self.X = self.source.X
        self.classes, self.y = np.unique(np.asarray(y), return_inverse=True)
        k = len(self.classes)
        if self.X.shape[0] != len(self.y):
            raise ValueError(f"X has shape {self.X.shape}, y has {len(self.y)} labels")
        self.cost = 1.0 - np.eye(k) if cost is None else np.asarray(cost, float)
        if self.cost.shape != (k, k) or np.diag(self.cost).any():
            raise ValueError(f"cost must be a {k} x {k} array with a zero diagonal")
        self.n_examples, self.n_features = len(self.y), k * self.X.shape[1]

    def identity(self) -> dict[str, str]:
        return {"features": digest(self.X), "labels": digest(self.y), "cost": digest(self.cost)}

    def scores(self, X: Any, w: Floats) -> Floats:
        """One score per row and class."""
        return np.asarray(X @ w.reshape(len(self.classes), -1).T)

    def supports(self, rule: SlackRule) -> bool:
        return True

    def predict(self, X: ArrayLike, w: Floats) -> NDArray[Any]:
        """The class of highest score of each row."""
        rows = check_rows(X)
        return np.asarray(self.classes[self.scores(rows, w).argmax(axis=1)])

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> MulticlassConstraints:
        truth = self.y[indices]
        scores = self.scores(self.X[indices], w)
        row = np.arange(len(truth))
        scores -= scores[row, truth][:, None]
        costs = self.cost[truth]
        wrong = rule.violation(costs, scores).argmax(axis=1)
        known = (w, -scores[row, wrong])
        return MulticlassConstraints(
            self.source, indices, costs[row, wrong], known, truth, wrong, len(self.classes)
        )


@dataclass(frozen=True)
class MulticlassConstraints(RowConstraints):
    """Constraints "class ``truth`` above class ``wrong``", held without their psi vectors."""

    truth: Indices
    wrong: Indices
    n_classes: int

    def margins(self, w: Floats) -> Floats:
        if self.is_known(w):
            return self.known[1]
        scores = np.asarray(self.source.X[self.indices] @ w.reshape(self.n_classes, -1).T)
        row = np.arange(len(self.truth))
        return np.asarray(scores[row, self.truth] - scores[row, self.wrong])

    def combine(self, coefficients: Floats) -> Floats:
        n = len(self.truth)
        signs = sparse.csr_array(
            (
                np.stack([coefficients, -coefficients], 1).ravel(),
                np.stack([self.truth, self.wrong], 1).ravel(),
                np.arange(0, 2 * n + 1, 2),
            ),
            shape=(n, self.n_classes),
        )
        total = signs.T @ self.source.X[self.indices]
        return np.asarray(total.toarray() if sparse.issparse(total) else total).ravel()

    def rows(self, which: Indices) -> PieceRows:
        d = self.source.X.shape[1]
        offset = np.stack([self.truth[which], self.wrong[which]], 1) * d
        factor = np.tile([1.0, -1.0], (len(which), 1))
        return self.source.blocks(self.indices[which], offset, factor, self.n_classes * d)
