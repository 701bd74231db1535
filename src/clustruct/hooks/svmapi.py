"""The module that hook modules import as ``svmapi``.

What they are handed: parameters, the model, and the scores of vectors under it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustruct._typing import Floats
from clustruct.itemsets import Matrix
from clustruct.ssvm import Kernel, VectorSum

from .vectors import Document, Sparse, VectorLike, row_words, sparse_parts

__all__ = [
    "LINEAR",
    "POLY",
    "RBF",
    "SIGMOID",
    "Document",
    "KernelParm",
    "Model",
    "Sparm",
    "Sparse",
    "StructModel",
]

LINEAR, POLY, RBF, SIGMOID = 0, 1, 2, 3
KERNEL_KINDS = ("linear", "polynomial", "rbf", "sigmoid")


@dataclass
class KernelParm:
    """The kernel by number: 0 linear, 1 (s a.b + c)^d, 2 exp(-g |a - b|^2), 3 tanh(s a.b + c)."""

    kernel_type: int = LINEAR
    poly_degree: int = 3
    rbf_gamma: float = 1.0
    coef_lin: float = 1.0
    coef_const: float = 1.0

    def engine_kernel(self) -> Kernel:
        kind: Any = KERNEL_KINDS[self.kernel_type]
        return Kernel(kind, self.poly_degree, self.rbf_gamma, self.coef_lin, self.coef_const)


@dataclass
class Sparm:
    """Learning parameters. ``argv`` holds the options of the module's own: name, value, name, value, ...

    A module may change them in ``parse_parameters`` and add attributes of its own.
    """

    c: float = 0.01
    epsilon: float = 0.1
    loss_type: int = 2
    slack_norm: int = 1
    loss_function: int = 0
    argv: list[str] = field(default_factory=list)
    ccache_size: int = 5
    newconstretrain: int = 100
    alg_type: int = 4
    verbosity: int = 1


class Model:
    """Scores of vectors: ``classify(v)`` is <w, v>, the sum over the parts of v, factors included.

    A linear model is one weight vector (``lin_weights``), one block of it for every kernel_id seen in
    training. With a kernel it is a sum over support vectors: ``supvec`` and ``alpha``.
    """

    def __init__(
        self,
        kernel_parm: KernelParm | None = None,
        lin_weights: Floats | None = None,
        kernel_ids: tuple[int, ...] = (0,),
        support: VectorSum | None = None,
    ) -> None:
        self.kernel_parm = kernel_parm or KernelParm()
        self.lin_weights, self.kernel_ids, self.support = lin_weights, tuple(kernel_ids), support
        self._blocks: dict[int, Any] = {}
        self._score = self._expanded if lin_weights is None else self._weighed
        if lin_weights is not None:
            rows = lin_weights.reshape(len(self.kernel_ids), -1)
            self._blocks = dict(zip(self.kernel_ids, rows, strict=True))
        elif support is not None:
            kernel = self.kernel_parm
            for part in np.unique(support.part_ids).tolist():
                mine = np.flatnonzero(support.part_ids == part)
                self._blocks[part] = _Expansion(kernel, support.vectors[mine], support.coefficients[mine])

    def classify(self, vector: VectorLike) -> float:
        """<w, v> for a `Sparse`, a sequence of `Sparse` or a `Document`."""
        score = self._score
        if type(vector) is Sparse:
            return vector.factor * score(vector)
        return float(sum(s.factor * score(s) for s in sparse_parts(vector)))

    def _weighed(self, s: Sparse) -> float:
        w = self._blocks.get(s.kernel_id)
        if w is None:
            return 0.0
        try:
            return float(w.take(s.indices).dot(s.values))
        except IndexError:
            # Words beyond size_psi, seen in new data only, have no weight.
            known = s.indices < len(w)
            return float(w[s.indices[known]] @ s.values[known])

    def _expanded(self, s: Sparse) -> float:
        expansion = self._blocks.get(s.kernel_id)
        return 0.0 if expansion is None else float(expansion(s))

    @property
    def alpha(self) -> Floats:
        return np.empty(0) if self.support is None else self.support.coefficients

    @property
    def supvec(self) -> list[Document]:
        """The support vectors, each a `Document` of one `Sparse`."""
        if self.support is None:
            return []
        parts = self.support.part_ids.tolist()
        vectors = self.support.vectors
        return [Document(Sparse(row_words(vectors, j), kernel_id=p)) for j, p in enumerate(parts)]

    def __reduce__(self) -> Any:
        return Model, (self.kernel_parm, self.lin_weights, self.kernel_ids, self.support)


class _Expansion:
    """sum_j a_j kappa(v_j, .) of one space, for one sparse vector at a time."""

    def __init__(self, kernel: KernelParm, vectors: Matrix, coefficients: Floats) -> None:
        dense = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
        # Column by column: the products need only the columns that a sparse vector has.
        self.columns = np.ascontiguousarray(dense.T)
        self.squares = np.einsum("ij,ij->i", dense, dense)
        self.kernel, self.coefficients = kernel, coefficients

    def __call__(self, s: Sparse) -> float:
        known = s.indices < len(self.columns)
        k = self.kernel
        products = s.values[known] @ self.columns[s.indices[known]]
        if k.kernel_type == LINEAR:
            return float(self.coefficients @ products)
        if k.kernel_type == RBF:
            apart = np.maximum(self.squares + s.twonorm_sq - 2.0 * products, 0.0)
            return float(self.coefficients @ np.exp(-k.rbf_gamma * apart))
        shifted = k.coef_lin * products + k.coef_const
        powered = shifted**k.poly_degree if k.kernel_type == POLY else np.tanh(shifted)
        return float(self.coefficients @ powered)


class StructModel:
    """The model that is learned: ``size_psi`` from ``init_model``, ``w`` and ``svm_model`` from training.

    Whatever else the module sets is kept, and saved with the model.
    """

    def __init__(self, kernel_parm: KernelParm | None = None) -> None:
        self.size_psi: Any = None
        self.svm_model = Model(kernel_parm)

    @property
    def w(self) -> Floats:
        """The weights, size_psi of them (for each kernel_id, where several are used)."""
        if self.svm_model.lin_weights is None:
            kind = KERNEL_KINDS[self.svm_model.kernel_parm.kernel_type]
            raise AttributeError(
                f"sm.w does not exist with the {kind} kernel: use sm.svm_model.classify(vector)"
                if kind != "linear"
                else "sm.w does not exist before training has begun"
            )
        return self.svm_model.lin_weights

    @w.setter
    def w(self, weights: ArrayLike) -> None:
        ids = self.svm_model.kernel_ids
        self.svm_model = Model(self.svm_model.kernel_parm, np.asarray(weights, float), ids)

    def own_attributes(self) -> dict[str, Any]:
        """What the module has set, besides size_psi."""
        return {k: v for k, v in vars(self).items() if k not in ("size_psi", "svm_model")}
