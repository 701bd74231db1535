"""Training a hook module, and predicting with it: its hooks at the right moments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, SupportsIndex, TextIO, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from clustruct import ssvm
from clustruct.core.typing import Floats
from clustruct.ssvm import FitResult, Iteration, Planes, SlackRule, VectorSum

from .hook_problem import HookProblem, KernelHookProblem, UserConstraint
from .modules import ORACLES, HookError, Hooks
from .svmapi import Document, KernelParm, Model, Sparm, Sparse, StructModel, row_words, sparse_parts


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


# SVM^struct has no limit; rounds that gain nothing end the training long before this.
MOST_ROUNDS = 100_000


# How the training is put together, how losses count, and how many answers of each example are kept.
Settings: TypeAlias = tuple[Literal["n_slack", "one_slack"], SlackRule, int]


def settings(sparm: Sparm) -> Settings:
    """The parameters in the engine's terms, checked, whoever set them: the command line or the module.

    >>> settings(Sparm(alg_type=3, loss_type=1))
    ('one_slack', SlackRule(scaling='slack', norm=1), 0)
    """
    _within("-c", sparm.c, sparm.c > 0 and np.isfinite(sparm.c), "a positive number")
    _within("-e", sparm.epsilon, sparm.epsilon > 0, "a positive number")
    _within("-o", sparm.loss_type, sparm.loss_type in (1, 2), "1 (slack scaling) or 2 (margin scaling)")
    _within("-p", sparm.slack_norm, sparm.slack_norm in (1, 2), "1 or 2")
    _within("-w", sparm.alg_type, sparm.alg_type in range(5), "0, 1, 2, 3 or 4")
    _within("-f", sparm.ccache_size, sparm.ccache_size >= 0, "at least 0")
    if sparm.slack_norm == 2 and sparm.alg_type > 1:
        raise HookError(
            f"-p 2 goes with -w 0 or -w 1 only, not with -w {sparm.alg_type}: one slack for all examples has "
            "no form with squared slacks (the square of a mean is not the mean of the squares)"
        )
    rule = SlackRule("slack" if sparm.loss_type == 1 else "margin", 1 if sparm.slack_norm == 1 else 2)
    formulation: Any = "n_slack" if sparm.alg_type <= 1 else "one_slack"
    return formulation, rule, sparm.ccache_size if sparm.alg_type == 4 else 0


def _within(option: str, value: object, holds: bool, wanted: str) -> None:
    if not holds:
        raise HookError(f"{option} must be {wanted}, not {value!r}")


def read_sample(hooks: Hooks, filename: str, sparm: Sparm) -> list[Any]:
    """The examples of a file: a list of (x, y) pairs, at least one."""
    try:
        returned = hooks.read_examples(filename, sparm)
    except HookError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.filename == filename:
            raise HookError(f"{filename} cannot be read: {error.__cause__.strerror}") from error
        raise
    try:
        sample = returned if isinstance(returned, list) else list(returned)
    except TypeError:
        raise HookError(
            f"read_examples must return a sequence of (x, y) pairs, not {type(returned).__name__}"
        ) from None
    for i, pair in enumerate(sample):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise HookError(f"read_examples: item {i} must be an (x, y) pair, not {pair!r}"[:200])
    if not sample:
        raise HookError(f"read_examples found no examples in {filename}")
    return sample


def start_model(hooks: Hooks, sample: list[Any], sparm: Sparm, kernel_parm: KernelParm) -> StructModel:
    """A model as ``init_model`` sets it up, before training."""
    unknown = next((i for i, (_, y) in enumerate(sample) if y is None), None)
    if unknown is not None:
        raise HookError(f"example {unknown} has no label (y is None): training needs all labels")
    sm = StructModel(kernel_parm)
    hooks.init_model(sample, sm, sparm)
    size = sm.size_psi
    if not isinstance(size, int | np.integer) or size < 1:
        raise HookError(f"init_model must set sm.size_psi to the length of Psi, at least 1; it is {size!r}")
    sm.size_psi = int(size)
    return sm


def train(
    hooks: Hooks,
    sample: list[Any],
    sm: StructModel,
    sparm: Sparm,
    report: Callable[[Iteration], object] | None = None,
) -> tuple[FitResult, WorkingConstraints]:
    """Learn ``sm.w`` (or the support vectors) by the module's hooks; the working set at the end as well.

    Solves ``min 1/2 |w|^2 + C mean_i xi_i`` (or half the mean of squares) as `clustruct.ssvm.fit` does,
    to the tolerance ``sparm.epsilon``. ``print_iteration_stats`` is called after every round.
    """
    formulation, rule, cache_size = settings(sparm)
    _check_oracle(hooks, rule)
    given = read_constraints(hooks.init_constraints(sample, sm, sparm), len(sample), rule)
    linear = sm.svm_model.kernel_parm.kernel_type == 0
    given = _adapt(given, formulation, linear)
    make = HookProblem if linear else KernelHookProblem
    problem = make(hooks, sample, sm, sparm, given)
    weights = _weights(problem)
    working_set: Any = None

    def after_round(entry: Iteration) -> None:
        nonlocal working_set
        working_set = entry.working_set
        if "print_iteration_stats" in hooks.own:
            held = WorkingConstraints(working_set)
            # The violation of the joint constraint is the gap over C. No round works from the cache alone.
            hooks.print_iteration_stats(entry.gap / sparm.c, False, sample, sm, held, held.alpha, sparm)
        if report is not None:
            report(entry)

    extra: dict[str, Any] = {"kernel": None if linear else sm.svm_model.kernel_parm.engine_kernel()}
    if linear:
        hard = [g for g in given if g.group is None]
        extra["constraints"] = hard_conditions(hard, problem.rows(g.parts for g in hard)) or None
        extra["w0"] = problem.given_planes
    result = ssvm.fit(
        problem,
        sparm.c * float(weights.sum()) / len(sample),
        epsilon=sparm.epsilon,
        rtol=0.0,
        formulation=formulation,
        scaling=rule.scaling,
        slack_norm=rule.norm,
        sample_weight=weights,
        cache_size=cache_size,
        max_iter=MOST_ROUNDS,
        callback=after_round,
        **extra,
    )
    learned = (result.w, problem.kernel_ids) if linear else (None, (0,), result.w.support)
    sm.svm_model = Model(sm.svm_model.kernel_parm, *learned)
    return result, WorkingConstraints(working_set)


def _check_oracle(hooks: Hooks, rule: SlackRule) -> None:
    """Say so where the module has a search, but not for this scaling."""
    written = sorted(hooks.own.intersection(ORACLES))
    if written and hooks.oracle(rule.scaling)[0] == "classify_example":
        warnings.warn(
            f"{hooks.name} has {written[0]} but no search for {rule.scaling} scaling; "
            "classify_example is used, which leaves the loss out",
            stacklevel=3,
        )


def _adapt(given: list[UserConstraint], formulation: str, linear: bool) -> list[UserConstraint]:
    """The given constraints in the form that the formulation and the kernel allow."""
    slacked = [g for g in given if g.group is not None]
    if slacked and formulation == "one_slack":
        warnings.warn(
            f"init_constraints gives {len(slacked)} constraints with a slackid; one-slack training "
            "(-w 2, 3, 4) has no slack for them and keeps them exactly. Leave slackid out to say so, "
            "or use -w 0 or 1.",
            stacklevel=3,
        )
        given = [replace(g, group=None) for g in given]
    if not linear and any(g.group is None for g in given):
        raise HookError("init_constraints: constraints without slack need a linear model (-t 0)")
    return given


def _weights(problem: HookProblem) -> Floats:
    """1 for each example, and the cost factor for each slack that only given constraints have."""
    weights = (np.arange(problem.n_examples) < problem.n_own).astype(float)
    for g in problem.given:
        if g.group is not None and g.group >= problem.n_own:
            weights[g.group] = max(weights[g.group], g.cost)
    return weights


@dataclass(frozen=True)
class HookScores:
    """How the predictions compare with the labels that are known (y other than None)."""

    examples: int
    known: int
    total_loss: float
    correct: int

    @property
    def mean_loss(self) -> float:
        return self.total_loss / self.known


def predict(
    hooks: Hooks, sample: list[Any], sm: StructModel, sparm: Sparm, predictions: TextIO
) -> HookScores:
    """Classify every example, write its label, and gather the module's statistics.

    For each example in turn: ``classify_example``, ``write_label``, ``loss`` where the label is known,
    ``eval_prediction``; at the end ``print_testing_stats``.
    """
    known, total, correct, teststats = 0, 0.0, 0, None
    for i, (x, y) in enumerate(sample):
        ypred = hooks.classify_example(x, sm, sparm)
        hooks.write_label(predictions, ypred)
        if y is not None:
            value = hooks.loss_of(i, y, ypred, sparm)
            known, total, correct = known + 1, total + value, correct + (value == 0.0)
        teststats = hooks.eval_prediction(i, (x, y), ypred, sm, sparm, teststats)
    hooks.print_testing_stats(sample, sm, sparm, teststats)
    return HookScores(len(sample), known, total, correct)
