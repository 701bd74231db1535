"""The constraints that ``init_constraints`` gives, and the working set as the hooks that print see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from clustruct.core.typing import Floats
from clustruct.ssvm import Planes, SlackRule, VectorSum

from .errors import HookError
from .svmapi import Document, Sparse, row_words, sparse_parts


@dataclass(frozen=True)
class UserConstraint:
    """``<w, document> >= right``, less the slack of group ``group`` where there is one.

    Groups 0 to n - 1 are the slacks of the examples, the next are slacks of their own.
    """

    parts: Sequence[Sparse]
    right: float
    group: int | None
    cost: float = 1.0

    def as_answer(self, rule: SlackRule) -> tuple[float, float]:
        """Loss and divisor of the vector that make the engine's constraint this one.

        The engine writes ``<w, m c> >= s - xi``, s the sized loss, and m = s with slack scaling.
        """
        loss = self.right if rule.norm == 1 else self.right**2
        return loss, (self.right if rule.scaling == "slack" else 1.0)


def read_constraints(
    returned: Iterable[Any] | None, n_examples: int, rule: SlackRule
) -> list[UserConstraint]:
    """Check what ``init_constraints`` returned: (Document, number) pairs. Slack ids count from 1."""
    numbers: dict[int, int] = {}
    given = []
    if not isinstance(returned, Iterable | None):
        raise HookError(f"init_constraints must return a list of (Document, number) pairs, not {returned!r}")
    for k, pair in enumerate(returned or ()):
        try:
            document, right = pair
            parts, right = sparse_parts(document), float(right)
        except (TypeError, ValueError) as error:
            raise HookError(
                f"init_constraints: item {k} must be a (Document, number) pair: {error}"
            ) from None
        slackid = document.slackid if isinstance(document, Document) else None
        if slackid is None:
            given.append(UserConstraint(parts, right, None))
            continue
        if slackid < 1:
            raise HookError(f"init_constraints: item {k} has slackid {slackid}; they count from 1")
        group = slackid - 1
        if group >= n_examples:
            group = n_examples + numbers.setdefault(slackid, len(numbers))
        if right < 0 or (right == 0 and rule.scaling == "slack"):
            raise HookError(
                f"init_constraints: item {k} has a slack and the right side {right:g}; it must be "
                f"{'positive with slack scaling' if rule.scaling == 'slack' else 'at least 0'}. "
                "Leave slackid out for a constraint without slack."
            )
        given.append(UserConstraint(parts, right, group, document.costfactor))
    return given


def hard_conditions(given: list[UserConstraint], rows: sparse.csr_array) -> list[Bounds | LinearConstraint]:
    """Hard constraints as the engine takes them; ``rows`` is their CSR matrix.

    A row with one entry is a bound on one weight, which the engine handles at no cost.
    """
    if not given:
        return []
    rights = np.array([g.right for g in given])
    entries = np.diff(rows.indptr)
    if (entries == 0).any():
        raise HookError(f"init_constraints: item {int(np.argmin(entries))} has an empty vector")
    single = np.flatnonzero(entries == 1)
    conditions: list[Bounds | LinearConstraint] = []
    if len(single):
        low, high = np.full(rows.shape[1], -np.inf), np.full(rows.shape[1], np.inf)
        at, value = rows.indices[rows.indptr[single]], rows.data[rows.indptr[single]]
        bound, up = rights[single] / value, value > 0
        np.maximum.at(low, at[up], bound[up])
        np.minimum.at(high, at[~up], bound[~up])
        conditions.append(Bounds(low, high))
    rest = np.flatnonzero(entries > 1)
    if len(rest):
        conditions.append(LinearConstraint(rows[rest].toarray(), rights[rest], np.inf))
    return conditions


class WorkingConstraints(Sequence[Any]):
    """The constraints held: (Document, right side) pairs, made when first asked for.

    ``alpha`` has a multiplier for each. A hook that does not look costs nothing.
    """

    def __init__(self, working_set: Any) -> None:
        self._working_set = working_set
        self.alpha = Multipliers(self)

    @cached_property
    def planes(self) -> Planes:
        if self._working_set is None:
            return Planes(np.empty((0, 1)), np.empty(0), np.empty(0, np.intp), np.empty(0))
        return self._working_set.dump()

    def __len__(self) -> int:
        return len(self.planes.b)

    def __getitem__(self, which: SupportsIndex | slice) -> Any:
        if isinstance(which, slice):
            return [self[k] for k in range(*which.indices(len(self)))]
        vector = self.planes.vectors[which]
        slackid = int(self.planes.group[which]) + 1
        return Document(_sparses(vector), slackid=slackid), float(self.planes.b[which])


class Multipliers(Sequence[float]):
    """The multipliers of the constraints held."""

    def __init__(self, constraints: WorkingConstraints) -> None:
        self._constraints = constraints

    def __len__(self) -> int:
        return len(self._constraints)

    def __getitem__(self, which: SupportsIndex | slice) -> Any:
        return self._constraints.planes.a[which]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._constraints.planes.a, dtype)


def _sparses(vector: VectorSum | Floats) -> list[Sparse]:
    if not isinstance(vector, VectorSum):
        return [Sparse(vector)]
    parts = zip(vector.coefficients.tolist(), vector.part_ids.tolist(), strict=True)
    rows = vector.vectors
    return [Sparse(row_words(rows, k), factor=a, kernel_id=p) for k, (a, p) in enumerate(parts)]
