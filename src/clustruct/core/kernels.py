"""Kernels of two tables of rows: what maps of pairs and training in the dual have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS

from .storage import DataclassState, register
from .typing import Floats


@register("Kernel")
@dataclass(frozen=True)
class Kernel(DataclassState):
    """kappa(u, v): "linear" u.v, "polynomial" (scale u.v + offset)^degree, "rbf" exp(-gamma |u - v|^2),
    "sigmoid" tanh(scale u.v + offset). Rows may be dense or sparse. Any function of two tables of rows
    serves as well, such as one of `sklearn.metrics.pairwise`.

    Examples
    --------
    >>> Kernel("polynomial", degree=2)([[1.0, 2.0]], [[3.0, 0.0]])
    array([[16.]])
    """

    kind: Literal["linear", "polynomial", "rbf", "sigmoid"] = "linear"
    degree: int = 3
    gamma: float = 1.0
    scale: float = 1.0
    offset: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("linear", "polynomial", "rbf", "sigmoid"):
            raise ValueError(f"unknown kernel {self.kind!r}")

    def __call__(self, U: ArrayLike, V: ArrayLike) -> Floats:
        gamma = self.gamma if self.kind == "rbf" else self.scale
        options = {"gamma": gamma, "coef0": self.offset, "degree": self.degree}
        used = {name: options[name] for name in KERNEL_PARAMS[self.kind]}
        return np.asarray(PAIRWISE_KERNEL_FUNCTIONS[self.kind](U, V, **used))
