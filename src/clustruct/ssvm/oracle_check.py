"""Whether the oracle of somebody's own problem does what it says, looked at when a training has ended."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from clustruct.core.exceptions import ReliabilityWarning
from clustruct.core.typing import Floats

from .problem import BatchProblem
from .result import NothingLearned
from .solvers.base import Task

# So many examples are looked at, each at w and at so many times w. An oracle that goes by another rule than
# the one it is asked for has the right answers at other weights, where loss and score trade elsewhere.
MOST_EXAMPLES = 10
TIMES = (0.0, 0.25, 0.5, 0.75, 1.5, 2.0, 4.0)
# What one answer may be worse than another by rounding, in shares of the larger violation.
ROUNDING = 1e-6


def check_oracle(task: Task, w: Any, mean_slack: float) -> None:
    """Warn where the oracle found nothing at all, or where an exact one has missed what it finds elsewhere.

    The oracles of this package are tested against brute force; this is about others. An oracle that searches
    a part of the outputs may miss anything, so that only its silence is told.
    """
    problem = task.problem
    if task.kernel is not None or isinstance(problem, BatchProblem) or _is_own(problem):
        return
    if not np.any(w) and mean_slack <= 0.0:
        warnings.warn(
            "the oracle found no output with a loss at w = 0, where all of them are violated: nothing was "
            "learned. `separate` must give the output of the largest rule.violation(loss, gain), and the "
            "truth only where none is above 0",
            NothingLearned,
            stacklevel=4,
        )
        return
    if task.oracle_kind != "exact":
        return
    missed = [(i, _shortfall(task, i, w)) for i in task.examples[:MOST_EXAMPLES].tolist()]
    i, most = max(missed, key=lambda found: found[1])
    if most > 0.0:
        which = f"{sum(by > 0.0 for _, by in missed)} of {len(missed)} examples"
        warnings.warn(
            f"the oracle is called exact, but for {which} it gives at other weights an output that needs "
            f"more slack than what it found (of example {i} by {most:.3g}): `separate` must give the largest "
            f"rule.violation(loss, gain) of the rule that it is given ({task.rule.scaling} scaling, "
            f"slack_norm={task.rule.norm}); else it is not exact",
            ReliabilityWarning,
            stacklevel=4,
        )


def _is_own(problem: object) -> bool:
    """Whether the oracle is one of this package."""
    return type(problem).separate.__module__.startswith("clustruct.")  # type: ignore[attr-defined]


def _shortfall(task: Task, i: int, w: Floats) -> float:
    """How much more slack an output of the oracle at other weights needs than its output at w."""
    found = [_violation(task, i, times * w, w) for times in (1.0, *TIMES)]
    best = max(found)
    return best - max(found[0], 0.0) if best - max(found[0], 0.0) > ROUNDING * max(1.0, abs(best)) else 0.0


def _violation(task: Task, i: int, asked_at: Floats, w: Floats) -> float:
    """The slack that an answer of the oracle needs at w."""
    problem = task.problem
    y = problem.separate(i, asked_at, task.rule)
    difference = problem.joint_feature(i, y) - problem.joint_feature(i, problem.truth(i))
    return float(task.rule.violation(float(problem.loss(i, y)), float(np.sum(difference @ w))))
