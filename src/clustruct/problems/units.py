"""Feature scales, so that C means the same for every data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from clustruct._typing import Floats
from clustruct.itemsets import ItemSet

from .correlation import CorrelationProblem


def feature_scale(sets: Sequence[ItemSet]) -> Floats:
    """The root mean square of each pair feature over the pairs of all sets, sets counting alike.

    Of sets that list their pairs and have no nodes only the listed pairs count.

    Node products of dense nodes are scaled one by one; those of sparse nodes by one number, since a
    word that is rare must not be blown up by being rare. A feature that is zero everywhere has scale 1.
    """
    squares = np.mean([mean_squares(x) for x in sets], axis=0)
    nodes = sets[0].n_node_features
    if nodes and sparse.issparse(sets[0].nodes):
        squares[:nodes] = squares[:nodes].sum()
    return np.where(squares > 0.0, np.sqrt(np.maximum(squares, 1e-300)), 1.0)


def mean_squares(x: ItemSet) -> Floats:
    """Mean of psi_ab^2 over the pairs a < b of one set; for node products (sum x^2)^2 - sum x^4 over 2."""
    listed = x.pair_index is not None and x.nodes is None
    pairs = max(len(x.pair_index) if listed else x.n_items * (x.n_items - 1) / 2, 1)  # type: ignore[arg-type]
    parts = []
    if x.nodes is not None:
        parts.append(np.maximum(_power_sums(x.nodes, 2) ** 2 - _power_sums(x.nodes, 4), 0.0) / 2)
    if x.pairs is not None:
        parts.append(_power_sums(x.pairs, 2))
    return np.concatenate(parts) / pairs


def _power_sums(A: Any, power: int) -> Floats:
    """The sum of the powers of each column."""
    return np.asarray((A.power(power) if sparse.issparse(A) else A**power).sum(axis=0)).ravel()


def natural_C(problem: CorrelationProblem) -> float:
    """The C at which regulariser and loss weigh alike, times 1000.

    To tell the truth from a trivial clustering (each item alone, or all in one) at distance R with
    loss D takes |w| of D / R, so 1/2 |w|^2 = C D at C of the order D / R^2. On news, records and
    mentions the best C lay between 100 and 10,000 times that (``benchmarks/supervised.py``, "choice of C").
    """
    best = 0.0
    for trivial in (lambda m: np.arange(m), lambda m: np.zeros(m, np.int64)):
        distance, loss = 0.0, 0.0
        for i, x in enumerate(problem.sets):
            y = trivial(x.n_items)
            psi = problem.joint_feature(i, problem.truth(i)) - problem.joint_feature(i, y)
            distance += float(psi @ psi)
            loss += problem.loss(i, y)
        if distance > 0.0:
            best = max(best, loss / distance)
    return 1000.0 * best if best > 0.0 else 1.0
