"""Iterative (Finley 2009, section 4.3.3): k-means by moving items one by one, also with a loss in sight."""

from __future__ import annotations

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.inference import kmeans
from clustruct.losses import LossState
from clustruct.pair_scores import PairScores
from clustruct.partitions import canonical_labels
from clustruct.slack_rule import SlackRule

from .base import PLAIN, LossLike, OracleResult, Output, register
from .example_loss import ExampleLoss
from .kmeans import KMeansOracle, augmented
from .violation_search import tolerance_of


@register
class Iterative(KMeansOracle):
    """Random starts, the truth and the last answer; items move to the cluster where the value is highest.

    "Any loss function Delta at the cost of k loss function evaluations for every point reassignment"; for
    Delta_k with margin scaling and slack norm 1 the search is compiled. It undergenerates.
    """

    name = "iterative"

    def separate(
        self, scores: PairScores, truth: Ints, loss: LossLike, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        bound = ExampleLoss.of(loss, truth, scores)
        begin = [truth] if start is None else [truth, start]
        K, k = scores.matrix, int(truth.max()) + 1
        assert K is not None
        if rule == PLAIN and self.is_linear(bound.loss):
            options = {"n_init": self.n_init, "random_state": self.random_state}
            return self.result(kmeans.iterative(augmented(K, bound), k, labels=begin, **options), bound)
        starts = kmeans.starts(truth.size, k, self.n_init, self.random_state, begin)
        return self.result(most_violated(K, bound, rule, starts), bound)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        K = scores.matrix
        assert n_clusters is not None
        return kmeans.iterative(K, n_clusters, n_init=self.n_init, random_state=self.random_state)


def most_violated(K: Floats, loss: ExampleLoss, rule: SlackRule, starts: list[Ints]) -> Ints:
    """The best end of climbs on H from the truth and the starts: H is at least that of the truth, 0.

    Cost O(m k) and m k loss evaluations for a pass, in Python.

    >>> from clustruct.losses import PairwiseLoss
    >>> K = np.array([[2.0, 1.9, 0.1], [1.9, 2.0, 0.0], [0.1, 0.0, 1.0]])
    >>> most_violated(100 * K, ExampleLoss(PairwiseLoss(), np.array([0, 0, 1])), PLAIN, [])
    array([0, 0, 1])
    """
    k = int(loss.truth.max()) + 1
    truth_score = kmeans.objective(K, loss.truth)
    tolerance = tolerance_of(rule, k * float(np.abs(K).sum(axis=1).max()))
    ends = [_climb(K, loss.start(y), rule, truth_score, tolerance) for y in [loss.truth, *starts]]
    return max(ends, key=lambda y: rule.violation(loss(y), kmeans.objective(K, y) - truth_score))


def _climb(K: Floats, state: LossState, rule: SlackRule, truth_score: float, tolerance: float) -> Ints:
    """Passes over the items until none moves."""
    m, k = len(K), state.n_clusters
    G = np.stack([K[:, state.labels == c].sum(axis=1) for c in range(k)], axis=1)
    q = np.array([G[state.labels == c, c].sum() for c in range(k)])
    for _ in range(kmeans.MOST_PASSES):
        moved = False
        for a in range(m):
            c, s = int(state.labels[a]), state.sizes
            if s[c] == 1:
                continue
            left = q[c] - 2.0 * G[a, c] + K[a, a]
            score = float((q / s).sum()) + left / (s[c] - 1) - q[c] / s[c]
            scores = score + (q + 2.0 * G[a] + K[a, a]) / (s + 1) - q / s
            scores[c] = float((q / s).sum())
            H = rule.violation(state.move_values(a)[:k], scores - truth_score)
            d = int(np.argmax(H))
            if H[d] <= H[c] + tolerance:
                continue
            q[c], q[d] = left, q[d] + 2.0 * G[a, d] + K[a, a]
            G[:, c] -= K[:, a]
            G[:, d] += K[:, a]
            state.move(a, d)
            moved = True
        if not moved:
            break
    return canonical_labels(state.labels)
