"""Structural SVMs in the dual: joint features that are sums of vectors under a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from clustruct.core.storage import DataclassState, is_matrix, register
from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule

from .planes import GramPlanes
from .problem import BatchProblem, ConstraintBatch, Problem
from .separation import separate_each

# kappa of each row of one table with each row of another. Rows may be dense or sparse.
KernelFunction: TypeAlias = Callable[[Any, Any], Floats]
# Vectors whose kernel values are computed together: few calls, and a matrix that still fits the memory.
ROWS_AT_ONCE = 4096


@register("VectorSum")
@dataclass(frozen=True)
class VectorSum(DataclassState):
    """``sum_k coefficients[k] * phi(vectors[k])`` in the space of part ``parts[k]``.

    Vectors of different parts are orthogonal: the inner product of two sums runs over pairs with equal
    part. A class per part gives kernel multiclass.
    """

    coefficients: Floats
    vectors: Any
    parts: Indices | None = None

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The sum of a state; ValueError where it is not one."""
        found = super().from_state(state)
        numbers, n = (found.coefficients, found.part_ids), len(found.coefficients)
        if not all(x.shape == (n,) for x in numbers) or not is_matrix(found.vectors, n):
            raise ValueError("the parts of a sum of vectors do not fit")
        return found

    @property
    def part_ids(self) -> Indices:
        """The part of each vector."""
        return np.zeros(len(self.coefficients), np.intp) if self.parts is None else np.asarray(self.parts)

    def __mul__(self, factor: float) -> VectorSum:
        return VectorSum(self.coefficients * factor, self.vectors, self.parts)

    def __add__(self, other: VectorSum) -> VectorSum:
        return add_sums([self, other])

    def __sub__(self, other: VectorSum) -> VectorSum:
        return add_sums([self, other * -1.0])


def add_sums(sums: Sequence[VectorSum]) -> VectorSum:
    """The sum of vector sums."""
    blocks = [s.vectors for s in sums]
    if any(sparse.issparse(b) for b in blocks):
        vectors: Any = sparse.csr_array(sparse.vstack([sparse.csr_array(b) for b in blocks]))
    else:
        vectors = np.concatenate([np.atleast_2d(b) for b in blocks])
    coefficients = np.concatenate([s.coefficients for s in sums])
    return VectorSum(coefficients, vectors, np.concatenate([s.part_ids for s in sums]))


@register("KernelModel")
@dataclass(frozen=True)
class KernelModel(DataclassState):
    """w as a sum over support vectors."""

    kernel: KernelFunction
    support: VectorSum | None
    half_norm: float = 0.0

    def scores(self, vectors: Any, part: int = 0) -> Floats:
        """<w, phi(v)> for each row v, in the space of the part."""
        if self.support is None or not (mine := self.support.part_ids == part).any():
            return np.zeros(vectors.shape[0])
        return self.kernel(vectors, self.support.vectors[mine]) @ self.support.coefficients[mine]

    def score(self, s: VectorSum) -> float:
        """<w, s>."""
        return float(self.score_all([s])[0])

    def score_all(self, sums: Sequence[VectorSum], rows_at_once: int = ROWS_AT_ONCE) -> Floats:
        """<w, s> of many sums: one kernel matrix per part and some thousand vectors, not one per sum."""
        sizes = np.array([len(s.coefficients) for s in sums])
        pieces = np.cumsum(sizes) // rows_at_once
        out = np.zeros(len(sums))
        for piece in np.unique(pieces):
            which = np.flatnonzero(pieces == piece).tolist()
            whole = add_sums([sums[j] for j in which])
            values, parts = np.zeros(len(whole.coefficients)), whole.part_ids
            for part in np.unique(parts):
                mine = np.flatnonzero(parts == part)
                values[mine] = self.scores(whole.vectors[mine], int(part))
            owner = np.repeat(np.arange(len(which)), sizes[which])
            out[which] = np.bincount(owner, values * whole.coefficients, minlength=len(which))
        return out


@dataclass(frozen=True)
class KernelConstraints(ConstraintBatch[KernelModel]):
    """A batch of constraints whose psi differences are vector sums."""

    losses: Floats
    differences: list[VectorSum]

    def margins(self, w: KernelModel) -> Floats:
        return w.score_all(self.differences)

    def combine(self, coefficients: Floats) -> VectorSum:
        used = np.flatnonzero(coefficients)
        return add_sums([self.differences[j] * float(coefficients[j]) for j in used])

    def rows(self, which: Indices) -> list[VectorSum]:
        return [self.differences[j] for j in which]


class KernelPlanes(GramPlanes[KernelModel]):
    """Planes whose vectors are vector sums."""

    def __init__(self, kernel: KernelFunction, cap: Floats, ridge: Floats | None = None) -> None:
        self.kernel = kernel
        self.vectors: list[VectorSum] = []
        super().__init__(None, cap, ridge)

    def append(self, vectors: Sequence[VectorSum]) -> Floats:
        self.vectors.extend(vectors)
        columns = [KernelModel(self.kernel, vector).score_all(self.vectors) for vector in vectors]
        return np.stack(columns, axis=1)

    def keep(self, which: Indices) -> None:
        self.vectors = self.rows(which)

    def rows(self, which: Any) -> list[VectorSum]:
        return [self.vectors[j] for j in np.arange(len(self.vectors))[which]]

    def margins(self, which: Any, w: KernelModel, Ga: Floats) -> Any:
        return Ga[which]

    def margins_at(self, w: KernelModel) -> Floats:
        return w.score_all(self.vectors)

    def model(self, a: Floats, half_norm: float) -> KernelModel:
        used = np.flatnonzero(a)
        if not len(used):
            return KernelModel(self.kernel, None)
        support = add_sums([self.vectors[j] * float(a[j]) for j in used])
        return KernelModel(self.kernel, _merge_equal(support), half_norm)

    def half_norm(self, w: KernelModel) -> float:
        return w.half_norm

    def between(self, w: KernelModel, other: KernelModel, share: float) -> KernelModel:
        return other


def _merge_equal(s: VectorSum) -> VectorSum:
    """Equal vectors of one part become one support vector."""
    dense = s.vectors.toarray() if sparse.issparse(s.vectors) else s.vectors
    keys = np.column_stack([s.part_ids, dense])
    _, first, owner = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    coefficients = np.bincount(owner.ravel(), weights=s.coefficients)
    stays = coefficients != 0.0
    return VectorSum(coefficients[stays], s.vectors[first[stays]], s.part_ids[first[stays]])


class KernelProblem(BatchProblem):
    """The batch form of a problem whose ``joint_feature(i, y)`` gives a `VectorSum`.

    Its ``separate(i, w, rule)`` is called with a `KernelModel` for w.
    """

    def __init__(self, problem: Problem) -> None:
        self.one_by_one, self.n_examples, self.n_features = problem, problem.n_examples, 1
        self.oracle_kind, self.parallel_backend = problem.oracle_kind, problem.parallel_backend
        self._truths = [problem.joint_feature(i, problem.truth(i)) for i in range(problem.n_examples)]

    def separate_batch(self, indices: Indices, w: KernelModel, rule: SlackRule) -> KernelConstraints:
        return self._differences(indices, *separate_each(self.one_by_one, indices, w, rule))

    def separate_batch_thoroughly(
        self, indices: Indices, w: KernelModel, rule: SlackRule
    ) -> KernelConstraints:
        return self._differences(indices, *separate_each(self.one_by_one, indices, w, rule, thorough=True))

    def _differences(self, indices: Indices, losses: Floats, psi: list[Any]) -> KernelConstraints:
        differences = [self._truths[i] - found for i, found in zip(indices, psi, strict=True)]
        return KernelConstraints(losses, differences)
