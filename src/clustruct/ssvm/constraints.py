"""Batches of constraints: one wrong output per example, as psi difference and loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Floats


class ConstraintBatch(Protocol):
    """One constraint for each of some examples. `Constraints` serves where nothing cheaper is known."""

    @property
    def losses(self) -> Floats:
        """Delta of each output."""
        ...

    def margins(self, w: Any) -> Floats:
        """<w, Psi(x, y_true) - Psi(x, y)> of each."""
        ...

    def combine(self, coefficients: Floats) -> Any:
        """The sum of coefficients times psi differences, dense, length n_features."""
        ...

    def rows(self, which: NDArray[np.intp]) -> Any:
        """The psi differences of some of them: dense 2-D, CSR, or `BlockRows`."""
        ...


@dataclass(frozen=True)
class Constraints:
    """Psi differences held row by row, dense or CSR."""

    losses: Floats
    differences: Any
    outputs: Sequence[Any] = field(default=(), repr=False)

    def margins(self, w: Floats) -> Floats:
        return np.asarray(self.differences @ w)

    def combine(self, coefficients: Floats) -> Floats:
        return np.asarray(coefficients @ self.differences)

    def rows(self, which: NDArray[np.intp]) -> Any:
        return self.differences[which]


def stack_vectors(vectors: Iterable[Any], n_features: int, examples: Iterable[int]) -> Any:
    """Rows from joint feature vectors: dense where all are dense, CSR where one is sparse."""
    rows = []
    for i, v in zip(examples, vectors, strict=True):
        row = (
            sparse.csr_array(v).reshape(1, -1) if sparse.issparse(v) else np.asarray(v, float).reshape(1, -1)
        )
        if row.shape[1] != n_features:
            raise ValueError(f"example {i}: Psi has length {row.shape[1]}, the problem says {n_features}")
        values = row.data if sparse.issparse(row) else row
        if not np.isfinite(values).all():
            raise ValueError(f"example {i}: Psi has NaN or infinite entries")
        rows.append(row)
    if any(sparse.issparse(r) for r in rows):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(r) for r in rows], format="csr"))
    return np.concatenate(rows)


def scale_rows(rows: Any, factors: Floats) -> Any:
    """Each row times its factor: dense, CSR, `BlockRows` or a list of vector sums."""
    if hasattr(rows, "scaled"):
        return rows.scaled(factors)
    if isinstance(rows, list):
        return [row * float(factor) for row, factor in zip(rows, factors, strict=True)]
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(factors) @ rows)
    return rows * factors[:, None]
