"""Conditions on w besides the margins: a prior, bounds, linear inequalities. They have no slack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, linprog

from clustruct._typing import Floats

Condition: TypeAlias = "str | Bounds | LinearConstraint"


@dataclass(frozen=True)
class WeightConstraints:
    """Regularise towards ``prior``; keep ``low <= w <= high`` and ``A @ w >= lower`` exactly.

    ``low`` and ``high`` are empty where w is free.
    """

    prior: Floats
    low: Floats
    high: Floats
    A: Floats
    lower: Floats

    @property
    def bounded(self) -> bool:
        return self.low.size > 0

    def clip(self, v: Floats) -> Floats:
        """The point of the box nearest to v: exactly within the bounds."""
        return np.clip(v, self.low, self.high) if self.bounded else v


def weight_constraints(
    constraints: Condition | Sequence[Condition] | None, prior: ArrayLike | None, n_features: int
) -> WeightConstraints:
    """Read the ``constraints`` argument of `fit`, and refuse what no w can meet.

    It may be "nonnegative", a `scipy.optimize.Bounds`, a `scipy.optimize.LinearConstraint`, or a list
    of these.

    >>> weight_constraints("nonnegative", None, 2).clip(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    low, high = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    rows: list[Floats] = [np.empty((0, n_features))]
    lower: list[Floats] = [np.empty(0)]
    for given in _listed(constraints):
        if isinstance(given, str) and given == "nonnegative":
            low = np.maximum(low, 0.0)
        elif isinstance(given, Bounds):
            low = np.maximum(low, _vector(given.lb, n_features, "Bounds.lb"))
            high = np.minimum(high, _vector(given.ub, n_features, "Bounds.ub"))
        elif isinstance(given, LinearConstraint):
            for A, b in _one_sided(given, n_features):
                rows.append(A)
                lower.append(b)
        else:
            raise TypeError(
                "constraints must be 'nonnegative', scipy.optimize.Bounds, "
                f"scipy.optimize.LinearConstraint or a list of these, not {given!r}"
            )
    if np.isinf(low).all() and np.isinf(high).all():
        low, high = np.empty(0), np.empty(0)
    towards = _vector(0.0 if prior is None else prior, n_features, "prior")
    found = WeightConstraints(towards, low, high, np.concatenate(rows), np.concatenate(lower))
    _check_feasible(found)
    return found


def _listed(constraints: Condition | Sequence[Condition] | None) -> Sequence[Condition]:
    if constraints is None:
        return []
    return constraints if isinstance(constraints, list | tuple) else [constraints]


def _vector(value: ArrayLike, n: int, name: str) -> Floats:
    v = np.array(np.broadcast_to(np.asarray(value, float), (n,)))
    if np.isnan(v).any():
        raise ValueError(f"{name} has NaN entries")
    return v


def _one_sided(given: LinearConstraint, n_features: int) -> Iterable[tuple[Floats, Floats]]:
    A = given.A.toarray() if hasattr(given.A, "toarray") else np.atleast_2d(np.asarray(given.A, float))
    if A.shape[1] != n_features:
        raise ValueError(f"LinearConstraint has {A.shape[1]} columns, the problem has {n_features} features")
    if not np.isfinite(A).all():
        raise ValueError("LinearConstraint.A has NaN or infinite entries")
    lb, ub = (_vector(side, len(A), "LinearConstraint") for side in (given.lb, given.ub))
    yield A[lb > -np.inf], lb[lb > -np.inf]
    yield -A[ub < np.inf], -ub[ub < np.inf]


def _check_feasible(conditions: WeightConstraints) -> None:
    low, high = conditions.low, conditions.high
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise ValueError(f"feature {i}: the lower bound {low[i]} is above the upper {high[i]}")
    if not len(conditions.lower):
        return
    n = len(conditions.prior)
    bounds = np.stack([low, high], 1) if conditions.bounded else (None, None)
    # Slightly tightened would be wrong, so this is the exact set; HiGHS decides to 1e-7.
    answer = linprog(np.zeros(n), A_ub=-conditions.A, b_ub=-conditions.lower, bounds=bounds, method="highs")
    if answer.status == 2:
        raise ValueError("no w meets the linear constraints given")
