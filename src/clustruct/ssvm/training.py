"""The front door of the engine."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint

from clustruct._typing import Floats
from clustruct.callbacks import Iteration
from clustruct.slack_rule import Scaling, SlackRule

from .checkpoint import Checkpoint, Saved
from .kernels import Kernel, KernelProblem, KernelSpace
from .n_slack import train_n_slack
from .one_slack import train_one_slack
from .pool import Pool
from .problem import BatchProblem, OneByOne, as_batch_problem
from .result import Certificate, FitResult, certify
from .run import Best, Run
from .separation import Separator
from .side_conditions import SideConditions, listed, side_conditions
from .smoothed import train_smoothed
from .working_set import LinearSpace, Space, WorkingSet

Formulation = Literal["auto", "n_slack", "one_slack", "smoothed"]
# With so few examples n-slack training keeps a Gram matrix and solves its QP exactly.
FEW_EXAMPLES = 64
KEPT_ANSWERS = 10


def fit(
    problem: Any,
    C: float = 1.0,
    *,
    epsilon: float = 1e-6,
    rtol: float = 1e-3,
    formulation: Formulation = "auto",
    scaling: Scaling = "margin",
    slack_norm: Literal[1, 2] = 1,
    sample_weight: ArrayLike | None = None,
    constraints: Any = None,
    prior: ArrayLike | None = None,
    w0: ArrayLike | FitResult | None = None,
    kernel: Kernel | None = None,
    max_iter: int = 1000,
    time_limit: float = np.inf,
    cache_size: int | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.Generator = 0,
    callback: Callable[[Iteration], object] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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
    problem : StructuredProblem or BatchProblem
        What is to be learned: joint features, loss and separation oracle.
    C : float
        Weight of the mean slack.
    epsilon, rtol : float
        Training ends when no constraint that the oracle finds is violated by more than ``epsilon``
        beyond the slack, or when the gap between primal and dual is at most ``rtol`` times the primal.
    formulation : "auto", "n_slack", "one_slack" or "smoothed"
        One slack per example, or one for their mean. Same optimum for slack_norm=1; n-slack asks the
        oracle less often and is the faster in most cases, one-slack holds fewer constraints. "smoothed"
        comes to the same optimum by L-BFGS on smoothed slacks; it needs a problem that can ``soften``
        (spectral relaxations can), margin scaling and slack_norm=1. "auto" is what the problem
        prefers, n-slack where it does not say.
    scaling, slack_norm
        See above. There is no one-slack form with slack_norm=2.
    sample_weight : array of n numbers, optional
        An example of weight 2 counts as if it were there twice. The mean becomes a weighted mean.
    constraints : optional
        Conditions on w without slack, kept exactly: "nonnegative", a `scipy.optimize.Bounds`, a
        `scipy.optimize.LinearConstraint`, or a list of these.
    prior : vector, optional
        Regularise towards it instead of towards zero.
    w0 : vector or FitResult, optional
        Where to ask the oracle first. The result of an earlier fit of the same problem, at another C
        for example, brings its constraints with it.
    kernel : Kernel, optional
        ``problem.joint_feature`` then gives `VectorSum`, and the oracle is given a `KernelModel`.
    max_iter, time_limit
        Rounds and seconds at most.
    cache_size : int, optional
        Answers kept per example for one-slack training. By default 10, and 0 for a vectorised problem,
        whose oracle costs less than the cache. (n-slack keeps answers as constraints.)
    n_jobs : int, optional
        Oracle calls in parallel, by joblib. The result does not depend on it.
    callback : function, optional
        Called with an `Iteration` after every round; training ends when it returns something true.
    checkpoint : path, optional
        Written every few seconds; an existing file of the same problem is taken up again.

    Returns
    -------
    FitResult
        Ctrl-C during training returns what was found so far, with ``stop_reason="interrupted"``.

    Examples
    --------
    >>> from clustruct import ssvm
    >>> from clustruct.problems import MulticlassProblem
    >>> problem = MulticlassProblem([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["a", "b", "c"])
    >>> result = ssvm.fit(problem, C=100.0)
    >>> result.stop_reason, result.gap < 1e-3 * result.objective
    ('converged', True)
    """
    rule = SlackRule(scaling, slack_norm)
    formulation = _settled(formulation, problem, rule, constraints, kernel)
    _check_settings(C, epsilon, rtol, max_iter, formulation, rule, kernel, constraints, prior, checkpoint)
    batch: BatchProblem = as_batch_problem(problem) if kernel is None else KernelProblem(problem)
    supports = getattr(problem, "supports", None)
    if supports is not None and not supports(rule):
        raise ValueError(
            f"{type(problem).__name__} has no oracle for {scaling} scaling, slack norm {slack_norm}"
        )
    n = batch.n_examples
    if cache_size is None:
        cache_size = KEPT_ANSWERS if isinstance(batch, OneByOne | KernelProblem) else 0
    weights = _weights(sample_weight, n)
    side = side_conditions(constraints, prior, batch.n_features)
    with Separator(batch, rule, n_jobs) as separator:
        run = Run(
            separator=separator,
            rule=rule,
            side=side,
            C=float(C),
            weights=weights,
            examples=np.flatnonzero(weights),
            epsilon=epsilon,
            rtol=rtol,
            max_iter=max_iter,
            time_limit=time_limit,
            cache_size=cache_size,
            rng=np.random.default_rng(random_state),
            callback=callback,
        )
        planes = run.working_set = _plane_set(run, formulation, kernel)
        start = _start(w0, planes, side, n, formulation)
        if checkpoint is not None:
            identity = _identity(run, batch.n_features, formulation)
            start = _connect(run, planes, Checkpoint(checkpoint, identity), start)
        if formulation == "smoothed":
            best = train_smoothed(run, planes, start)
        elif isinstance(planes, WorkingSet) and formulation == "one_slack":
            best = train_one_slack(run, planes, start)
        else:
            best = train_n_slack(run, planes, start)
        return _result(run, planes, best, problem)


def _settled(
    formulation: Formulation, problem: Any, rule: SlackRule, constraints: Any, kernel: Kernel | None
) -> Formulation:
    """The formulation that "auto" stands for; what "smoothed" cannot do is refused."""
    linear = any(isinstance(c, LinearConstraint) for c in listed(constraints))
    reasons = {
        f"{type(problem).__name__} has no smoothed oracle": not hasattr(problem, "soften"),
        "it needs margin scaling and slack_norm=1": rule != SlackRule(),
        "linear constraints do not go with it": linear,
        "it works without a kernel": kernel is not None,
    }
    against = [reason for reason, holds in reasons.items() if holds]
    if formulation == "smoothed" and against:
        raise ValueError(f"formulation='smoothed' is not possible here: {against[0]}")
    if formulation != "auto":
        return formulation
    wanted: Formulation = getattr(problem, "preferred_formulation", "n_slack")
    return "n_slack" if wanted == "smoothed" and against else wanted


def _check_settings(
    C: float,
    epsilon: float,
    rtol: float,
    max_iter: int,
    formulation: str,
    rule: SlackRule,
    kernel: Kernel | None,
    constraints: Any,
    prior: Any,
    checkpoint: Any,
) -> None:
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive number, not {C!r}")
    if not (epsilon >= 0 and rtol >= 0 and epsilon + rtol > 0):
        raise ValueError(f"epsilon and rtol must not be negative, nor both zero: {epsilon!r}, {rtol!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, not {max_iter!r}")
    if formulation not in ("n_slack", "one_slack", "smoothed"):
        raise ValueError(
            f"formulation must be 'auto', 'n_slack', 'one_slack' or 'smoothed', not {formulation!r}"
        )
    if formulation == "one_slack" and rule.norm == 2:
        raise ValueError(
            "one-slack training has no form with slack_norm=2: the square of the mean slack is not the mean "
            "of the squared slacks, so it would solve another problem. Use formulation='n_slack'."
        )
    if kernel is not None and not (constraints is None and prior is None and checkpoint is None):
        raise ValueError(
            "with a kernel there is no weight vector: constraints, prior and checkpoint do not apply"
        )


def _weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    v = np.asarray(sample_weight, float)
    if v.shape != (n,):
        raise ValueError(f"sample_weight has shape {v.shape}, the problem has {n} examples")
    if not np.isfinite(v).all() or (v < 0).any() or not v.any():
        raise ValueError("sample_weight must be finite, not negative, and not all zero")
    return v / v.sum()


def _plane_set(run: Run, formulation: Formulation, kernel: Kernel | None) -> Pool | WorkingSet:
    n = len(run.weights)
    if formulation == "one_slack":
        cap, ridge = np.array([run.C]), np.zeros(1)
    elif run.rule.norm == 1:
        cap, ridge = run.kappa, np.zeros(n)
    else:
        with np.errstate(divide="ignore"):
            cap, ridge = np.full(n, np.inf), 1.0 / run.kappa
    if formulation != "one_slack" and kernel is None and len(run.examples) > FEW_EXAMPLES:
        return Pool(cap, ridge, run.side)
    features = run.separator.problem.n_features
    space: Space = LinearSpace(features, run.side) if kernel is None else KernelSpace(kernel)
    return WorkingSet(space, cap, ridge)


def _start(w0: Any, planes: Pool | WorkingSet, side: SideConditions, n: int, formulation: str) -> Any:
    """The first w; with an earlier result its planes are loaded too."""
    if w0 is None:
        return planes.w
    if isinstance(w0, FitResult):
        earlier = w0.working_set
        if isinstance(planes, Pool) and isinstance(earlier, Pool) and planes.fits(earlier):
            planes.take_over(earlier)
            return planes.w
        held = w0.planes
        if held is not None and held.fits(len(side.prior), 1 if formulation == "one_slack" else n):
            planes.load(held)
            # Smoothed slacks are low where the earlier run ended, not at the solution of its planes.
            return side.clip(np.array(w0.w)) if formulation == "smoothed" else planes.w
        w0 = w0.w
    w = side.clip(np.array(w0, float))
    if w.shape != side.prior.shape or not np.isfinite(w).all():
        raise ValueError(f"w0 must be {len(side.prior)} finite numbers")
    if (side.rows @ w < side.least - 1e-9).any():
        raise ValueError("w0 does not meet the constraints")
    return w


def _identity(run: Run, n_features: int, formulation: str) -> dict[str, Any]:
    return {
        "n_examples": len(run.weights),
        "n_features": n_features,
        "C": run.C,
        "formulation": formulation,
        "scaling": run.rule.scaling,
        "slack_norm": run.rule.norm,
    }


def _connect(run: Run, planes: Pool | WorkingSet, checkpoint: Checkpoint, start: Any) -> Any:
    """Take up what the checkpoint holds, and have the run write to it from now on."""
    saved = checkpoint.read()
    if saved is not None:
        planes.load(saved.planes)
        start = planes.w
        run.history.extend(saved.history)
        run.earlier_seconds = saved.seconds
        run.separator.calls = saved.oracle_calls

    def save(best: Best) -> None:
        if checkpoint.due() or run.stop_reason:
            checkpoint.write(
                Saved(
                    identity=checkpoint.identity,
                    planes=planes.dump(),
                    w=best.w,
                    primal=best.primal,
                    mean_slack=best.mean_slack,
                    history=tuple(run.history),
                    seconds=run.seconds,
                    oracle_calls=run.separator.calls,
                )
            )

    run.save = save
    return start


def _result(run: Run, planes: Pool | WorkingSet, best: Best, problem: Any) -> FitResult:
    if isinstance(best.w, np.ndarray):
        best.w.setflags(write=False)
    linear = isinstance(best.w, np.ndarray)
    result = FitResult(
        w=best.w,
        objective=best.primal,
        dual=planes.dual,
        mean_slack=best.mean_slack,
        stop_reason=run.stop_reason,
        certificate=_certificate(run, planes, best, problem),
        history=tuple(run.history),
        oracle_calls=run.separator.calls,
        qp_solves=run.qp_solves,
        seconds=run.seconds,
        oracle_seconds=run.separator.seconds,
        qp_seconds=run.qp_seconds,
        working_set=planes if linear else None,
    )
    if run.stop_reason in ("max_iter", "time_limit", "stalled"):
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"training stopped by {run.stop_reason} after {result.n_iter} rounds with a gap of "
            f"{result.gap:.3g} (objective {result.objective:.6g}); raise the limit or epsilon, "
            "or scale the features",
            ConvergenceWarning,
            stacklevel=3,
        )
    return result


def _certificate(run: Run, planes: Pool | WorkingSet, best: Best, problem: Any) -> Certificate:
    half = planes.half_norm(best.w)
    # With quadratic slacks xi^2 bounds the loss, and the objective holds half its mean.
    bound = run.rule.norm * (best.primal - half) / run.C
    rho, truth_score = getattr(problem, "oracle_rho", None), getattr(problem, "truth_score", None)
    upper = None
    if rho is not None and truth_score is not None and run.rule == SlackRule("margin", 1):
        truth = sum(float(run.weights[i]) * float(truth_score(int(i), best.w)) for i in run.examples)
        upper = half + run.C * ((best.mean_slack + truth) / rho - truth)
    return certify(run.separator.problem.oracle_kind, planes.dual, best.primal, bound, upper)
