"""The vectors of hook modules: sparse vectors, and documents that are sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from clustruct._typing import Floats, Ints
from clustruct.itemsets import Matrix

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
    raise TypeError(f"a Sparse, a sequence of Sparse or a Document is wanted, not {_shortened(vector)}")


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


def _shortened(value: object) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."
