"""Input matrices of the classical problems: dense or sparse, settled once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def checked_rows(X: Any) -> Any:
    """X as a C-ordered float array or a CSR array, finite and two-dimensional."""
    X = sparse.csr_array(X, dtype=float) if sparse.issparse(X) else np.ascontiguousarray(X, float)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, its shape is {X.shape}")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise ValueError("X has NaN or infinite entries")
    return X
