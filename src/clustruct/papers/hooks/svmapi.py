"""The module that hook modules import as ``svmapi``.

What they hand over, sparse vectors and documents that are sums of them; and what they are handed: parameters,
the model, and the scores of vectors under it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from clustruct.core.kernels import Kernel
from clustruct.core.typing import Floats, Ints
from clustruct.data.matrices import Matrix
from clustruct.ssvm import VectorSum

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
# Support vectors with more entries than this, zeros counted, stay sparse: slower, and 256 MiB at most.
MOST_DENSE = 2**25
KERNEL_KINDS = ("linear", "polynomial", "rbf", "sigmoid")
# What a module may give as words: (index, value) pairs or plain values, in whatever holds them.
Words: TypeAlias = "Sparse | Iterable[Any] | sparse.sparray"
# And as a vector: words in one or more parts.
VectorLike: TypeAlias = "Sparse | Document | Iterable[Any] | sparse.sparray"


class Sparse:
    """A sparse vector, made of (index, value) pairs or of plain values.

    Under a kernel it stands for ``factor * phi(words)`` in the space named by ``kernel_id``: vectors
    of different spaces are orthogonal. Pairs may come in any order; pairs with one index are added.
    A `Sparse` made from another takes its words, not its factor.

    It behaves as the sequence of its pairs. ``indices`` and ``values`` are the same as arrays.

    >>> v = Sparse([(0, 1.0), (3, 2.0)], factor=-1.0)
    >>> list(v), len(v), v[1], v.twonorm_sq
    ([(0, 1.0), (3, 2.0)], 2, (3, 2.0), 5.0)
    >>> list(Sparse([0.0, 7.0]))
    [(1, 7.0)]
    """

    __slots__ = ("factor", "indices", "kernel_id", "userdefined", "values")

    def __init__(
        self, words: Words = (), userdefined: str = "", factor: float = 1.0, kernel_id: int = 0
    ) -> None:
        self.indices, self.values = _read_words(words)
        self.userdefined = userdefined
        self.factor = factor
        self.kernel_id = kernel_id

    @property
    def words(self) -> list[tuple[int, float]]:
        return list(self)

    @property
    def twonorm_sq(self) -> float:
        """The squared length of the words, without the factor."""
        return float(self.values @ self.values)

    def shifted(self, by: int) -> Sparse:
        """The same vector with every index raised: a block of a longer vector."""
        moved = Sparse.__new__(Sparse)
        moved.indices, moved.values = self.indices + by, self.values
        moved.userdefined, moved.factor, moved.kernel_id = self.userdefined, self.factor, self.kernel_id
        return moved

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        # tolist first: Python numbers are several times faster than numpy's in a module's loops.
        return zip(self.indices.tolist(), self.values.tolist(), strict=True)

    def __getitem__(self, which: SupportsIndex | slice) -> Any:
        if isinstance(which, slice):
            return self.words[which]
        return int(self.indices[which]), float(self.values[which])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sparse):
            return NotImplemented
        return (
            (self.factor, self.kernel_id) == (other.factor, other.kernel_id)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((self.indices.tobytes(), self.values.tobytes(), self.factor, self.kernel_id))

    def __repr__(self) -> str:
        return f"Sparse({self.words!r}, factor={self.factor!r}, kernel_id={self.kernel_id!r})"


class Document:
    """A sum of `Sparse` vectors: the form of Psi, and of constraints.

    ``slackid`` names the slack variable of a constraint given by ``init_constraints``: None for a
    hard constraint, i for the slack of example i (counted from 1), more than the number of examples
    for a slack of its own, which then costs ``costfactor`` times as much as an example's.
    """

    def __init__(
        self,
        sparses: VectorLike = (),
        docnum: int = 0,
        slackid: int | None = None,
        queryid: int = 0,
        costfactor: float = 1.0,
    ) -> None:
        self.sparses = list(sparse_parts(sparses))
        self.docnum, self.slackid, self.queryid, self.costfactor = docnum, slackid, queryid, costfactor

    def __len__(self) -> int:
        return len(self.sparses)

    def __iter__(self) -> Iterator[Sparse]:
        return iter(self.sparses)

    def __getitem__(self, which: SupportsIndex | slice) -> Any:
        return self.sparses[which]

    def __repr__(self) -> str:
        return f"Document({self.sparses!r}, slackid={self.slackid!r}, costfactor={self.costfactor!r})"


def sparse_parts(vector: VectorLike) -> Sequence[Sparse]:
    """The `Sparse` parts of what a module may give as a vector.

    That is a `Sparse`, a sequence of them, a `Document`, or a plain numpy or scipy vector.
    """
    if isinstance(vector, Sparse):
        return (vector,)
    if isinstance(vector, Document):
        return vector.sparses
    if isinstance(vector, np.ndarray) or sparse.issparse(vector):
        return (Sparse(vector),)
    if isinstance(vector, Iterable):
        parts = list(vector)
        if all(isinstance(p, Sparse) for p in parts):
            return parts
    raise TypeError(f"a Sparse, a sequence of Sparse or a Document is wanted, not {_shorten(vector)}")


def row_words(vectors: Matrix, row: int) -> Words:
    """A row of a dense or sparse matrix, as `Sparse` takes it."""
    return vectors[[row]] if sparse.issparse(vectors) else vectors[row]


def _read_words(words: Words) -> tuple[Ints, Floats]:
    """Indices and values of words, sorted, without repeated indices."""
    if isinstance(words, Sparse):
        return words.indices, words.values
    if not isinstance(words, list) and sparse.issparse(words):
        row = sparse.coo_array(words).reshape(1, -1)
        return _canonical(row.coords[1], row.data)
    if isinstance(words, np.ndarray) and words.ndim == 1:
        indices = np.flatnonzero(words)
        return _canonical(indices, words[indices])
    words = list(words)
    if not words:
        return np.empty(0, np.int64), np.empty(0)
    if not hasattr(words[0], "__len__"):
        return _read_words(np.array(words, float))
    try:
        listed, values = zip(*words, strict=True)
    except ValueError:
        raise ValueError(f"words must be (index, value) pairs or plain values, not {words[0]!r}") from None
    return _canonical(np.array(listed), values)


def _canonical(indices: NDArray[Any], values: ArrayLike) -> tuple[Ints, Floats]:
    numbers: Floats = np.array(values, np.float64)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"the index of a word must be an integer, not {indices[0]!r}")
    places: Ints = indices.astype(np.int64, copy=False)
    # count_nonzero instead of `all`: the two checks would cost a third of the whole for short vectors.
    if np.count_nonzero(places[1:] <= places[:-1]):
        places, owner = np.unique(places, return_inverse=True)
        numbers = np.bincount(owner, weights=numbers).astype(np.float64, copy=False)
    if len(places) and places[0] < 0:
        raise ValueError(f"the index of a word must not be negative, as {places[0]} is")
    if np.count_nonzero(np.isfinite(numbers)) < len(numbers):
        raise ValueError("the value of a word is NaN or infinite")
    return places, numbers


def _shorten(value: object) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."


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
        self._score = self._kernel_score if lin_weights is None else self._linear_score
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

    def _linear_score(self, s: Sparse) -> float:
        w = self._blocks.get(s.kernel_id)
        if w is None:
            return 0.0
        try:
            return float(w.take(s.indices).dot(s.values))
        except IndexError:
            # Words beyond size_psi, seen in new data only, have no weight.
            known = s.indices < len(w)
            return float(w[s.indices[known]] @ s.values[known])

    def _kernel_score(self, s: Sparse) -> float:
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

    def __init__(self, kernel: KernelParm, vectors: Any, coefficients: Floats) -> None:
        self.kernel, self.coefficients = kernel, coefficients
        # Column by column: the products need only the columns that a sparse vector has.
        self.used: Ints | None = None
        if sparse.issparse(vectors):
            # And of those only the ones that some support vector has: there can be very many more.
            self.used, places = np.unique(np.asarray(vectors.indices), return_inverse=True)
            shape = (vectors.shape[0], len(self.used))
            vectors = sparse.csr_array((vectors.data, places, vectors.indptr), shape=shape)
        if sparse.issparse(vectors) and math.prod(vectors.shape) > MOST_DENSE:
            self.columns: Any = sparse.csr_array(vectors.T)
            self.squares = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
        else:
            dense = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
            self.columns = np.ascontiguousarray(dense.T)
            self.squares = np.einsum("ij,ij->i", dense, dense)

    def _products(self, s: Sparse) -> Floats:
        """<v_j, s> for every j. Words that no v_j has count nothing."""
        if self.used is None:
            known = s.indices < len(self.columns)
            return s.values[known] @ self.columns[s.indices[known]]
        places = np.searchsorted(self.used, s.indices)
        places[places == len(self.used)] = 0
        known = self.used[places] == s.indices if len(self.used) else np.zeros(len(s), bool)
        return np.asarray(s.values[known] @ self.columns[places[known]]).ravel()

    def __call__(self, s: Sparse) -> float:
        k, products = self.kernel, self._products(s)
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
