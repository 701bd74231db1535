"""Searches of k-means: Psi sums (Y Y')_ab psi_ab over all ordered pairs, diagonal included.

Finley 2009, section 4.3.3: Iterative (items move one by one, undergenerating), Spectral (partitions relaxed
to any orthonormal columns, over-generating) and Discrete (the spectral answer made a partition).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from clustruct.core.partitions import RelaxedClustering, canonical_labels, normalised_indicator
from clustruct.core.typing import Floats, Indices, Ints
from clustruct.data import ItemSet, PairScores
from clustruct.data.matrices import dense
from clustruct.losses import Loss, LossState, NormalisedLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search import kmeans, spectral
from clustruct.search.agglomerative import WeightedLinks
from clustruct.search.correlation import EdgeDegrees
from clustruct.search.oracles.base import (
    PLAIN,
    SCALED,
    Oracle,
    OracleResult,
    PairCoefficients,
    Predictor,
    SmoothedSearch,
    register,
    separate_by_multipliers,
)
from clustruct.search.oracles.example_loss import ExampleLoss, Output
from clustruct.search.oracles.violation_search import tolerance_of
from clustruct.ssvm import OracleKind

# Sets that list their pairs are made a matrix up to this many items (128 MB).
MOST_DENSE = 4000
# Eigenvalues to this relative accuracy are as good as exact beside the gaps at which training ends.
ORACLE_TOL = 1e-7
# Sets of more items are smoothed over their leading eigenvectors only, so many for each cluster. (866 pages,
# 6 classes: 24 eigenvectors to 1e-5 take 27 ms, 12 take 20 ms; but with 12 small C need more rounds.)
SOFT_LIMIT = 500
SOFT_PAIRS = 4
SOFT_TOL = 1e-5


class KMeansOracle(Oracle):
    """The normalised loss is linear in Y Y': with it the searches work on K - (100/k) Y_i Y_i'.

    Every pair is scored, those that a set does not list by 0, and every pair is judged.
    """

    objective = "kmeans"
    most_listed = MOST_DENSE
    default_loss = NormalisedLoss()
    unjudged = "k-means needs every pair judged: use correlation clustering"

    def is_linear(self, loss: Loss) -> bool:
        return isinstance(loss, NormalisedLoss)

    def scores(self, x: ItemSet, w: Floats, factor: float = 1.0) -> PairScores:
        K = np.asarray(x.similarity(w if factor == 1.0 else factor * w))
        return PairScores(x.n_items, matrix=K)

    def loss_of(self, loss: Loss, truth: Ints, index: Ints | None) -> ExampleLoss:
        return ExampleLoss(loss, truth)

    def coefficients(self, y: Output) -> PairCoefficients:
        return PairCoefficients(factor=factor_of(y))

    def score(self, scores: PairScores, y: Output) -> float:
        """trace(Y'KY)."""
        K, Y = scores.product if scores.matrix is None else scores.matrix, dense(factor_of(y))
        assert K is not None
        return float(np.sum(Y * (K @ Y)))


def factor_of(y: Output) -> Floats | sparse.csr_array:
    """Y of Y Y'."""
    assert not isinstance(y, EdgeDegrees | WeightedLinks)
    return y.Y if isinstance(y, RelaxedClustering) else normalised_indicator(y)


def dense_scores(scores: PairScores) -> Floats:
    """K as a matrix."""
    if scores.matrix is not None:
        return np.asarray(scores.matrix)
    assert scores.product is not None
    return np.asarray(scores.product @ np.eye(scores.n_items))


def augment(K: Floats, loss: ExampleLoss) -> Floats:
    """K - (100/k) Y_i Y_i'."""
    Y = loss.factor
    return np.asarray(K - (100.0 / Y.shape[1]) * (Y @ Y.T).toarray())


@register
class Iterative(KMeansOracle):
    """Random starts, the truth and the last answer; items move to the cluster where the value is highest.

    "Any loss function Delta at the cost of k loss function evaluations for every point reassignment"; for
    Delta_k with margin scaling and slack norm 1 the search is compiled. It undergenerates.
    """

    name = "iterative"

    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        truth = loss.truth
        begin = [truth] if start is None else [truth, start]
        K, k = scores.matrix, int(truth.max()) + 1
        assert K is not None
        if rule == PLAIN and self.is_linear(loss.loss):
            options = {"n_init": self.n_init, "random_state": self.random_state}
            return self.result(kmeans.iterative(augment(K, loss), k, labels=begin, **options), loss)
        order = kmeans.order_by_similarity(augment(K, loss))
        starts = kmeans.starts(truth.size, k, self.n_init, self.random_state, begin, order)
        return self.result(climb_violation(K, loss, rule, starts, order), loss)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        K = scores.matrix
        assert n_clusters is not None
        return kmeans.iterative(K, n_clusters, n_init=self.n_init, random_state=self.random_state)


def climb_violation(
    K: Floats, loss: ExampleLoss, rule: SlackRule, starts: list[Ints], order: Indices | None = None
) -> Ints:
    """The best end of climbs on H from the truth and the starts: H is at least that of the truth, 0.

    Items are visited in the order given.

    Cost O(m k) and m k loss evaluations for a pass, in Python.
    """
    k = int(loss.truth.max()) + 1
    truth_score = kmeans.objective(K, loss.truth)
    tolerance = tolerance_of(rule, k * float(np.abs(K).sum(axis=1).max()))
    visited = np.arange(len(K)) if order is None else order
    ends = [_climb(K, loss.start(y), rule, truth_score, tolerance, visited) for y in [loss.truth, *starts]]
    return max(ends, key=lambda y: rule.violation(loss(y), kmeans.objective(K, y) - truth_score))


def _climb(
    K: Floats, state: LossState, rule: SlackRule, truth_score: float, tolerance: float, visited: Indices
) -> Ints:
    """Passes over the items until none moves."""
    k = state.n_clusters
    G = np.stack([K[:, state.labels == c].sum(axis=1) for c in range(k)], axis=1)
    q = np.array([G[state.labels == c, c].sum() for c in range(k)])
    for _ in range(kmeans.MOST_PASSES):
        moved = False
        for a in visited.tolist():
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


@register
class Spectral(KMeansOracle):
    """The k leading eigenvectors of K - (100/k) Y_i Y_i'. Large sets are only multiplied with."""

    name = "spectral"
    exactness: ClassVar[OracleKind] = "overgenerating"
    adds_loss = True
    relaxed = True
    can_smooth = True
    centred: ClassVar[bool] = False

    def scores(self, x: ItemSet, w: Floats, factor: float = 1.0) -> PairScores:
        if x.n_items < spectral.SMALL:
            return super().scores(x, w, factor)
        product = x.similarity_operator(w if factor == 1.0 else factor * w)
        return PairScores(x.n_items, product=product)

    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        if rule == SCALED:
            return separate_by_multipliers(self, scores, loss, start)
        return self.result(self.relax(scores, loss, rule, start), loss)

    def mix(self, one: OracleResult, other: OracleResult, share: float) -> OracleResult | None:
        """B between the two Y Y': its factor has the columns of both. The output stands for it, since only B
        and the loss, which is linear in it, are looked at.
        """
        shares = ((1.0 - share, one), (share, other))
        factors = [(part, factor_of(result.output)) for part, result in shares]
        columns = [np.sqrt(part) * dense(Y) for part, Y in factors]
        stands = one.output if isinstance(one.output, RelaxedClustering) else other.output
        assert isinstance(stands, RelaxedClustering)
        between = PairCoefficients(factor=np.hstack(columns))
        return OracleResult(RelaxedClustering(stands.Y), between, sum(part * r.loss for part, r in shares))

    def relax(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None
    ) -> RelaxedClustering:
        """The relaxed clustering that is violated most."""
        if (refused := self.refusal(rule, loss.loss)) is not None:
            raise ValueError(refused)
        Y = loss.factor
        k = int(Y.shape[1])
        if scores.matrix is not None:
            return spectral.relax(augment(scores.matrix, loss), k, centred=self.centred)
        assert scores.product is not None
        operator = augmented_operator(scores.product, Y, 100.0 / k)
        begin = start.Y if isinstance(start, RelaxedClustering) else None
        return spectral.relax(operator, k, centred=self.centred, tol=ORACLE_TOL, start=begin)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Output:
        K = scores.product if scores.matrix is None else scores.matrix
        assert n_clusters is not None
        return spectral.relax(K, n_clusters, centred=self.centred)

    def smooth(
        self, scores: PairScores, loss: ExampleLoss, mu: float, start: Floats | None = None
    ) -> SmoothedSearch:
        if (refused := self.refusal(PLAIN, loss.loss)) is not None:
            raise ValueError(refused)
        Y = loss.factor.toarray()
        k = Y.shape[1]
        if scores.matrix is None and scores.n_items > SOFT_LIMIT:
            assert scores.product is not None
            A, along = augmented_operator(scores.product, loss.factor, 100.0 / k), scores.product @ Y
            options = {"n_pairs": SOFT_PAIRS * k, "tol": SOFT_TOL, "start": start}
        else:
            K = dense_scores(scores)
            A, along, options = augment(K, loss), K @ Y, {}
        found = spectral.soft_relax(A, k, mu, centred=self.centred, **options)
        base = 100.0 - float(np.sum(Y * along))
        lost = 100.0 * (1.0 - float(np.sum((loss.factor.T @ found.U) ** 2)) / k)
        return SmoothedSearch(
            max(0.0, found.largest + base),
            found.smoothed + base,
            PairCoefficients(factor=found.U),
            max(0.0, lost),
            found.vectors if options else None,
        )


@register
class Centred(Spectral):
    """The same among relaxed clusterings that span the constant vector: tighter, not in the papers."""

    name = "centred"
    centred = True


@register
class Discrete(Spectral):
    """The spectral answer made a partition by k-means on Y Y': undergenerating."""

    name = "discrete"
    exactness = "undergenerating"
    relaxed = False
    can_smooth = False

    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        if rule == SCALED:
            return separate_by_multipliers(self, scores, loss, start)
        relaxed = self.relax(scores, loss, rule, start)
        return self.result(self._discretise(relaxed), loss, start=relaxed)

    def mix(self, one: OracleResult, other: OracleResult, share: float) -> OracleResult | None:
        return None

    def further(self, scores: PairScores, loss: ExampleLoss, found: Output) -> list[Output]:
        """Where items move to from the answer, and from the truth."""
        assert isinstance(found, np.ndarray)
        return [climb_violation(dense_scores(scores), loss, SCALED, [found])]

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        relaxed = super().predict(scores, n_clusters)
        assert isinstance(relaxed, RelaxedClustering)
        return self._discretise(relaxed)

    def _discretise(self, relaxed: RelaxedClustering) -> Ints:
        return spectral.discretise(relaxed, n_init=self.n_init, random_state=self.random_state)


@register
class DiscreteCentred(Discrete):
    """The centred answer made a partition: how models trained with "centred" predict (Theorem 13 asks for the
    same relaxation in both).
    """

    name = "discrete_centred"
    centred = True


def augmented_operator(K: LinearOperator, Y: sparse.csr_array, factor: float) -> LinearOperator:
    """V -> K V - factor Y (Y'V), never formed."""
    back = Y.T.tocsr()

    def times(V: Floats) -> Floats:
        return np.asarray(K @ V - factor * (Y @ (back @ V)))

    return LinearOperator(K.shape, matvec=times, matmat=times, rmatvec=times, dtype=np.float64)


class KernelPredictor(Predictor):
    """The function of this name in `kernel_kmeans`, which refuses K that it cannot take (Finley 2009, section
    4.3.3). No oracle, as K - (100/k) Y Y' is no kernel even where K is.
    """

    objective = "kmeans"

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        # Imported here: it loads scikit-learn's k-means, which few models need.
        from clustruct.search import kernel_kmeans

        assert n_clusters is not None
        procedure = getattr(kernel_kmeans, self.name)
        labels: Ints = procedure(
            scores.matrix, n_clusters, n_init=self.n_init, random_state=self.random_state
        )
        return labels


@register
class Batch(KernelPredictor):
    """K must be positive semidefinite."""

    name = "batch"


@register
class NormalisedCut(KernelPredictor):
    """Every item's similarities must have a positive sum."""

    name = "normalised_cut"
