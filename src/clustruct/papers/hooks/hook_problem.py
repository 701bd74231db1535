"""Hook modules as structured problems: the adapter between a module's functions and the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from clustruct.core.storage import digest
from clustruct.core.typing import Floats, Indices, Ints
from clustruct.ssvm import BatchProblem, Constraints, KernelModel, Planes, SlackRule, VectorSum
from clustruct.ssvm.planes import with_room

from .modules import HookError, Hooks, hook_errors
from .svmapi import Model, Sparm, Sparse, StructModel, sparse_parts

Parts = Sequence[Sparse]
# Up to this length support vectors are held dense: products of short rows are faster so.
DENSE_LENGTH = 2000
# Answers held per example before all are forgotten.
MOST_HELD = 100
# Outputs of these kinds cannot be changed after they were returned, so they may be compared later.
PLAIN_TYPES = {int, float, str, bool, bytes, np.int64, np.int32, np.float64, np.bool_, np.str_}


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


class HookProblem(BatchProblem):
    """A hook module as a batch problem for linear models.

    Psi(x, y), the loss and the oracle are the module's. Before each batch of oracle calls ``sm.w`` and
    ``sm.svm_model`` are set to the w in question. Vectors with another kernel_id are orthogonal, so
    each kernel_id has a block of w of its own; which there are is read off the true outputs.

    Psi and the loss are asked for once per answer: they must depend on the example and the output alone.

    Constraints given with a slack of their own are answers of extra examples, which the module never
    sees; those that share an example's slack compete with the oracle's answer for it.
    """

    _losses: Floats
    _known: dict[tuple[int, Any], int]

    def __init__(
        self,
        hooks: Hooks,
        sample: Sequence[Any],
        sm: StructModel,
        sparm: Sparm,
        given: Sequence[UserConstraint] = (),
    ) -> None:
        self.hooks, self.sample, self.sm, self.sparm = hooks, sample, sm, sparm
        self.oracle_kind = getattr(hooks.module, "oracle_kind", "undergenerating")
        self.n_own = len(sample)
        truths = [self.psi(i, y) for i, (_, y) in enumerate(sample)]
        self._check_truths()
        self.given = [g for g in given if g.group is not None]
        self.n_examples = max([self.n_own, *((g.group or 0) + 1 for g in self.given)])
        self._given_of: dict[int, list[int]] = {}
        for k, g in enumerate(self.given):
            self._given_of.setdefault(g.group or 0, []).append(k)
        self._prepare(truths)

    def _prepare(self, truths: list[Parts]) -> None:
        ids = {s.kernel_id for parts in truths for s in parts}
        self.kernel_ids = tuple(sorted(ids)) or (0,)
        self._offset = {k: j * self.sm.size_psi for j, k in enumerate(self.kernel_ids)}
        self.n_features = len(self.kernel_ids) * self.sm.size_psi
        extra: list[Parts] = [()] * (self.n_examples - self.n_own)
        self._truths = self.rows(truths + extra)
        self._given_rows = self.rows([g.parts for g in self.given])
        self._forget()

    def identity(self) -> dict[str, str]:
        """Which problem this is: the module's source stands for its loss and its search."""
        given = [[g.right, g.group, g.cost] for g in self.given]
        return {
            "module": digest(self.hooks.source),
            "examples": digest(self._truths),
            "parameters": digest(
                [getattr(self.sparm, f.name) for f in fields(Sparm) if f.name != "verbosity"]
            ),
            "init_constraints": digest(given, self._given_rows),
        }

    def supports(self, rule: SlackRule) -> bool:
        """Every rule: which it is stands in ``sparm``."""
        return True

    def _check_truths(self) -> None:
        for i, (_, y) in enumerate(self.sample):
            loss = self.hooks.loss_of(i, y, y, self.sparm)
            if loss != 0.0:
                raise HookError(f"example {i}: loss(y, y, sparm) must be 0, not {loss}")

    def psi(self, i: int, y: object) -> Parts:
        """The parts of Psi(x_i, y), as the module gives them."""
        value = self.hooks.psi(self.sample[i][0], y, self.sm, self.sparm)
        try:
            return sparse_parts(value)
        except (TypeError, ValueError) as error:
            raise HookError(f"psi(x, y, sm, sparm) of example {i}: {error}") from None

    def rows(self, vectors: Iterable[Parts]) -> sparse.csr_array:
        """One CSR row per vector."""
        held: list[Sparse] = []
        counts = [0]
        for parts in vectors:
            held.extend(parts)
            counts.append(len(held))
        values, where, starts = _end_to_end(held, self.sm.size_psi)
        lengths = np.diff(starts)
        values *= np.repeat(np.array([s.factor for s in held], float), lengths)
        try:
            where += np.repeat(np.array([self._offset[s.kernel_id] for s in held], np.int64), lengths)
        except KeyError as missing:
            raise HookError(
                f"psi gives kernel_id {missing}, which no true output has; a linear model (-t 0) has one "
                "block of weights for each. The same kernel in the dual, -t 1 -d 1 -r 0, has no such limit."
            ) from None
        pointers, shape = starts[counts], (len(counts) - 1, self.n_features)
        # The same index type everywhere: the differences of rows are then made without conversions.
        return sparse.csr_array((values, where.astype(np.int32), pointers.astype(np.int32)), shape=shape)

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> Constraints:
        self.sm.svm_model = Model(self.sm.svm_model.kernel_parm, w, self.kernel_ids)
        losses, places = self._answers(indices, rule)
        differences = self._held.take(places)
        if self.given:
            losses, differences = self._compete(indices, w, rule, losses, differences)
        return Constraints(losses, differences)

    def _answers(self, indices: Indices, rule: SlackRule) -> tuple[Floats, Indices]:
        """Losses, and the places of the psi differences among the rows held."""
        if self._held.count > MOST_HELD * self.n_examples:
            self._forget()
        hook, oracle = self.hooks.oracle(rule.scaling)
        sm, sparm, sample, known, n_own = self.sm, self.sparm, self.sample, self._known, self.n_own
        places: list[int] = []
        new: list[tuple[int, int, Any]] = []
        with hook_errors(hook, oracle):
            for i in indices.tolist():
                ybar = oracle(*sample[i], sm, sparm) if i < n_own else None
                place = (
                    known.get((i, ybar)) if type(ybar) in PLAIN_TYPES or is_hashable_output(ybar) else None
                )
                if place is None and i < n_own:
                    new.append((len(places), i, ybar))
                places.append(place or 0)
        if new:
            self._ask(new, places)
        return self._losses[places], np.array(places)

    def _ask(self, new: list[tuple[int, int, Any]], places: list[int]) -> None:
        """Loss and Psi of answers not seen before; they are held from now on."""
        losses = [self.hooks.loss_of(i, self.sample[i][1], ybar, self.sparm) for _, i, ybar in new]
        found = self.rows(self.psi(i, ybar) for _, i, ybar in new)
        first = self._held.append(sparse.csr_array(self._truths[[i for _, i, _ in new]] - found))
        self._losses = np.concatenate([self._losses, losses])
        for k, (position, i, ybar) in enumerate(new, first):
            places[position] = k
            if is_hashable_output(ybar):
                self._known[i, ybar] = k

    def _forget(self) -> None:
        """Hold nothing but the truths, whose difference and loss are zero."""
        self._held = RowStore(self.n_features)
        self._losses = np.zeros(1)
        self._known = {(i, y): 0 for i, (_, y) in enumerate(self.sample) if is_hashable_output(y)}

    def _compete(
        self, indices: Indices, w: Floats, rule: SlackRule, losses: Floats, differences: sparse.csr_array
    ) -> tuple[Floats, sparse.csr_array]:
        """Put a given constraint in the place of an answer that is less violated."""
        needs = rule.violation(losses, -(differences @ w))
        short = np.array([g.right for g in self.given]) - self._given_rows @ w
        order, taken, shares = np.arange(len(indices)), list[int](), list[float]()
        for k, i in enumerate(indices.tolist()):
            j = max(self._given_of.get(i, ()), key=lambda j: short[j], default=None)
            if j is not None and short[j] > needs[k]:
                losses[k], divisor = self.given[j].as_answer(rule)
                order[k] = len(indices) + len(taken)
                taken.append(j)
                shares.append(1.0 / divisor)
        if not taken:
            return losses, differences
        rows = sparse.diags_array(shares) @ self._given_rows[taken]
        return losses, sparse.vstack([differences, rows], format="csr")[order]

    @property
    def given_planes(self) -> Planes | None:
        """The given constraints that have a slack: the training begins with them all.

        Found one at a time, hundreds of them would take hundreds of rounds.
        """
        if not self.given:
            return None
        rights = np.array([g.right for g in self.given], float)
        groups = np.array([g.group for g in self.given], np.intp)
        return Planes(self._given_rows, rights, groups, np.zeros(len(rights)))


class KernelHookProblem(HookProblem):
    """A hook module as a one-by-one problem in the dual: Psi as a `VectorSum`, w as support vectors.

    A kernel_id is a part, a factor a coefficient.
    """

    def _prepare(self, truths: list[Parts]) -> None:
        self.n_features, self.kernel_ids = 1, (0,)
        self._model: KernelModel | None = None

    def truth(self, i: int) -> Any:
        return self.sample[i][1] if i < self.n_own else None

    def loss(self, i: int, y: object) -> float:
        if isinstance(y, _TakenConstraint):
            return y.loss
        return self.hooks.loss_of(i, self.truth(i), y, self.sparm) if i < self.n_own else 0.0

    def joint_feature(self, i: int, y: object) -> VectorSum:
        if isinstance(y, _TakenConstraint):
            mine = self.joint_feature(i, self.truth(i))
            return mine - self._sum(y.given.parts) * (1.0 / y.divisor)
        return self._sum(self.psi(i, y) if i < self.n_own else ())

    def separate(self, i: int, w: KernelModel, rule: SlackRule) -> object:
        if w is not self._model:
            self._model = w
            self.sm.svm_model = Model(self.sm.svm_model.kernel_parm, support=w.support)
        best: object = None
        if i < self.n_own:
            hook, oracle = self.hooks.oracle(rule.scaling)
            with hook_errors(hook, oracle):
                best = oracle(*self.sample[i], self.sm, self.sparm)
        for j in self._given_of.get(i, []):
            best = self._better(i, best, self.given[j], w, rule)
        return best

    def _better(self, i: int, best: object, given: UserConstraint, w: KernelModel, rule: SlackRule) -> object:
        taken = _TakenConstraint(given, *given.as_answer(rule))
        truth = self.joint_feature(i, self.truth(i))
        now, then = (
            rule.violation(self.loss(i, y), -w.score(truth - self.joint_feature(i, y))) for y in (taken, best)
        )
        return taken if now > then else best

    def _sum(self, parts: Parts) -> VectorSum:
        size = self.sm.size_psi
        values, where, starts = _end_to_end(parts, size)
        if size <= DENSE_LENGTH:
            vectors: Any = np.zeros((len(parts), size))
            vectors[np.repeat(np.arange(len(parts)), np.diff(starts)), where] = values
        else:
            vectors = sparse.csr_array((values, where, starts), shape=(len(parts), size))
        coefficients = np.array([s.factor for s in parts], float)
        return VectorSum(coefficients, vectors, np.array([s.kernel_id for s in parts], np.intp))


def _end_to_end(parts: Parts, size: int) -> tuple[Floats, Ints, Ints]:
    """The values and the indices of all parts, and where each part begins."""
    values = np.concatenate([np.empty(0), *(s.values for s in parts)])
    where = np.concatenate([np.empty(0, np.int64), *(s.indices for s in parts)])
    if len(where) and where.max() >= size:
        raise HookError(
            f"a vector has the index {where.max()}, but init_model set sm.size_psi = {size}; "
            "indices count from 0"
        )
    return values, where, np.cumsum([0, *(len(s.indices) for s in parts)])


class _TakenConstraint(NamedTuple):
    """A given constraint in the place of an output."""

    given: UserConstraint
    loss: float
    divisor: float


def is_hashable_output(output: object) -> bool:
    """Whether an output is a plain value, or a tuple of plain values.

    >>> is_hashable_output(3), is_hashable_output(("N", "V")), is_hashable_output([3])
    (True, True, False)
    """
    return type(output) in PLAIN_TYPES or (
        type(output) is tuple and all(type(part) in PLAIN_TYPES for part in output)
    )


class RowStore:
    """CSR rows in arrays that double as they grow. Row 0 is empty: the truth's difference."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.data, self.indices = np.empty(1024), np.empty(1024, np.int32)
        self.pointers = np.zeros(1024, np.int64)
        self.count = 1

    def append(self, rows: sparse.csr_array) -> int:
        """Take in rows; the number of the first."""
        first, held = self.count, int(self.pointers[self.count])
        end, entries = self.count + rows.shape[0], held + len(rows.data)
        self.data = with_room(self.data, entries)
        self.indices = with_room(self.indices, entries)
        self.pointers = with_room(self.pointers, end + 1)
        self.data[held:entries] = rows.data
        self.indices[held:entries] = rows.indices
        self.pointers[first : end + 1] = held + rows.indptr
        self.count = end
        return first

    def take(self, which: Indices) -> sparse.csr_array:
        """Some of the rows, in the order asked for."""
        starts = self.pointers[which]
        lengths = self.pointers[which + 1] - starts
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(pointers[-1]) + np.repeat(starts - pointers[:-1], lengths)
        shape = (len(which), self.n_columns)
        return sparse.csr_array((self.data[at], self.indices[at], pointers.astype(np.int32)), shape=shape)
