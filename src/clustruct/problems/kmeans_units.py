"""Units for supervised k-means, so that C means the same for every data set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from clustruct._typing import Floats
from clustruct.itemsets import ItemSet

from .kmeans import KMeansProblem
from .units import mean_squares

# Natural unit times this is C = 1, see `natural_C`.
FAIR = 10.0


def block_scale(sets: Sequence[ItemSet]) -> Floats:
    """What psi is divided by: each dense feature by its root mean square over pairs, all sparse features
    (words, links) by one number, so that what is rare is not blown up and their own weighting is kept.

    >>> block_scale([ItemSet(nodes=[[2.0, 0.0], [2.0, 1.0], [2.0, 0.0]])])
    array([4., 1.])
    """
    squares = np.mean([mean_squares(x) for x in sets], axis=0)
    thin = np.zeros(len(squares), np.bool_)
    nodes = sets[0].n_node_features
    thin[:nodes] = nodes > 0 and sparse.issparse(sets[0].nodes)
    thin[nodes:] = sets[0].pairs is not None and sparse.issparse(sets[0].pairs)
    squares[thin] = squares[thin].sum()
    return np.where(squares > 0.0, np.sqrt(np.maximum(squares, 1e-300)), 1.0)


def natural_C(problem: KMeansProblem) -> float:
    """The C at which regulariser and loss weigh alike, times a factor.

    To tell the truth from the same labels dealt out at random, at distance R with loss D, takes |w| of D / R,
    so 1/2 |w|^2 = C D at C of the order D / R^2.
    """
    rng = np.random.default_rng(0)
    distance = loss = 0.0
    for i in range(problem.n_examples):
        y = rng.permutation(problem.truth(i))
        psi = problem.joint_feature(i, problem.truth(i)) - problem.joint_feature(i, y)
        distance += float(psi @ psi)
        loss += problem.loss(i, y)
    return FAIR * loss / distance if loss > 0.0 and distance > 0.0 else 1.0
