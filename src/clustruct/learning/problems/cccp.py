"""Latent structural SVMs by turns: complete the truths at the present w, train, and again.

    min over w   1/2 |w|^2 + C mean_i [ max_{y,h} H_i(y, h; w) ],   h_i of the truth the best one at w

H_i counts what an output scores above the truth with its best h_i. With h_i fixed at the present w that is
an upper bound, equal there, and an ordinary structural SVM: its optimum is no higher, and the best h_i at the
new w lower it again (Yu and Joachims 2009; CCCP, Yuille and Rangarajan 2003). The objective never rises.
Where the inner training ends at a tolerance, or h_i are found greedily, the old w is kept unless the new one
is better.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from clustruct.core.typing import Floats
from clustruct.losses.slack_rule import SlackRule
from clustruct.ssvm import FitResult, Planes, Problem

MOST_TURNS = 20
# A turn that lowers the objective by less than this share is the last.
LEAST_DROP = 1e-3


class LatentProblem(Problem):
    """A structured problem whose truths have a part that is found by w."""

    @abstractmethod
    def completed_at(self, w: Floats) -> Self:
        """The same problem with the best truths at w, or the present ones where these score more."""

    @abstractmethod
    def same_truths(self, other: Self) -> bool:
        """Whether the truths of both are the same."""


L = TypeVar("L", bound=LatentProblem)


@dataclass(frozen=True)
class Descent(Generic[L]):
    """The last training, the problem that it solved, and the objective after each turn, which never rises."""

    result: FitResult
    problem: L
    objectives: tuple[float, ...]


def descend(
    problem: L, solve: Callable[[L, Planes | None], FitResult], rule: SlackRule, weights: Floats, C: float
) -> Descent[L]:
    """Train and complete in turn, until the truths stay or the objective does not fall.

    ``solve(problem, planes)`` trains; planes of the turn before, moved to the new truths, are its start.
    """
    found = solve(problem, None)
    values = [found.objective]
    for _ in range(MOST_TURNS):
        again = problem.completed_at(found.w)
        if found.was_stopped or again.same_truths(problem):
            break
        before = min(primal(again, found.w, C, rule, weights), values[-1])
        newer = solve(again, moved(found, problem, again, rule))
        better, drop = newer.objective < before, 1.0 - newer.objective / max(values[-1], 1e-300)
        if newer.was_stopped and not better:
            found = replace(found, stop_reason=newer.stop_reason)
        values.append(newer.objective if better else before)
        problem, found = again, newer if better else found
        if drop < LEAST_DROP:
            break
    return Descent(found, problem, tuple(values))


def primal(problem: Problem, w: Floats, C: float, rule: SlackRule, weights: Floats) -> float:
    """1/2 |w|^2 + C sum_i weights_i xi_i, with the slacks that the oracle finds at w (slack norm 1)."""
    slacks = []
    for i in range(problem.n_examples):
        y = problem.separate(i, w, rule)
        gain = float((problem.joint_feature(i, y) - problem.joint_feature(i, problem.truth(i))) @ w)
        slacks.append(max(rule.violation(problem.loss(i, y), gain), 0.0))
    return 0.5 * float(w @ w) + C * float(weights @ np.array(slacks))


def moved(found: FitResult, before: L, after: L, rule: SlackRule) -> Planes | None:
    """The planes of a training, for the truths of another completion of the same problem.

    A plane holds Psi(truth) - Psi(output), times its loss with slack scaling: the first moves. None where
    planes are of several examples at once.
    """
    planes = found.planes
    if planes is None or getattr(found.working_set, "n_groups", 0) != before.n_examples:
        return None
    shift = np.array(
        [
            after.joint_feature(i, after.truth(i)) - before.joint_feature(i, before.truth(i))
            for i in range(before.n_examples)
        ]
    )
    factor = planes.b if rule.scaling == "slack" else np.ones(len(planes))
    return replace(planes, vectors=_dense(planes.vectors) + factor[:, None] * shift[planes.group])


def _dense(vectors: Any) -> Floats:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors, np.float64)
