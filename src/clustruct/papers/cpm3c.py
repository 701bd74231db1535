"""CPM3C: cutting planes outside, CCCP inside (Zhao, Wang and Zhang 2008), for comparison."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct.core.callbacks import Iteration, reason_to_stop, training_listener
from clustruct.core.storage import register
from clustruct.core.typing import Floats, Indices
from clustruct.papers.universum.concave_convex import MarginResult
from clustruct.papers.universum.margin_clustering import MarginClustering, Start
from clustruct.papers.universum.margin_problem import MarginProblem, plane_of, scores_of
from clustruct.ssvm import solve_planes

__all__ = ["CPM3C"]

# A document that is in no constraint.
NONE = -1


@register("CPM3CResult")
@dataclass(frozen=True)
class CPM3CResult(MarginResult):
    """The outcome of `cpm3c`; ``history`` holds the objective after each outer round and may rise."""

    history: tuple[float, ...] = field(repr=False)


@register("CPM3C")
@dataclass(eq=False, repr=False)
class CPM3C(MarginClustering):
    """Maximum-margin clustering by cutting planes with CCCP inside (Zhao, Wang and Zhang 2008)::

        min over W   1/2 |W|^2 + C/n sum_i max(0, 1 - (w_{u_i} - w_{v_i}) . x_i)
        subject to   |(w_p - w_q) . sum_i x_i| <= balance     for all p, q

    u_i is the best cluster of document i, v_i the second best. Cutting planes are meant for convex problems;
    here they are not, so the objective may rise and the end is no certificate. It is here to be compared
    with: use `UniversumClustering`.

    Parameters and attributes are those of `UniversumClustering`; ``max_iter`` is the number of constraints,
    ``epsilon`` the violation, in units of the slack, with which the search for them ends.

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct.papers.cpm3c import CPM3C
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [0.1, 0.9], [2.0, 0.1], [2.1, 0.0], [1.9, 0.2]])
    >>> labels = CPM3C(n_clusters=2, random_state=0).fit_predict(X)
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False, False]
    """

    # Its slack is a mean over documents, not over documents and clusters, and one fit takes long.
    C: float = 8.0
    n_init: int = 1
    epsilon: float = 0.01

    def fit(self, X: ArrayLike, y: object = None) -> CPM3C:
        """Cluster the rows of X. y is not used."""
        self._fit(X, None)
        return self

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        super().check_parameters()
        self._positive("C", "epsilon", "tol", "max_iter")
        self._positive("balance", zero=True)

    def _solve(self, X: Any, universum: Any, start: Start) -> CPM3CResult:
        problem = MarginProblem(X, self.n_clusters, self.C, self.balance)
        labels, W = start
        W = centre_weights(problem, labels) if W is None else problem.balance_weights(W)
        callback = training_listener(self.C, self.epsilon, self.verbose)
        return cpm3c(problem, W, self.epsilon, self.tol, self.max_iter, callback)


def cpm3c(
    problem: MarginProblem,
    start: Floats,
    epsilon: float = 0.01,
    tol: float = 0.01,
    max_iter: int = 100,
    callback: Callable[[Iteration], object] | None = None,
) -> CPM3CResult:
    """Local search for::

        min 1/2 |W|^2 + C/n sum_i max(0, 1 - (w_{u_i} - w_{v_i}) . x_i),   u_i, v_i the best and second best
        subject to the balance of `MarginProblem`

    One slack; a constraint is a choice c of one rival (or none) per document. Each round adds the choice that
    is violated most and runs CCCP over all choices held, with u fixed at the current W in each step. As the
    problem is not convex the working set bounds nothing, and the objective may rise. The planes of all
    choices change with u, so that it is no cutting-plane method for a convex risk: it shares the QP
    (`clustruct.ssvm.solve_planes`), not the loop. Ctrl-C and the callback end it with the W reached.
    Cost per CCCP step O(k nnz) for every constraint held.
    """
    began = time.perf_counter()
    W, slack, reason = start, -np.inf, ""
    chosen: list[NDArray[np.int16]] = []
    history: list[float] = []
    try:
        while not reason:
            rivals, needed = _max_violation(scores_of(problem.X, W))
            history.append(0.5 * float(np.vdot(W, W)) + problem.C * needed)
            if needed <= slack + epsilon:
                reason = "converged"
                break
            rounds, now = len(history), time.perf_counter() - began
            step = Iteration(rounds, history[-1], -np.inf, rounds, len(chosen), now)
            if not (reason := reason_to_stop(callback, step)):
                chosen.append(rivals)
                W, slack = _inner(problem, W, np.array(chosen), tol)
                reason = "max_iter" if rounds >= max_iter else ""
    except KeyboardInterrupt:
        if not history:
            raise
        reason = "interrupted"
    value = history[-1]
    return CPM3CResult(W, problem.assign(W), value, reason, tuple(history), time.perf_counter() - began)


def _max_violation(scores: Floats) -> tuple[NDArray[np.int16], float]:
    """The second best cluster of each document inside the margin, and the mean slack."""
    rows = np.arange(len(scores))
    best = np.argmax(scores, axis=1)
    others = scores.copy()
    others[rows, best] = -np.inf
    second = np.argmax(others, axis=1)
    needs = np.maximum(0.0, 1.0 - (scores[rows, best] - others[rows, second]))
    return np.where(needs > 0.0, second, NONE).astype(np.int16), float(needs.mean())


def _inner(problem: MarginProblem, W: Floats, chosen: NDArray[np.int16], tol: float) -> tuple[Floats, float]:
    """CCCP over the constraints held: W, and the slack that they need there."""
    value, a = np.inf, None
    for _ in range(50):
        vectors, b = _planes(problem, chosen, problem.assign(W))
        found = solve_planes(vectors, b, problem.balance_rows(), problem.C, a)
        W, a = problem.balance_weights(found.w.reshape(problem.shape)), found.a
        before, value = value, found.dual
        if before - value <= tol * abs(before) and np.isfinite(before):
            break
    vectors, b = _planes(problem, chosen, problem.assign(W))
    return W, max(0.0, float((b - vectors @ W.ravel()).max()))


def _planes(problem: MarginProblem, chosen: NDArray[np.int16], labels: Indices) -> tuple[Floats, Floats]:
    """Each choice c as a plane: ``1/n sum_i (w_{u_i} - w_{c_i}) . x_i >= 1/n #{i: c_i a rival} - xi``.

    One product with X for all of them.
    """
    k, n = problem.n_clusters, problem.X.shape[0]
    M = np.zeros((n, len(chosen), k))
    rows = np.arange(n)
    b = np.empty(len(chosen))
    for j, rivals in enumerate(chosen):
        active = (rivals != NONE) & (rivals != labels)
        M[rows[active], j, labels[active]] = 1.0 / n
        M[rows[active], j, rivals[active]] -= 1.0 / n
        b[j] = active.mean()
    stacked = plane_of(problem.X, M.reshape(n, -1))
    return stacked.reshape(len(chosen), -1), b


def centre_weights(problem: MarginProblem, labels: Indices) -> Floats:
    """A start from labels: centres of the clusters less the mean, balanced, all margins below 1.

    Where no document is inside the margin the first constraint would be empty.
    """
    member = (labels[None, :] == np.arange(problem.n_clusters)[:, None]).astype(float)
    sizes = np.maximum(member.sum(axis=1, keepdims=True), 1.0)
    W = problem.balance_weights(np.asarray(member @ problem.X) / sizes - problem.centre)
    scores = scores_of(problem.X, W)
    widest = float((scores.max(axis=1) - scores.min(axis=1)).max())
    return 0.5 * W / widest if widest > 0.0 else W
