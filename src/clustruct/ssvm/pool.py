"""A pool of planes grouped by example, for n-slack training with many examples."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.core.callbacks import SupportsDump
from clustruct.core.typing import Floats, Indices

from .dual_qp import LARGEST_INTERIOR, Groups, WeightConstraints, feasible, project, solve_dual
from .planes import PlaneSet, with_room
from .result import Planes
from .separation import PieceRows, Rows

# Full sweeps per call, and sweeps over the busy groups between two of them.
MOST_SWEEPS = 200
BUSY_SWEEPS = 15


class Segments:
    """Storage of plane vectors for the kernels. See `_kernels` for the format.

    Rows come as `PieceRows` over one array, as dense rows or as CSR.
    The first batch decides whether the data is sparse; later ones are turned to fit.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features, self.count, self._filled = n_features, 0, 0
        self._base: Floats | None = None
        self._data, self._indices = np.zeros(0), np.zeros(0, np.int32)
        self._sparse: bool | None = None
        self._first = np.zeros(1025, np.int64)
        self._parts: dict[str, NDArray[Any]] = {
            **{name: np.zeros(2048, np.int64) for name in ("start", "length", "offset")},
            "factor": np.zeros(2048),
        }

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the kernels take."""
        return (self._first, *self._parts.values(), self._data, self._indices)

    @property
    def entries(self) -> int:
        """Entries of all vectors together."""
        return int(self._parts["length"][: int(self._first[self.count])].sum())

    def add(self, rows: Any) -> None:
        """Take in one vector per row."""
        if not isinstance(rows, PieceRows):
            self._add_rows(rows)
        elif self.count and rows.data is not self._base:
            self._add_rows(rows.tocsr())
        else:
            if self._base is None:
                self._base, self._sparse = rows.data, bool(len(rows.indices))
                self._data, self._indices, self._filled = rows.data, rows.indices, len(rows.data)
            self._append(rows.count, rows.start, rows.length, rows.offset, rows.factor)

    def _add_rows(self, rows: Any) -> None:
        if self._sparse is None:
            self._sparse = sparse.issparse(rows)
        if self._sparse:
            rows = sparse.csr_array(rows)
            data, length = rows.data, np.diff(rows.indptr)
            self._put("_indices", rows.indices)
        else:
            rows = rows.toarray() if sparse.issparse(rows) else rows
            data, length = rows.reshape(-1), np.full(len(rows), rows.shape[1])
        start = self._filled + np.cumsum(length) - length
        self._put("_data", data)
        self._filled += len(data)
        zero = np.zeros(len(length))
        self._append(np.ones(len(length), int), start, length, zero, zero + 1.0)

    def _put(self, name: str, values: NDArray[Any]) -> None:
        end = self._filled + len(values)
        array = with_room(getattr(self, name), end)
        array[self._filled : end] = values
        setattr(self, name, array)

    def _append(self, pieces: NDArray[Any], *parts: NDArray[Any]) -> None:
        end = self.count + len(pieces)
        self._first = with_room(self._first, end + 1)
        begin = int(self._first[self.count])
        self._first[self.count + 1 : end + 1] = begin + np.cumsum(pieces)
        last = int(self._first[end])
        for (name, array), values in zip(self._parts.items(), parts, strict=True):
            self._parts[name] = with_room(array, last)
            self._parts[name][begin:last] = values
        self.count = end

    def keep(self, which: NDArray[np.intp]) -> None:
        """Hold on to these vectors only. Rows of a shared base cost nothing; others are moved together."""
        if self._base is None:
            rows = self.tocsr()[which]
            self._filled, self.count = 0, 0
            self._add_rows(rows)
            return
        pieces = np.diff(self._first[: self.count + 1])[which]
        within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        taken = np.repeat(self._first[which], pieces) + within
        parts = [array[taken] for array in self._parts.values()]
        self.count = 0
        self._append(pieces, *parts)

    def copy(self) -> Segments:
        """The same vectors, to be added to apart from these. The data of a shared base is not copied."""
        other = copy(self)
        other._first = self._first.copy()
        other._parts = {name: array.copy() for name, array in self._parts.items()}
        if self._base is None:
            other._data, other._indices = self._data.copy(), self._indices.copy()
        return other

    def tocsr(self) -> sparse.csr_array:
        """All vectors as a CSR array."""
        count = np.diff(self._first[: self.count + 1])
        start, length, offset, factor = (array[: count.sum()] for array in self._parts.values())
        pieces = (count, start, length, offset, factor)
        return PieceRows(self._data, self._indices, *pieces, self.n_features).tocsr()


class PooledPlanes(PlaneSet[Floats]):
    """Planes grouped by example, and ``v = prior + sum_j a_j c_j``, by block coordinate ascent.

    No Gram matrix: a visit to a group costs its planes' entries, so that a sweep is linear in the
    number of examples. The planes of a group are a linked list (``head``, ``following``), newest first.
    """

    conditions: WeightConstraints

    def __init__(self, cap: Floats, ridge: Floats, conditions: WeightConstraints) -> None:
        super().__init__(cap, ridge, conditions)
        self.segments = Segments(len(conditions.prior))
        self._columns: dict[str, NDArray[Any]] = {
            **{name: np.zeros(1024) for name in ("b", "square", "a")},
            **{name: np.zeros(1024, np.intp) for name in ("following", "group", "idle")},
            "quiet": np.zeros(1024, np.bool_),
        }
        self.head = np.full(len(self.cap), -1, np.intp)
        self.total = np.zeros(len(self.cap))
        self._busy = np.ones(len(self.cap), np.bool_)
        self._scratch = np.zeros(len(conditions.prior))
        self.count = 0
        self.v = conditions.prior.copy()
        if rows := len(conditions.lower):
            self.add(conditions.A, conditions.lower, self.n_groups + np.arange(rows))
            self.optimise(0.0, np.random.default_rng(0))

    def __len__(self) -> int:
        return self.count

    def column(self, name: str) -> NDArray[Any]:
        """One value per plane: b, a, group, idle, ..."""
        return self._columns[name][: self.count]

    @property
    def w(self) -> Floats:
        """The weights, within the conditions even before the pool's own optimum is reached."""
        return project(self.conditions, self.v.copy())

    def half_norm(self, w: Floats) -> float:
        return self.conditions.half_norm(w)

    @property
    def dual(self) -> float:
        w = self.conditions.clip(self.v)
        rise = float(self.column("a") @ self.column("b")) - float((self.v - self.conditions.prior) @ w)
        return self.half_norm(w) + rise - 0.5 * float(self.ridge @ self.total**2)

    def add(self, rows: Rows, b: Floats, groups: Indices) -> None:
        from ._kernels import pool_squares

        self.segments.add(rows)
        begin, end = self.count, self.count + len(b)
        known = {"b": b, "group": groups, "following": self.head[groups]}
        for name, array in self._columns.items():
            self._columns[name] = with_room(array, end)
            self._columns[name][begin:end] = known.get(name, 0)
        pool_squares(self.segments.arrays, begin, end, self._scratch, self._columns["square"])
        self.head[groups] = np.arange(begin, end)
        self.count = end

    def optimise(self, goal: float, rng: np.random.Generator, part: Indices | None = None) -> None:
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
        self._restore()

    def _crawls(self, last: float, left: float, goal: float, busy: int) -> bool:
        """Whether the sweeps still to come, at the pace of the last, would cost more than an exact solve."""
        if self.conditions.bounded_search or not np.isfinite(last):
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
        w = self.conditions.clip(self.v)
        vectors = self.segments.tocsr()
        a, b, group = self.column("a"), self.column("b"), self.column("group")
        want = b - vectors @ w - self.ridge[group] * self.total[group]
        active = np.flatnonzero((a > 0.0) | (want > -1e-3 * np.abs(b)))
        if len(active) > LARGEST_INTERIOR:
            return False
        V, of = vectors[active], group[active]
        H = (V @ V.T).toarray() + (of[:, None] == of[None, :]) * self.ridge[of][:, None]
        found = solve_dual(H, b[active] - V @ self.conditions.prior, Groups(of, self.cap), a[active])
        self._columns["a"][active] = found
        self._restore()
        return True

    def _ascend(self, groups: Indices, full: bool = False) -> float:
        """One step in each of the groups; an estimate of the pool's duality gap."""
        from ._kernels import pool_ascend

        x, within = self._columns, self.conditions
        planes = (self.segments.arrays, x["b"], x["square"], self.head, x["following"], x["a"], x["quiet"])
        weights = (self.total, self.cap, self.ridge, self.v, within.low, within.high)
        return float(pool_ascend(*planes, *weights, groups, self._busy, self._scratch, full))

    def slacks(self, groups: Indices) -> Floats:
        return self._slacks(self.v, groups)

    def slacks_at(self, w: Floats) -> Floats:
        return self._slacks(w, np.arange(len(self.cap)))

    def _slacks(self, w: Floats, groups: Indices) -> Floats:
        from ._kernels import pool_slacks

        x, within = self._columns, self.conditions
        planes = (self.segments.arrays, x["b"], self.head, x["following"])
        return np.asarray(pool_slacks(*planes, w, within.low, within.high, groups))

    def _restore(self) -> None:
        """v and the group totals anew from the multipliers: rounding does not pile up."""
        from ._kernels import pool_combine

        a = self.column("a")
        self.v = self.conditions.prior.copy()
        pool_combine(self.segments.arrays, a, self.v)
        self.total = np.asarray(np.bincount(self.column("group"), weights=a, minlength=len(self.cap)), float)

    def prune(self, age: int) -> None:
        idle = np.where(self.column("a") > 0.0, 0, self.column("idle") + 1)
        self._columns["idle"][: self.count] = idle
        stays = np.flatnonzero((idle <= age) | ~self.has_slack[self.column("group")])
        if len(stays) > 0.8 * self.count:
            return
        self.segments.keep(stays)
        for array in self._columns.values():
            array[: len(stays)] = array[stays]
        self.count = len(stays)
        self._relink()

    def dump(self) -> Planes:
        group = self.column("group")
        mine = np.flatnonzero(self.has_slack[group])
        b, a = self.column("b")[mine], self.column("a")[mine]
        return Planes(self.segments.tocsr()[mine], b, group[mine], a)

    def load(self, planes: Planes) -> None:
        before = self.count
        self.add(planes.vectors, planes.b, planes.group)
        self._relink()
        self._columns["a"][before : self.count] = planes.a
        self._columns["a"][: self.count] = feasible(self.column("a"), Groups(self.column("group"), self.cap))
        self._restore()

    def warm_start_from(self, earlier: SupportsDump | Planes, n_features: int) -> bool:
        """As `PlaneSet.warm_start_from`; from another pool without copies of its data."""
        if isinstance(earlier, PooledPlanes) and self.count == 0:
            rows_without_slack = len(self.conditions.lower) + len(earlier.conditions.lower)
            same_sizes = (len(self.cap), len(self.v)) == (len(earlier.cap), len(earlier.v))
            if same_sizes and not rows_without_slack and self.cap[earlier.column("group")].all():
                self._take_over(earlier)
                return True
        return super().warm_start_from(earlier, n_features)

    def _take_over(self, other: PooledPlanes) -> None:
        """The multipliers are scaled together to the best point of their ray: from one C to the next,
        weights at the cap want to grow with it.
        """
        self.segments = other.segments.copy()
        self._columns = {name: array.copy() for name, array in other._columns.items()}
        self._columns["idle"][:] = 0
        self.count = other.count
        self._relink()
        a = feasible(self.column("a"), Groups(self.column("group"), self.cap))
        self._columns["a"][: self.count] = a
        self._restore()
        held = self.total > 0.0
        square = float(self.v @ self.v) + float(self.ridge @ self.total**2)
        if (
            held.any()
            and square > 0.0
            and not self.conditions.prior.any()
            and not self.conditions.bounded_search
        ):
            room = float(np.min(self.cap[held] / self.total[held]))
            self._columns["a"][: self.count] *= min(max(float(a @ self.column("b")) / square, 0.0), room)
            self._restore()

    def _relink(self) -> None:
        group = self.column("group")
        order = np.argsort(group, kind="stable")
        before = np.concatenate([[-1], order[:-1]])
        before[np.diff(group[order], prepend=-1) != 0] = -1
        self._columns["following"][order] = before
        self.head[:] = -1
        self.head[group] = np.arange(self.count)
