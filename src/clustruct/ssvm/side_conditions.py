"""What is asked of w besides the margins: a prior, bounds, linear inequalities. No slack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog

from clustruct._typing import Floats


@dataclass(frozen=True)
class SideConditions:
    """Regularise towards ``prior``; keep ``low <= w <= high`` and ``rows @ w >= least`` exactly.

    ``low`` and ``high`` are empty where w is free.
    """

    prior: Floats
    low: Floats
    high: Floats
    rows: Floats
    least: Floats

    @property
    def bounded(self) -> bool:
        return self.low.size > 0

    def clip(self, v: Floats) -> Floats:
        """The point of the box nearest to v: exactly within the bounds."""
        return np.clip(v, self.low, self.high) if self.bounded else v


def side_conditions(constraints: Any, prior: Any, n_features: int) -> SideConditions:
    """Read the ``constraints`` argument of `fit`, and refuse what no w can meet.

    It may be "nonnegative", a `scipy.optimize.Bounds`, a `scipy.optimize.LinearConstraint`, or a list
    of these.
    """
    prior = _vector(prior, 0.0, n_features, "prior")
    low, high = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    rows: list[Floats] = [np.empty((0, n_features))]
    least: list[Floats] = [np.empty(0)]
    for given in listed(constraints):
        if isinstance(given, str) and given == "nonnegative":
            low = np.maximum(low, 0.0)
        elif isinstance(given, Bounds):
            low = np.maximum(low, _vector(given.lb, 0.0, n_features, "Bounds.lb"))
            high = np.minimum(high, _vector(given.ub, 0.0, n_features, "Bounds.ub"))
        elif isinstance(given, LinearConstraint):
            for A, b in _one_sided(given, n_features):
                rows.append(A)
                least.append(b)
        else:
            raise TypeError(
                "constraints must be 'nonnegative', scipy.optimize.Bounds, "
                f"scipy.optimize.LinearConstraint or a list of these, not {given!r}"
            )
    if np.isinf(low).all() and np.isinf(high).all():
        low, high = np.empty(0), np.empty(0)
    found = SideConditions(prior, low, high, np.concatenate(rows), np.concatenate(least))
    _check_feasible(found)
    return found


def listed(constraints: Any) -> Iterable[Any]:
    """The conditions one by one."""
    if constraints is None:
        return []
    return constraints if isinstance(constraints, list | tuple) else [constraints]


def _vector(value: Any, default: float, n: int, name: str) -> Floats:
    v = np.full(n, default) if value is None else np.array(np.broadcast_to(np.asarray(value, float), (n,)))
    if np.isnan(v).any():
        raise ValueError(f"{name} has NaN entries")
    return v


def _one_sided(given: LinearConstraint, n_features: int) -> Iterable[tuple[Floats, Floats]]:
    A = given.A.toarray() if hasattr(given.A, "toarray") else np.atleast_2d(np.asarray(given.A, float))
    if A.shape[1] != n_features:
        raise ValueError(f"LinearConstraint has {A.shape[1]} columns, the problem has {n_features} features")
    if not np.isfinite(A).all():
        raise ValueError("LinearConstraint.A has NaN or infinite entries")
    lb, ub = (_vector(side, 0.0, len(A), "LinearConstraint") for side in (given.lb, given.ub))
    yield A[lb > -np.inf], lb[lb > -np.inf]
    yield -A[ub < np.inf], -ub[ub < np.inf]


def _check_feasible(side: SideConditions) -> None:
    if side.bounded and (side.low > side.high).any():
        i = int(np.argmax(side.low > side.high))
        raise ValueError(f"feature {i}: the lower bound {side.low[i]} is above the upper {side.high[i]}")
    if not len(side.least):
        return
    n = len(side.prior)
    bounds = np.stack([side.low, side.high], 1) if side.bounded else (None, None)
    # Slightly tightened would be wrong, so this is the exact set; HiGHS decides to 1e-7.
    answer = linprog(np.zeros(n), A_ub=-side.rows, b_ub=-side.least, bounds=bounds, method="highs")
    if answer.status == 2:
        raise ValueError("no w meets the linear constraints given")
