"""Separation oracle for k-means with any loss: point-incremental search that looks at the loss.

    maximise over partitions y into k clusters:   H(y) = D + gain          (margin scaling)
                                                  H(y) = D (1 + gain)      (slack scaling)
    gain = trace(Y'KY) - trace(Y_i'KY_i),   D = Delta(y_i, y), or its square root for slack norm 2.

Finley 2009, section 4.3.3: "any loss function Delta at the cost of k loss function evaluations for every
point reassignment". It undergenerates. For Delta_k with margin scaling use `kmeans.iterative` on
K - (100/k) Y_i Y_i' instead, which is compiled.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.inference.kmeans import MOST_PASSES, RELATIVE_TOLERANCE, check_similarity, objective, starts
from clustruct.losses import Loss, LossState, as_loss
from clustruct.partitions import canonical_labels

__all__ = ["augmented_value", "iterative_augmented"]

Scaling = Literal["margin", "slack"]


def iterative_augmented(
    K: Any,
    y_true: Any,
    loss: Any = "normalised",
    *,
    scaling: Scaling = "margin",
    slack_norm: int = 1,
    n_init: int = 3,
    random_state: int | np.random.Generator = 0,
    labels: Any = None,
) -> Ints:
    """Iterative on H: items move one by one to the cluster, of as many as the truth has, where H is highest.

    Random starts, the truth itself and ``labels`` (a start or a list of them); the best end is returned, so H
    is at least that of the truth, 0. Cost O(m k) and m k loss evaluations for a pass, in Python.

    >>> K = np.array([[2.0, 1.9, 0.1], [1.9, 2.0, 0.0], [0.1, 0.0, 1.0]])
    >>> iterative_augmented(100 * K, [0, 0, 1], "pairwise")
    array([0, 0, 1])
    """
    truth = canonical_labels(y_true, name="y_true")
    dense, known = check_similarity(K), as_loss(loss)
    k = int(truth.max()) + 1
    rise = _Rise(objective(dense, truth), scaling, slack_norm, k * float(np.abs(dense).sum(axis=1).max()))
    begin = [truth, *starts(truth.size, k, n_init, random_state, labels)]
    ends = [_climb(dense, known.start(truth, y), rise) for y in begin]
    return max(ends, key=lambda y: rise(objective(dense, y), known(truth, y)))


def augmented_value(
    K: Any,
    labels: Any,
    y_true: Any,
    loss: Any = "normalised",
    *,
    scaling: Scaling = "margin",
    slack_norm: int = 1,
) -> float:
    """H(labels), computed from scratch.

    >>> augmented_value(np.eye(2), [0, 0], [0, 1], "pairwise")
    99.0
    """
    known: Loss = as_loss(loss)
    truth_score = objective(K, y_true)
    return float(_Rise(truth_score, scaling, slack_norm, 0.0)(objective(K, labels), known(y_true, labels)))


class _Rise:
    """H as a function of trace(Y'KY) and Delta, for numbers or arrays."""

    def __init__(self, truth_score: float, scaling: Scaling, slack_norm: int, size: float) -> None:
        if scaling not in ("margin", "slack") or slack_norm not in (1, 2):
            raise ValueError(f"no such rule: scaling {scaling!r}, slack_norm {slack_norm!r}")
        self.truth_score, self.slack, self.root = truth_score, scaling == "slack", slack_norm == 2
        self.tolerance = RELATIVE_TOLERANCE * (100.0 * (1.0 + size) if self.slack else 100.0 + size)

    def __call__(self, score: Any, delta: Any) -> Any:
        D, gain = np.sqrt(delta) if self.root else delta, score - self.truth_score
        return D * (1.0 + gain) if self.slack else D + gain


def _climb(K: Floats, state: LossState, rise: _Rise) -> Ints:
    """Passes over the items until none moves."""
    m, k = len(K), state.n_clusters
    G = np.stack([K[:, state.labels == c].sum(axis=1) for c in range(k)], axis=1)
    q = np.array([G[state.labels == c, c].sum() for c in range(k)])
    for _ in range(MOST_PASSES):
        moved = False
        for a in range(m):
            c, s = int(state.labels[a]), state.sizes
            if s[c] == 1:
                continue
            left = q[c] - 2.0 * G[a, c] + K[a, a]
            score = float((q / s).sum()) + left / (s[c] - 1) - q[c] / s[c]
            scores = score + (q + 2.0 * G[a] + K[a, a]) / (s + 1) - q / s
            scores[c] = float((q / s).sum())
            H = rise(scores, state.move_values(a)[:k])
            d = int(np.argmax(H))
            if H[d] <= H[c] + rise.tolerance:
                continue
            q[c], q[d] = left, q[d] + 2.0 * G[a, d] + K[a, a]
            G[:, c] -= K[:, a]
            G[:, d] += K[:, a]
            state.move(a, d)
            moved = True
        if not moved:
            break
    return canonical_labels(state.labels)
