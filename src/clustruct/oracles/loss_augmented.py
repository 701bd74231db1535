"""Separation oracles for correlation clustering with any loss: greedy and local search.

    maximise over partitions y:   H(y) = D + gain          (margin scaling)
                                  H(y) = D (1 + gain)      (slack scaling)
    S(y) = sum_{a<b, y_a = y_b} K_ab,   gain = S(y) - S(y_true),
    D = Delta(y_true, y), or its square root for slack norm 2.

K is <w, psi_ab> already divided by m^2 (the factor of Psi). Both searches undergenerate: they return a
partition, whose H is at most the maximum. Finley 2009, Algorithm 4 and eq. (2.21), (2.22).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.losses import CountForm, CountLoss, CountState, Loss, LossState, as_loss
from clustruct.partitions import canonical_labels

__all__ = ["AugmentedObjective", "augmented_value", "greedy_augmented", "local_search_augmented"]

Scaling = Literal["margin", "slack"]

# H = gain: what is left to maximise when the loss is kept out of the search.
NO_LOSS = CountForm((0.0, 0.0, 0.0), (1.0, 0.0), 0.0, 0.0, 0.0)

# Steps must raise H by more than rounding, or a search could walk in circles.
RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class AugmentedObjective:
    """H as a function of S(y) and Delta(y_true, y), for numbers or arrays."""

    scaling: Scaling
    slack_norm: int
    truth_score: float
    tolerance: float

    def value(self, score: Any, delta: Any) -> Any:
        """H for scores S and losses Delta of one shape."""
        D = np.sqrt(delta) if self.slack_norm == 2 else delta
        gain = score - self.truth_score
        return D * (1.0 + gain) if self.scaling == "slack" else D + gain


@dataclass(frozen=True)
class _Problem:
    """One checked separation problem: K with zero diagonal, the truth, H, and the loss in usable form."""

    K: Floats
    truth: Ints
    objective: AugmentedObjective
    form: CountForm | None
    start: Callable[[Ints], LossState]


def greedy_augmented(
    K: Any,
    y_true: Any,
    loss: Any = "pairwise",
    *,
    scaling: Scaling = "margin",
    slack_norm: int = 1,
    loss_in_oracle: bool = True,
    truth_score: float | None = None,
) -> Ints:
    """Algorithm 4: from singletons, merge the two clusters that raise H most, until no merge raises it.

    `loss` is a Loss, a name or a function of two labelings. With `loss_in_oracle=False` the loss is left
    out of the search and S alone is raised. `truth_score` is S(y_true) where the caller knows it.
    Returns canonical labels. Cost O(m^3) cheap steps for the pairwise and MITRE losses (compiled); for a
    user's function one call for each pair of clusters in each round.

    >>> K = np.array([[0.0, 3.0, -1.0], [3.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])
    >>> greedy_augmented(K, [0, 0, 1], "pairwise", loss_in_oracle=False)
    array([0, 0, 1])
    >>> greedy_augmented(K, [0, 0, 1], "pairwise")
    array([0, 0, 0])
    """
    problem = _prepare(K, y_true, loss, scaling, slack_norm, loss_in_oracle, truth_score)
    return _greedy(problem)


def local_search_augmented(
    K: Any,
    y_true: Any,
    loss: Any = "pairwise",
    *,
    scaling: Scaling = "margin",
    slack_norm: int = 1,
    loss_in_oracle: bool = True,
    truth_score: float | None = None,
) -> Ints:
    """From the greedy answer, the truth and singletons: move items and join clusters while H rises.

    Items are visited in order; each goes where H is highest (a new cluster included) when that raises H.
    When a whole pass moves nothing, the best join of two clusters is made, and the passes start again.
    The best of the three ends is returned, so H is at least that of greedy and of the truth.
    Arguments as for `greedy_augmented`. Cost O(m k) for a pass with pairwise or MITRE loss (compiled).

    >>> K = np.array([[0.0, 3.0, -1.0], [3.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])
    >>> local_search_augmented(K, [0, 0, 1], "mitre", scaling="slack")
    array([0, 0, 1])
    >>> local_search_augmented(0.1 * K, [0, 0, 1], "mitre", scaling="slack")
    array([0, 1, 2])
    """
    problem = _prepare(K, y_true, loss, scaling, slack_norm, loss_in_oracle, truth_score)
    m = problem.truth.size
    starts = [_greedy(problem), problem.truth, np.arange(m, dtype=np.int64)]
    ends = [_climb(problem, labels) for labels in starts]
    return max(ends, key=lambda labels: _value(problem, labels))


def augmented_value(
    K: Any,
    labels: Any,
    y_true: Any,
    loss: Any = "pairwise",
    *,
    scaling: Scaling = "margin",
    slack_norm: int = 1,
    loss_in_oracle: bool = True,
    truth_score: float | None = None,
) -> float:
    """H(labels), computed from scratch.

    >>> augmented_value(np.zeros((2, 2)), [0, 0], [0, 1], "pairwise", slack_norm=2)
    10.0
    """
    problem = _prepare(K, y_true, loss, scaling, slack_norm, loss_in_oracle, truth_score)
    return _value(problem, canonical_labels(labels, n_items=problem.truth.size))


def _value(problem: _Problem, labels: Ints) -> float:
    delta = problem.start(labels).value
    return float(problem.objective.value(together_score(problem.K, labels), delta))


def _greedy(problem: _Problem) -> Ints:
    from . import search_steps as search

    if problem.form is None:
        state = problem.start(np.arange(problem.truth.size, dtype=np.int64))
        return search.last(search.greedy_steps(problem.K, state, problem.objective))
    return _compiled("greedy", problem, problem.form, np.arange(problem.truth.size, dtype=np.int64))


def _climb(problem: _Problem, labels: Ints) -> Ints:
    from . import search_steps as search

    if problem.form is None:
        return search.last(search.climb_steps(problem.K, problem.start(labels), problem.objective))
    return _compiled("climb", problem, problem.form, labels)


def _compiled(procedure: str, problem: _Problem, form: CountForm, labels: Ints) -> Ints:
    # Imported here: numba takes a second to load, and a user's own loss never needs it.
    from . import _kernels as kernels

    objective = problem.objective
    kernel = kernels.greedy if procedure == "greedy" else kernels.climb
    weights = (form.pair_weight, form.shared_pair_weight, form.cell_weight)
    found = kernel(
        problem.K,
        problem.truth,
        labels,
        np.array([*form.numerator, *form.denominator, *weights]),
        objective.scaling == "slack",
        objective.slack_norm == 2,
        objective.truth_score,
        objective.tolerance,
    )
    return canonical_labels(found)


def _prepare(
    K: Any,
    y_true: Any,
    loss: Any,
    scaling: Scaling,
    slack_norm: int,
    loss_in_oracle: bool,
    truth_score: float | None,
) -> _Problem:
    if scaling not in ("margin", "slack"):
        raise ValueError(f"scaling must be 'margin' or 'slack', got {scaling!r}")
    if slack_norm not in (1, 2):
        raise ValueError(f"slack_norm must be 1 or 2, got {slack_norm!r}")
    truth = canonical_labels(y_true, name="y_true")
    if truth.size == 0:
        raise ValueError("y_true is empty; an item set needs at least one item")
    similarities = _check_similarity(K, truth.size)
    known: Loss = as_loss(loss)
    score = together_score(similarities, truth) if truth_score is None else float(truth_score)
    bulk = float(np.abs(similarities).sum()) / 2
    if not loss_in_oracle:
        objective = AugmentedObjective("margin", 1, score, RELATIVE_TOLERANCE * bulk)
        return _Problem(similarities, truth, objective, NO_LOSS, lambda y: CountState(NO_LOSS, truth, y))
    size = 100.0 * (1.0 + bulk) if scaling == "slack" else 100.0 + bulk
    objective = AugmentedObjective(scaling, slack_norm, score, RELATIVE_TOLERANCE * size)
    form = known.count_form(truth) if isinstance(known, CountLoss) else None
    return _Problem(similarities, truth, objective, form, lambda y: known.start(truth, y))


def _check_similarity(K: Any, m: int) -> Floats:
    """K as a dense symmetric array of our own with a zero diagonal."""
    given = K.toarray() if hasattr(K, "toarray") else K
    dense = np.array(given, dtype=np.float64)
    if dense.shape != (m, m):
        raise ValueError(f"K has shape {dense.shape}; expected {(m, m)}")
    if not np.isfinite(dense).all():
        a, b = np.argwhere(~np.isfinite(dense))[0]
        raise ValueError(f"K: row {a}, column {b} is {dense[a, b]}")
    uneven = np.abs(dense - dense.T)
    if uneven.max() > 1e-9 * np.abs(dense).max():
        a, b = np.unravel_index(int(uneven.argmax()), uneven.shape)
        raise ValueError(f"K is not symmetric: K[{a}, {b}] = {dense[a, b]}, K[{b}, {a}] = {dense[b, a]}")
    np.fill_diagonal(dense, 0.0)
    return dense


def together_score(K: Floats, labels: Ints) -> float:
    """S(y) = sum_{a<b, y_a = y_b} K_ab for symmetric K with zero diagonal. O(m^2).

    >>> together_score(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0, 0]))
    2.0
    """
    order = np.argsort(labels, kind="stable")
    total = 0.0
    for block in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        total += float(K[np.ix_(block, block)].sum())
    return total / 2
