"""Array types, named once for the whole package."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
# What NumPy indexes with: positions of rows, items, examples.
Indices: TypeAlias = NDArray[np.intp]
# One cluster number per item.
Labels: TypeAlias = NDArray[np.int64]
# The same as users have it: any hashables.
LabelsLike: TypeAlias = Sequence[Hashable] | NDArray[Any]
