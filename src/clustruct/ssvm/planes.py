"""Sets of planes ``<w, c_j> >= b_j - xi_g`` with their multipliers: what all stores have in common, and the
store with a Gram matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from clustruct.core.callbacks import SupportsDump
from clustruct.core.typing import Floats, Indices

from .dual_qp import Groups, WeightConstraints, feasible, solve_bounded_dual, solve_dual
from .problem import W
from .result import Planes
from .separation import Rows


def with_room(array: NDArray[Any], n: int) -> NDArray[Any]:
    """The array with place for n rows or more: at least doubled where it has fewer."""
    if n <= len(array):
        return array
    return np.concatenate([array, np.zeros((n, *array.shape[1:]), array.dtype)])


class PlaneSet(ABC, Generic[W]):
    """A working set as the solvers see it. There are two stores:

    - `GramPlanes` keeps the planes' inner products and solves its QP exactly: few planes, kernels;
    - `clustruct.ssvm.pool.PooledPlanes` keeps no inner products and ascends group by group: many examples.

    Group g has the slack xi_g, at most ``cap[g]`` of multipliers and the curvature ``ridge[g]`` (0 for
    linear slacks). Groups beyond the ``n_groups`` first hold the rows of the weight constraints, one each,
    without slack.
    """

    def __init__(self, cap: Floats, ridge: Floats, conditions: WeightConstraints | None) -> None:
        extra = 0 if conditions is None else len(conditions.lower)
        self.n_groups, self.conditions = len(cap), conditions
        self.cap = np.concatenate([cap, np.full(extra, np.inf)])
        self.ridge = np.concatenate([ridge, np.zeros(extra)])
        self.has_slack = np.isfinite(self.cap) | (self.ridge > 0.0)

    @property
    @abstractmethod
    def w(self) -> W:
        """The weights that the multipliers make."""

    @property
    @abstractmethod
    def dual(self) -> float:
        """The dual value at the multipliers: a lower bound of the optimum, as they are feasible."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def half_norm(self, w: W) -> float:
        """1/2 |w - prior|^2."""

    @abstractmethod
    def add(self, rows: Rows, b: Floats, groups: Indices) -> None:
        """Take in planes, at most one per group and call, with multiplier 0."""

    @abstractmethod
    def slacks(self, groups: Indices) -> Floats:
        """The slack that the planes of each group need at w."""

    @abstractmethod
    def slacks_at(self, w: W) -> Floats:
        """The slack that the planes of each group need at any w."""

    def value_at(self, w: W) -> tuple[float, float]:
        """The planes' own objective at any w, which is never below the dual, and the mean slack there."""
        slacks = self.slacks_at(w)[: self.n_groups]
        ridge = self.ridge[: self.n_groups]
        quadratic = bool((ridge > 0.0).any())
        weights = self.cap[: self.n_groups]
        if quadratic:  # examples that do not count have neither curvature nor weight
            weights = np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0.0)
        cost = weights @ (0.5 * slacks**2 if quadratic else slacks)
        return self.half_norm(w) + float(cost), float(weights @ slacks / weights.sum())

    @abstractmethod
    def optimise(self, goal: float, rng: np.random.Generator, part: Indices | None = None) -> None:
        """Raise the dual until its gap to the planes' own optimum is near ``goal``; of a part, one step."""

    @abstractmethod
    def prune(self, age: int) -> None:
        """Forget planes whose multiplier has been zero for more than ``age`` rounds or solves.

        The dual value does not change, so it still rises with every violated plane that is added, by
        at least the amount of Theorems 4 and 7: training still ends.
        """

    @abstractmethod
    def dump(self) -> Planes:
        """The planes that have a slack, with their multipliers."""

    @abstractmethod
    def load(self, planes: Planes) -> None:
        """Take in planes of an earlier run."""

    def warm_start_from(self, earlier: SupportsDump | Planes, n_features: int) -> bool:
        """Take in the planes of an earlier run, where they could be planes of this one."""
        planes = earlier if isinstance(earlier, Planes) else earlier.dump()
        if not planes.fits(n_features, self.n_groups):
            return False
        # Those of examples that do not count here have no room for a multiplier.
        self.load(planes.take(self.cap[planes.group] > 0.0))
        return True


class GramPlanes(PlaneSet[W]):
    """Planes with their Gram matrix, which gains one row per plane and is never computed anew.

    Where constraint vectors live is up to the subclass: `LinearPlanes`, or
    `clustruct.ssvm.kernelized.KernelPlanes`.
    """

    def __init__(self, conditions: WeightConstraints | None, cap: Floats, ridge: Floats | None) -> None:
        super().__init__(cap, np.zeros(len(cap)) if ridge is None else ridge, conditions)
        self._gram = np.empty((16, 16))
        self.b, self.a, self._offset = np.empty(0), np.empty(0), np.empty(0)
        self.group, self._idle = np.empty(0, np.intp), np.empty(0, np.intp)
        if conditions is not None:
            self.add(conditions.A, conditions.lower, np.arange(self.n_groups, len(self.cap)))
        self.solve()

    @abstractmethod
    def append(self, vectors: Sequence[Any]) -> Floats:
        """Take in vectors; their inner products with all vectors held, themselves last: one column each."""

    @abstractmethod
    def keep(self, which: Indices) -> None:
        """Hold on to these vectors only."""

    @abstractmethod
    def rows(self, which: Any) -> Any:
        """Some of the vectors held."""

    @abstractmethod
    def model(self, a: Floats, half_norm: float) -> W:
        """What the oracle is called with: w for the multipliers a; half_norm is 1/2 |sum_j a_j c_j|^2."""

    @abstractmethod
    def margins(self, which: Any, w: W, Ga: Floats) -> Any:
        """<c_j, w> of some vectors; Ga are the products from the Gram matrix, without the prior."""

    @abstractmethod
    def margins_at(self, w: W) -> Floats:
        """<c_j, w> of all vectors held, for any w."""

    @abstractmethod
    def between(self, w: W, other: W, share: float) -> W:
        """The point ``share`` of the way from w to the other."""

    def __len__(self) -> int:
        return len(self.b)

    @property
    def w(self) -> W:
        return self._w

    @property
    def dual(self) -> float:
        return self._dual

    @property
    def gram(self) -> Floats:
        """The inner products of the planes held."""
        return self._gram[: len(self.b), : len(self.b)]

    def add(self, rows: Any, b: Floats, groups: Indices) -> None:
        listed = rows.tocsr().toarray() if hasattr(rows, "tocsr") else rows
        for row, right, group in zip(listed, b, groups, strict=True):
            self.add_plane(row, float(right), int(group))

    def add_plane(self, vector: Any, b: float, group: int) -> None:
        """Take in one plane with multiplier 0."""
        self._take([vector], np.array([b]), np.array([group]))

    def add_conditions(self, vectors: Sequence[Any], lower: Floats) -> None:
        """Take in ``<w, vector> >= lower`` without slack: for conditions that come up on the way."""
        before, new = len(self.cap), len(lower)
        if not new:
            return
        self.cap = np.concatenate([self.cap, np.full(new, np.inf)])
        self.ridge = np.concatenate([self.ridge, np.zeros(new)])
        self.has_slack = np.concatenate([self.has_slack, np.zeros(new, np.bool_)])
        self._take(vectors, lower, np.arange(before, before + new))

    def _take(self, vectors: Sequence[Any], b: Floats, groups: Indices) -> None:
        """Take in some planes at once, with multipliers 0."""
        products = self.append(vectors)
        n, new = products.shape
        if n > len(self._gram):
            self._gram = np.pad(self._gram, (0, n))
        self._gram[:n, n - new : n] = products
        self._gram[n - new : n, :n] = products.T
        zeros, conditions = np.zeros(new), self.conditions
        offset = zeros if conditions is None else self.rows(slice(n - new, n)) @ conditions.prior
        self._offset = np.concatenate([self._offset, offset])
        self.b, self.a = np.concatenate([self.b, b]), np.concatenate([self.a, zeros])
        self.group = np.concatenate([self.group, groups])
        self._idle = np.concatenate([self._idle, np.zeros(new, np.intp)])
        self._changed = True

    def optimise(self, goal: float, rng: np.random.Generator, part: Indices | None = None) -> None:
        """Here always to the optimum."""
        if self._changed:
            self.solve()

    def solve(self) -> None:
        """Bring the multipliers to the optimum of the planes held."""
        groups, conditions = Groups(self.group, self.cap), self.conditions
        if conditions is not None and conditions.bounded_search:
            vectors = self.rows(slice(None))
            self.a = solve_bounded_dual(vectors, self.b, self._ridge_matrix(), groups, conditions, self.a)
        else:
            self.a = solve_dual(self.gram + self._ridge_matrix(), self.b - self._offset, groups, self.a)
        self._idle = np.where(self.a > 0.0, 0, self._idle + 1)
        self._refresh()

    def _refresh(self) -> None:
        """w and the dual value from the multipliers."""
        Ga = self.gram @ self.a
        self._w = self.model(self.a, 0.5 * float(self.a @ Ga))
        self._margins = self.margins(slice(None), self._w, Ga)
        held = np.bincount(self.group, weights=self.a, minlength=len(self.cap))
        self._changed = False
        rise = float(self.a @ (self.b - self._margins))
        self._dual = self.half_norm(self._w) + rise - 0.5 * float(self.ridge @ held**2)

    def slacks(self, groups: Indices) -> Floats:
        return self._slacks_for(self._margins)[groups]

    def slacks_at(self, w: W) -> Floats:
        return self._slacks_for(self.margins_at(w))

    def _slacks_for(self, margins: Floats) -> Floats:
        """The slack of each group where the first planes have these margins."""
        out, known = np.zeros(len(self.cap)), len(margins)
        np.maximum.at(out, self.group[:known], self.b[:known] - margins)
        return out

    def excess(self, j: int) -> float:
        """b_j - <c_j, w>: the slack that plane j alone needs at w."""
        return float(self.b[j] - self.margins(j, self._w, self.gram @ self.a))

    def prune(self, age: int) -> None:
        stays = (self._idle <= age) | ~self.has_slack[self.group]
        if stays.all():
            return
        which = np.flatnonzero(stays)
        self._gram[: len(which), : len(which)] = self._gram[np.ix_(which, which)]
        self.keep(which)
        for name in ("b", "a", "group", "_idle", "_offset"):
            setattr(self, name, getattr(self, name)[which])
        self._refresh()

    def dump(self) -> Planes:
        mine = self.has_slack[self.group]
        return Planes(self.rows(mine), self.b[mine], self.group[mine], self.a[mine])

    def load(self, planes: Planes) -> None:
        before = len(self)
        self.add(planes.vectors, planes.b, planes.group)
        self.a[before:] = planes.a
        self.a = feasible(self.a, Groups(self.group, self.cap))
        self.solve()

    def _ridge_matrix(self) -> Floats:
        same = self.group[:, None] == self.group[None, :]
        return same * self.ridge[self.group][:, None]


class LinearPlanes(GramPlanes[Floats]):
    """Dense vectors in a matrix that doubles as it grows."""

    conditions: WeightConstraints

    def __init__(self, conditions: WeightConstraints, cap: Floats, ridge: Floats | None = None) -> None:
        self._buffer, self._count = np.empty((16, len(conditions.prior))), 0
        super().__init__(conditions, cap, ridge)

    def append(self, vectors: Sequence[Floats]) -> Floats:
        before, self._count = self._count, self._count + len(vectors)
        self._buffer = with_room(self._buffer, self._count)
        self._buffer[before : self._count] = vectors
        held = self._buffer[: self._count]
        # One at a time as a vector: another way of summing has other last digits.
        return held @ held[before:].T if len(vectors) > 1 else (held @ held[-1])[:, None]

    def keep(self, which: Indices) -> None:
        self._buffer[: len(which)] = self._buffer[which]
        self._count = len(which)

    def rows(self, which: Any) -> Floats:
        return self._buffer[: self._count][which]

    def model(self, a: Floats, half_norm: float) -> Floats:
        return self.conditions.clip(self.conditions.prior + a @ self._buffer[: self._count])

    def margins(self, which: Any, w: Floats, Ga: Floats) -> Floats:
        """From w, as sums over the Gram matrix lose digits when C is large."""
        return self.rows(which) @ w

    def margins_at(self, w: Floats) -> Floats:
        return self.rows(slice(None)) @ w

    def half_norm(self, w: Floats) -> float:
        return self.conditions.half_norm(w)

    def between(self, w: Floats, other: Floats, share: float) -> Floats:
        return w + share * (other - w)
