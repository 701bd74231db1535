"""The working set with its Gram matrix: one-slack training, small n-slack training, kernels."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats

from .bounded_qp import solve_bounded_dual
from .dual_qp import Groups, feasible, solve_dual
from .result import Planes
from .side_conditions import SideConditions


class Space(Protocol):
    """Where constraint vectors live: inner products among them, and the model that they make."""

    side: SideConditions | None

    def append(self, vector: Any) -> Floats:
        """Take in a vector; its inner products with all vectors held, itself last."""
        ...

    def keep(self, which: NDArray[np.intp]) -> None:
        """Hold on to these vectors only."""
        ...

    def model(self, a: Floats, half_norm: float) -> Any:
        """What the oracle is given: w for the multipliers a; half_norm is 1/2 |sum_j a_j c_j|^2."""
        ...

    def half_norm(self, w: Any) -> float:
        """1/2 |w - prior|^2."""
        ...

    def between(self, w: Any, other: Any, share: float) -> Any:
        """The point ``share`` of the way from w to the other."""
        ...


class LinearSpace:
    """Dense vectors in a matrix that doubles as it grows."""

    def __init__(self, n_features: int, side: SideConditions) -> None:
        self.side: SideConditions | None = side
        self._prior, self._clip = side.prior, side.clip
        self._buffer = np.empty((16, n_features))
        self._count = 0

    @property
    def vectors(self) -> Floats:
        return self._buffer[: self._count]

    def append(self, vector: Any) -> Floats:
        if self._count == len(self._buffer):
            grown = np.empty((2 * self._count, self._buffer.shape[1]))
            grown[: self._count] = self._buffer
            self._buffer = grown
        self._buffer[self._count] = vector
        self._count += 1
        return self.vectors @ self.vectors[-1]

    def keep(self, which: NDArray[np.intp]) -> None:
        self._buffer[: len(which)] = self._buffer[which]
        self._count = len(which)

    def model(self, a: Floats, half_norm: float) -> Floats:
        return self._clip(self._prior + a @ self.vectors)

    def half_norm(self, w: Floats) -> float:
        return 0.5 * float(np.sum((w - self._prior) ** 2))

    def between(self, w: Floats, other: Floats, share: float) -> Floats:
        return w + share * (other - w)


class WorkingSet:
    """Planes ``<w, c_j> >= b_j - xi_g`` with their multipliers a_j and Gram matrix.

    The Gram matrix gains one row per plane and is never computed anew. ``dual`` is the value of the
    dual at a feasible a, and so a lower bound of the working set's optimum. Groups beyond the
    given ones hold the side conditions' rows, one each, without slack.
    """

    def __init__(self, space: Space, cap: Floats, ridge: Floats) -> None:
        self.space = space
        extra = 0 if space.side is None else len(space.side.least)
        self.cap = np.concatenate([cap, np.full(extra, np.inf)])
        self.ridge = np.concatenate([ridge, np.zeros(extra)])
        self._gram = np.empty((16, 16))
        self.b, self.a = np.empty(0), np.empty(0)
        self.group, self.idle = np.empty(0, np.intp), np.empty(0, np.intp)
        self.offset = np.empty(0)
        if space.side is not None:
            self.add(space.side.rows, space.side.least, len(cap) + np.arange(extra))
        self.solve()

    def __len__(self) -> int:
        return len(self.b)

    @property
    def gram(self) -> Floats:
        return self._gram[: len(self.b), : len(self.b)]

    def add(self, rows: Any, b: Floats, groups: NDArray[np.intp]) -> None:
        """Take in planes, one per row, with multiplier 0."""
        listed = rows.tocsr().toarray() if hasattr(rows, "tocsr") else rows
        for row, right, group in zip(listed, b, groups, strict=True):
            self.add_plane(row, float(right), int(group))

    def add_plane(self, vector: Any, b: float, group: int) -> None:
        """Take in one plane with multiplier 0."""
        products = self.space.append(vector)
        n = len(products)
        if n > len(self._gram):
            grown = np.empty((2 * n, 2 * n))
            grown[: n - 1, : n - 1] = self._gram[: n - 1, : n - 1]
            self._gram = grown
        self._gram[n - 1, :n] = self._gram[:n, n - 1] = products
        side = self.space.side
        self.offset = np.append(self.offset, 0.0 if side is None else float(vector @ side.prior))
        self.b, self.a = np.append(self.b, b), np.append(self.a, 0.0)
        self.group, self.idle = np.append(self.group, group), np.append(self.idle, 0)
        self.stale = True

    def improve(self, goal: float, rng: np.random.Generator, part: NDArray[np.intp] | None = None) -> None:
        """As `Pool.improve`; here always to the optimum."""
        if self.stale:
            self.solve()

    def half_norm(self, w: Any) -> float:
        return self.space.half_norm(w)

    def solve(self) -> None:
        """Bring the multipliers to the optimum of the working set."""
        groups = Groups(self.group, self.cap)
        side = self.space.side
        if side is not None and side.bounded:
            vectors = self.space.vectors  # type: ignore[attr-defined]
            self.a = solve_bounded_dual(vectors, self.b, self._ridge_matrix(), groups, side, self.a)
        else:
            self.a = solve_dual(self.gram + self._ridge_matrix(), self.b - self.offset, groups, self.a)
        self.idle = np.where(self.a > 0.0, 0, self.idle + 1)
        self.refresh()

    def refresh(self) -> None:
        """w and the dual value from the multipliers."""
        Ga = self.gram @ self.a
        self.w = self.space.model(self.a, 0.5 * float(self.a @ Ga))
        products = self._margins(slice(None), Ga)
        held = np.bincount(self.group, weights=self.a, minlength=len(self.cap))
        self.stale = False
        rise = float(self.a @ (self.b - products))
        self.dual = self.half_norm(self.w) + rise - 0.5 * float(self.ridge @ held**2)
        self._products = products

    def slacks(self, groups: NDArray[np.intp]) -> Floats:
        """The slack that the planes of each group need at w."""
        out = np.zeros(len(self.cap))
        known = len(self._products)
        np.maximum.at(out, self.group[:known], self.b[:known] - self._products)
        return out[groups]

    def excess(self, j: int) -> float:
        """b_j - <c_j, w>: the slack that plane j alone needs at w."""
        return float(self.b[j] - self._margins(j, self.gram @ self.a))

    def _margins(self, which: Any, Ga: Floats) -> Any:
        """<c_j, w>: from w where there is one, as sums over the Gram matrix lose digits when C is large."""
        if isinstance(self.space, LinearSpace):
            return self.space.vectors[which] @ self.w
        return Ga[which]

    def drop_idle(self, age: int) -> None:
        """Forget planes whose multiplier has been zero for more than ``age`` solves.

        The dual value does not change, so it still rises with every violated plane that is added, by
        at least the amount of Theorems 4 and 7: training still ends.
        """
        without_slack = np.isinf(self.cap) & (self.ridge == 0.0)
        stays = (self.idle <= age) | without_slack[self.group]
        if stays.all():
            return
        which = np.flatnonzero(stays)
        self._gram[: len(which), : len(which)] = self._gram[np.ix_(which, which)]
        self.space.keep(which)
        for name in ("b", "a", "group", "idle", "offset"):
            setattr(self, name, getattr(self, name)[which])
        self.refresh()

    def dump(self) -> Planes:
        """The planes that have a slack, with their multipliers."""
        mine = np.isfinite(self.cap[self.group]) | (self.ridge[self.group] > 0.0)
        held = self.space.vectors  # type: ignore[attr-defined]
        vectors = held[mine].copy() if isinstance(held, np.ndarray) else held
        return Planes(vectors, self.b[mine], self.group[mine], self.a[mine])

    def load(self, planes: Planes) -> None:
        """Take in planes of an earlier run."""
        before = len(self)
        self.add(planes.vectors, planes.b, planes.group)
        self.a[before:] = planes.a
        self.a = feasible(self.a, Groups(self.group, self.cap))
        self.solve()

    def _ridge_matrix(self) -> Floats:
        same = self.group[:, None] == self.group[None, :]
        return same * self.ridge[self.group][:, None]
