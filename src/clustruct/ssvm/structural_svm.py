"""The entrance of the engine: `fit`, its result, and what is certain about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.blas import limit_blas
from clustruct.core.callbacks import Callback, Iteration, Training, listener
from clustruct.core.typing import Floats
from clustruct.losses.slack_rule import Scaling, SlackRule

from .checkpoint import Checkpoint, CheckpointLike, identity_of
from .dual_qp import Condition, weight_constraints
from .kernelized import KernelFunction, KernelProblem
from .oracle_check import check_oracle
from .planes import PlaneSet
from .problem import Problem
from .result import BOUNDED, NOTES, Certificate, FitResult, NothingLearned, Planes
from .separation import Executor, batch_form, check_problem, executor_for
from .solvers import SOLVERS
from .solvers.base import Incumbent, Progress, Solver, SolverRun, Task, example_weights

Formulation: TypeAlias = str | Solver


def fit(
    problem: Problem,
    C: float = 1.0,
    *,
    epsilon: float = 1e-6,
    rtol: float = 1e-3,
    formulation: Formulation = "auto",
    scaling: Scaling = "margin",
    slack_norm: Literal[1, 2] = 1,
    sample_weight: ArrayLike | None = None,
    constraints: Condition | Sequence[Condition] | None = None,
    prior: ArrayLike | None = None,
    w0: ArrayLike | Planes | FitResult | None = None,
    kernel: KernelFunction | None = None,
    max_iter: int = 1000,
    time_limit: float = np.inf,
    cache_size: int | None = None,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    random_state: int | np.random.Generator = 0,
    callback: Callback | Callable[[Iteration], object] | None = None,
    checkpoint: CheckpointLike | None = None,
) -> FitResult:
    """Train a structural SVM by cutting planes (dissertation, Algorithms 1 and 2).

    Solves, for slacks xi_i needed by the most violated outputs of the n examples::

        min over w   1/2 |w - prior|^2 + C mean_i xi_i          (slack_norm=1)
                     1/2 |w - prior|^2 + C/2 mean_i xi_i^2      (slack_norm=2)

        margin scaling   xi_i >= D(y_i, y) + <w, Psi(x_i, y)> - <w, Psi(x_i, y_i)>          for all y
        slack scaling    xi_i >= D(y_i, y) (1 + <w, Psi(x_i, y)> - <w, Psi(x_i, y_i)>)      for all y

    with D the loss, or its square root where slack_norm=2.

    Parameters
    ----------
    problem : Problem
        What is to be learned: joint features, loss and separation oracle.
    C : float
        Weight of the mean slack.
    epsilon, rtol : float
        Training ends when no constraint that the oracle finds is violated by more than ``epsilon`` beyond
        the slack, or when the gap between primal and dual is at most ``rtol`` times the primal.
    formulation : "auto", "n_slack", "one_slack", "smoothed", or a Solver
        One slack per example, or one for their mean. Same optimum for slack_norm=1; n-slack asks the
        oracle less often and is the faster in most cases, one-slack holds fewer constraints. "smoothed"
        comes to the same optimum by L-BFGS on smoothed slacks; it needs a problem with
        a smoothed oracle (spectral relaxations have one), margin scaling and slack_norm=1. "auto" is what the
        problem prefers, n-slack where it does not say. Names are looked up in
        `clustruct.ssvm.solvers.SOLVERS`; an instance brings options of its own, ``NSlack(store="pool")``.
    scaling, slack_norm
        See above. There is no one-slack form with slack_norm=2.
    sample_weight : array of n numbers, optional
        An example of weight 2 counts as if it were there twice. The mean becomes a weighted mean.
    constraints : optional
        Conditions on w without slack, kept exactly: "nonnegative", a `scipy.optimize.Bounds`, a
        `scipy.optimize.LinearConstraint`, or a list of these.
    prior : vector, optional
        Regularise towards it instead of towards zero.
    w0 : vector, Planes or FitResult, optional
        Where to ask the oracle first. Planes are constraints known beforehand, and training begins at
        their solution. The result of an earlier fit of the same problem, at another C for example, brings
        its planes with it.
    kernel : Kernel or function of two tables of rows, optional
        ``problem.joint_feature`` then gives `VectorSum`, and the oracle is called with a `KernelModel`.
    max_iter, time_limit
        Rounds and seconds at most.
    cache_size : int, optional
        Answers kept per example for one-slack training. By default 10, and 0 for a vectorised problem,
        whose oracle costs less than the cache. (n-slack keeps answers as constraints.)
    n_jobs : int, optional
        Oracle calls in parallel, by joblib. The result does not depend on it.
    executor : Executor, optional
        Where oracle calls are made, instead of ``n_jobs``: see `clustruct.ssvm.separation`.
    random_state : int or Generator, default=0
        Seed, or a generator, of the order in which examples are asked.
    callback : Callback or function, optional
        A function is called with an `Iteration` after every round; training ends when it returns
        something true. See `clustruct.core.callbacks`.
    checkpoint : path, optional
        The state of the training, written every few seconds and when it ends without having converged
        (Ctrl-C, ``max_iter``, ``time_limit``). A file that is there is taken up, if it belongs to the
        same data, weights and settings (the two limits, ``n_jobs`` and ``w0`` aside); otherwise it is
        refused, and what differs is named. It is removed when the training has converged. See
        `Problem.identity` for problems of one's own.

    Returns
    -------
    FitResult
        Ctrl-C during training returns what was found so far, with ``stop_reason="interrupted"``.

    Examples
    --------
    >>> from clustruct import ssvm
    >>> from clustruct.learning.problems import MulticlassProblem
    >>> problem = MulticlassProblem([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["a", "b", "c"])
    >>> result = ssvm.fit(problem, C=100.0)
    >>> result.stop_reason, result.gap < 1e-3 * result.objective
    ('converged', True)
    """
    rule = SlackRule(scaling, slack_norm)
    check_problem(problem, rule, linear=kernel is None)
    if kernel is not None and not (constraints is None and prior is None and checkpoint is None):
        raise ValueError(
            "with a kernel there is no weight vector: constraints, prior and checkpoint do not apply"
        )
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, not {max_iter!r}")
    task = Task(
        problem=problem,
        C=float(C),
        rule=rule,
        weights=example_weights(sample_weight, problem.n_examples),
        conditions=weight_constraints(constraints, prior, problem.n_features if kernel is None else 1),
        epsilon=epsilon,
        rtol=rtol,
        rng=np.random.default_rng(random_state),
        kernel=kernel,
        cache_size=cache_size,
    )
    solver = _solver_for(formulation, task)
    if callback is not None:
        callback = listener(callback, Training(task.C, rtol))
    progress = Progress(task.C, epsilon, rtol, max_iter, time_limit, callback)
    batch = batch_form(problem) if kernel is None else KernelProblem(problem)
    planes = solver.planes(task)
    start = _start(w0, planes, task, solver)
    with limit_blas(), closing((executor or executor_for(n_jobs)).open(batch)) as session:
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, identity_of(task, solver, session), planes)
            start = planes.w if kept.connect(progress) else start
        best = solver.solve(SolverRun(task, session, planes, progress), start)
        if kept is not None:
            kept.close(progress)
    return _result(task, planes, best, progress)


def _solver_for(formulation: Formulation, task: Task) -> Solver:
    """The solver named. Refuses, before any work, what it cannot do."""
    problem = task.problem
    if formulation == "auto":
        solver = _solver_of_name(problem.preferred_formulation)
        return _solver_of_name("n_slack") if solver.missing(task) else solver
    solver = _solver_of_name(formulation) if isinstance(formulation, str) else formulation
    if missing := solver.missing(task):
        raise ValueError(f"formulation={solver.name!r} is not possible here: {missing}")
    return solver


def _solver_of_name(formulation: str) -> Solver:
    if formulation not in SOLVERS:
        *others, last = ("auto", *SOLVERS)
        names = f"{', '.join(map(repr, others))} or {last!r}"
        raise ValueError(f"formulation must be {names}, not {formulation!r}")
    return SOLVERS[formulation]()


def _start(
    w0: ArrayLike | Planes | FitResult | None, planes: PlaneSet[Any], task: Task, solver: Solver
) -> Any:
    """The first w; planes known beforehand are taken in."""
    conditions = task.conditions
    earlier = w0.working_set if isinstance(w0, FitResult) else w0 if isinstance(w0, Planes) else None
    known = earlier is not None and planes.warm_start_from(earlier, len(conditions.prior))
    if isinstance(w0, Planes) and not known:
        raise ValueError("w0: these planes belong to a problem of another size")
    if w0 is None or isinstance(w0, Planes) or (known and not solver.starts_at_w):
        return planes.w
    w = conditions.clip(np.array(w0.w if isinstance(w0, FitResult) else w0, float))
    if w.shape != conditions.prior.shape or not np.isfinite(w).all():
        raise ValueError(f"w0 must be {len(conditions.prior)} finite numbers")
    if (conditions.A @ w < conditions.lower - 1e-9).any():
        raise ValueError("w0 does not meet the constraints")
    return w


def _result(task: Task, planes: PlaneSet[Any], best: Incumbent[Any], progress: Progress) -> FitResult:
    if task.kernel is None:
        best.w.setflags(write=False)
    result = FitResult(
        w=best.w,
        objective=best.primal,
        dual=planes.dual,
        mean_slack=best.mean_slack,
        stop_reason=progress.stop_reason,
        certificate=_certificate(task, planes, best),
        history=tuple(progress.history),
        oracle_calls=progress.oracle_calls,
        qp_solves=progress.qp_solves,
        seconds=progress.seconds,
        oracle_seconds=progress.oracle_seconds,
        qp_seconds=progress.qp_seconds,
        working_set=planes if task.kernel is None else None,
    )
    if result.stop_reason in ("max_iter", "time_limit", "stalled"):
        warnings.warn(
            f"training stopped by {result.stop_reason} after {result.n_iter} rounds with a gap of "
            f"{result.gap:.3g} (objective {result.objective:.6g}); raise the limit or epsilon, "
            "or scale the features",
            ConvergenceWarning,
            stacklevel=3,
        )
    if result.converged and task.kernel is None and not best.w.any() and best.primal > 0.0:
        warnings.warn(
            "training converged at w = 0: nothing was learned, every answer scores "
            "alike. C may be too small, the features may not tell right answers from wrong ones, conditions "
            "on w may leave nothing else, or the oracle's relaxation may be too loose. Try a larger C, a "
            "smaller rtol, other features or another oracle",
            NothingLearned,
            stacklevel=3,
        )
    if result.converged:
        check_oracle(task, best.w, best.mean_slack)
    return result


def _certificate(task: Task, planes: PlaneSet[Any], best: Incumbent[Any]) -> Certificate:
    """What the oracle's kind, and its quality where it is known, allow."""
    problem, kind, half = task.problem, task.oracle_kind, planes.half_norm(best.w)
    truth = _mean_truth(task, best.w)
    rho = problem.oracle_rho
    if kind == "undergenerating" and truth is not None and rho is not None:
        slack = (best.mean_slack + truth) / rho - truth
        notes = (
            "The upper end is Theorem 9's, from the oracle's rho.",
            "The training loss bound is Theorem 10's, for a predictor with the same rho.",
        )
        loss = (1.0 - rho) * truth + slack
        return Certificate(kind, planes.dual, half + task.C * slack, loss, notes, slack, truth)
    # With quadratic slacks xi^2 bounds the loss, and the objective holds half its mean.
    bound = task.rule.norm * (best.primal - half) / task.C
    lower = planes.dual if kind in ("exact", "undergenerating") else None
    if kind in ("exact", "overgenerating"):  # all true outputs were searched
        return Certificate(kind, lower, best.primal, bound, NOTES[kind], bound, truth)
    bounds = _bounded_slack(task, best.w) if kind == "undergenerating" else None
    if bounds is not None:
        upper = half + task.cost(task.examples, bounds)
        mean = float(task.weights[task.examples] @ bounds**task.rule.norm)
        return Certificate(kind, lower, upper, mean, BOUNDED, mean, truth)
    return Certificate(kind, lower, None, None, NOTES[kind], None, truth)


def _bounded_slack(task: Task, w: Any) -> Floats | None:
    """What no output of each example needs more than, where the oracle knows of all of them."""
    bounds = [task.problem.violation_bound(int(i), w, task.rule) for i in task.examples]
    if any(bound is None for bound in bounds):
        return None
    return np.maximum(np.array(bounds, float), 0.0)


def _mean_truth(task: Task, w: Any) -> float | None:
    """The weighted mean of <w, Psi(x_i, y_i)>, where the rule is that of Theorems 9 and 10."""
    if task.kernel is not None or task.rule != SlackRule():
        return None
    scores = task.problem.truth_scores(task.examples, w)
    return None if scores is None else float(task.weights[task.examples] @ scores)
