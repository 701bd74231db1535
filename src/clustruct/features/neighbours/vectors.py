"""Nearest neighbours of vectors by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats

ROWS_AT_ONCE = 1024


def nearest_vectors(X: Floats, n_neighbors: int) -> NDArray[np.int32]:
    """draft"""
    raise NotImplementedError
