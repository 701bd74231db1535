"""A pool of planes grouped by example, for n-slack training with many examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats, Indices

from .bounded_qp import nearest_allowed
from .dual_qp import LARGEST_INTERIOR, Groups, feasible, solve_dual
from .result import Planes
from .segments import Segments
from .side_conditions import SideConditions

# Full sweeps per call, and sweeps over the busy groups between two of them.
MOST_SWEEPS = 200
BUSY_SWEEPS = 15


class Pool:
    """Planes ``<w, c_j> >= b_j - xi_g`` with multipliers a_j, and ``v = prior + sum_j a_j c_j``.

    No Gram matrix: a visit to a group costs its planes' entries, so that a sweep is linear in the
    number of examples. The planes of a group are a linked list (``head``, ``following``), newest
    first. Groups beyond the given ones hold the side conditions' rows, one each, without slack.
    """

    def __init__(self, cap: Floats, ridge: Floats, side: SideConditions) -> None:
        extra = len(side.least)
        self.side = side
        self.cap = np.concatenate([cap, np.full(extra, np.inf)])
        self.ridge = np.concatenate([ridge, np.zeros(extra)])
        self.segments = Segments(len(side.prior))
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(1024, kind)
            for name, kind in (
                ("b", np.float64),
                ("square", np.float64),
                ("a", np.float64),
                ("following", np.intp),
                ("group", np.intp),
                ("idle", np.intp),
                ("quiet", np.bool_),
            )
        }
        self.head = np.full(len(self.cap), -1, np.intp)
        self.total = np.zeros(len(self.cap))
        self._busy = np.ones(len(self.cap), np.bool_)
        self._scratch = np.zeros(len(side.prior))
        self.count = 0
        self.v = side.prior.copy()
        if extra:
            self.add(side.rows, side.least, len(cap) + np.arange(extra))
            self.improve(0.0, np.random.default_rng(0))

    def __len__(self) -> int:
        return self.count

    def column(self, name: str) -> NDArray[Any]:
        """One value per plane: b, a, group, idle, ..."""
        return self._columns[name][: self.count]

    @property
    def w(self) -> Floats:
        """The weights, within the side conditions even before the pool's own optimum is reached."""
        return nearest_allowed(self.side, self.v.copy())

    def half_norm(self, w: Floats) -> float:
        """1/2 |w - prior|^2."""
        return 0.5 * float(np.sum((w - self.side.prior) ** 2))

    @property
    def dual(self) -> float:
        """The dual value at the multipliers held: a lower bound of the pool's optimum."""
        w = self.side.clip(self.v)
        rise = float(self.column("a") @ self.column("b")) - float((self.v - self.side.prior) @ w)
        return self.half_norm(w) + rise - 0.5 * float(self.ridge @ self.total**2)

    def add(self, rows: Any, b: Floats, groups: Indices) -> None:
        """Take in planes, at most one per group and call, with multiplier 0."""
        from ._kernels import pool_squares

        self.segments.add(rows)
        begin, end = self.count, self.count + len(b)
        for name, array in self._columns.items():
            if end > len(array):
                self._columns[name] = np.concatenate([array, np.zeros(end, array.dtype)])
        for name, value in (
            ("b", b),
            ("a", 0.0),
            ("group", groups),
            ("idle", 0),
            ("quiet", False),
            ("following", self.head[groups]),
        ):
            self._columns[name][begin:end] = value
        pool_squares(self.segments.arrays, begin, end, self._scratch, self._columns["square"])
        self.head[groups] = np.arange(begin, end)
        self.count = end

    def improve(self, goal: float, rng: np.random.Generator, part: Indices | None = None) -> None:
        """Sweep over the groups until the pool's duality gap is near ``goal``; over a part, once."""
        if part is not None:
            self._ascend(part)
            return
        last = np.inf
        for _ in range(MOST_SWEEPS):
            left = self._ascend(rng.permutation(len(self.cap)), full=True)
            if left <= goal:
                break
            busy = np.flatnonzero(self._busy)
            if self._crawls(last, left, goal, len(busy)) and self._solve_active():
                last = np.inf
                continue
            last = left
            for _ in range(BUSY_SWEEPS):
                if self._ascend(rng.permutation(busy)) <= 0.8 * goal:
                    break
        self.restore()

    def _crawls(self, last: float, left: float, goal: float, busy: int) -> bool:
        """Whether the sweeps still to come, at the pace of the last, would cost more than an exact solve."""
        if self.side.bounded or not np.isfinite(last):
            return False
        active = int(np.count_nonzero(self.column("a")))
        rounds = MOST_SWEEPS if left >= last else np.log(max(goal, 1e-300) / left) / np.log(left / last)
        per_plane = self.segments.entries / max(self.count, 1)
        sweeps = BUSY_SWEEPS * (2.0 * active * per_plane + 100.0 * busy)
        return active <= LARGEST_INTERIOR and rounds * sweeps > 0.3 * active**3

    def _solve_active(self) -> bool:
        """Solve exactly for the planes that carry weight or want some, where they are few enough.

        Sweeps crawl where planes are many and features few: 100 examples with 20 features at C = 1000
        took 11 s to a gap of 1e-6, and take 0.4 s with this.
        """
        w = self.side.clip(self.v)
        vectors = self.segments.tocsr()
        a, b, group = self.column("a"), self.column("b"), self.column("group")
        want = b - vectors @ w - self.ridge[group] * self.total[group]
        active = np.flatnonzero((a > 0.0) | (want > -1e-3 * np.abs(b)))
        if len(active) > LARGEST_INTERIOR:
            return False
        V, of = vectors[active], group[active]
        H = (V @ V.T).toarray() + (of[:, None] == of[None, :]) * self.ridge[of][:, None]
        found = solve_dual(H, b[active] - V @ self.side.prior, Groups(of, self.cap), a[active])
        self._columns["a"][active] = found
        self.restore()
        return True

    def _ascend(self, groups: Indices, full: bool = False) -> float:
        """One step in each of the groups; an estimate of the pool's duality gap."""
        from ._kernels import pool_ascend

        x, side = self._columns, self.side
        return float(
            pool_ascend(
                *(self.segments.arrays, x["b"], x["square"], self.head, x["following"], x["a"]),
                *(x["quiet"], self.total, self.cap, self.ridge, self.v, side.low, side.high, groups),
                *(self._busy, self._scratch, full),
            )
        )

    def slacks(self, groups: Indices) -> Floats:
        """The slack that the planes of each group need at w."""
        from ._kernels import pool_slacks

        x, side = self._columns, self.side
        return np.asarray(
            pool_slacks(
                *(self.segments.arrays, x["b"], self.head, x["following"]),
                *(self.v, side.low, side.high, groups),
            )
        )

    def restore(self) -> None:
        """v and the group totals anew from the multipliers: rounding does not pile up."""
        from ._kernels import pool_combine

        a = self.column("a")
        self.v = self.side.prior.copy()
        pool_combine(self.segments.arrays, a, self.v)
        self.total = np.asarray(np.bincount(self.column("group"), weights=a, minlength=len(self.cap)), float)

    def drop_idle(self, age: int) -> None:
        """Forget planes whose multiplier has been zero for more than ``age`` rounds (see WorkingSet)."""
        idle = np.where(self.column("a") > 0.0, 0, self.column("idle") + 1)
        self._columns["idle"][: self.count] = idle
        without_slack = np.isinf(self.cap) & (self.ridge == 0.0)
        stays = np.flatnonzero((idle <= age) | without_slack[self.column("group")])
        if len(stays) > 0.8 * self.count:
            return
        self.segments.keep(stays)
        for array in self._columns.values():
            array[: len(stays)] = array[stays]
        self.count = len(stays)
        self._relink()

    def dump(self) -> Planes:
        """The planes that have a slack, with their multipliers."""
        group = self.column("group")
        mine = np.flatnonzero(np.isfinite(self.cap[group]) | (self.ridge[group] > 0.0))
        b, a = self.column("b")[mine], self.column("a")[mine]
        return Planes(self.segments.tocsr()[mine], b, group[mine], a)

    def load(self, planes: Planes) -> None:
        """Take in planes of an earlier run."""
        before = self.count
        self.add(planes.vectors, planes.b, planes.group)
        self._relink()
        self._columns["a"][before : self.count] = planes.a
        self._columns["a"][: self.count] = feasible(self.column("a"), Groups(self.column("group"), self.cap))
        self.restore()

    def fits(self, other: Pool) -> bool:
        """Whether `take_over` may be used: same sizes, and no rows without slack on either side."""
        plain = not len(self.side.least) and not len(other.side.least)
        sizes = (len(self.cap), len(self.v)) == (len(other.cap), len(other.v))
        return plain and sizes and self.count == 0

    def take_over(self, other: Pool) -> None:
        """Take in the planes of an earlier run of the same problem, without copies of its data.

        The multipliers are scaled together to the best point of their ray: from one C to the next,
        weights at the cap want to grow with it.
        """
        self.segments = other.segments.copy()
        self._columns = {name: array.copy() for name, array in other._columns.items()}
        self._columns["idle"][:] = 0
        self.count = other.count
        self._relink()
        a = feasible(self.column("a"), Groups(self.column("group"), self.cap))
        self._columns["a"][: self.count] = a
        self.restore()
        held = self.total > 0.0
        square = float(self.v @ self.v) + float(self.ridge @ self.total**2)
        if held.any() and square > 0.0 and not self.side.prior.any() and not self.side.bounded:
            room = float(np.min(self.cap[held] / self.total[held]))
            self._columns["a"][: self.count] *= min(max(float(a @ self.column("b")) / square, 0.0), room)
            self.restore()

    def _relink(self) -> None:
        group = self.column("group")
        order = np.argsort(group, kind="stable")
        before = np.concatenate([[-1], order[:-1]])
        before[np.diff(group[order], prepend=-1) != 0] = -1
        self._columns["following"][order] = before
        self.head[:] = -1
        self.head[group] = np.arange(self.count)
