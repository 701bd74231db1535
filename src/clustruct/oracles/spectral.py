"""Spectral (Finley 2009, section 4.3.3): partitions relaxed to any orthonormal columns, over-generating."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from clustruct._typing import Bools, Floats, Ints
from clustruct.inference import spectral
from clustruct.itemsets import ItemSet
from clustruct.pair_scores import PairCoefficients, PairScores
from clustruct.partitions import RelaxedClustering
from clustruct.slack_rule import SlackRule
from clustruct.ssvm import OracleKind

from .base import PLAIN, LossLike, OracleResult, Output, SmoothedSearch, register
from .example_loss import ExampleLoss
from .kmeans import KMeansOracle, augmented

# Eigenvalues to this relative accuracy are as good as exact beside the gaps at which training ends.
ORACLE_TOL = 1e-7


@register
class Spectral(KMeansOracle):
    """The k leading eigenvectors of K - (100/k) Y_i Y_i'. Large sets are only multiplied with."""

    name = "spectral"
    exactness: ClassVar[OracleKind] = "overgenerating"
    adds_loss = True
    relaxed = True
    can_smooth = True
    centred: ClassVar[bool] = False

    def scores(self, x: ItemSet, w: Floats, factor: float = 1.0, judged: Bools | None = None) -> PairScores:
        if x.n_items < spectral.SMALL:
            return super().scores(x, w, factor, judged)
        product = x.similarity_operator(w if factor == 1.0 else factor * w)
        return PairScores(x.n_items, product=product, judged=judged)

    def separate(
        self, scores: PairScores, truth: Ints, loss: LossLike, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        bound = ExampleLoss.of(loss, truth, scores)
        return self.result(self.relax(scores, bound, rule, start), bound)

    def relax(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None
    ) -> RelaxedClustering:
        """The relaxed clustering that is violated most."""
        if (refused := self.refusal(rule, loss.loss)) is not None:
            raise ValueError(refused)
        Y = loss.factor
        k = int(Y.shape[1])
        if scores.matrix is not None:
            return spectral.relax(augmented(scores.matrix, loss), k, centred=self.centred)
        assert scores.product is not None
        operator = augmented_operator(scores.product, Y, 100.0 / k)
        begin = start.Y if isinstance(start, RelaxedClustering) else None
        return spectral.relax(operator, k, centred=self.centred, tol=ORACLE_TOL, start=begin)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Output:
        K = scores.product if scores.matrix is None else scores.matrix
        assert n_clusters is not None
        return spectral.relax(K, n_clusters)

    def smooth(self, scores: PairScores, truth: Ints, loss: LossLike, mu: float) -> SmoothedSearch:
        bound = ExampleLoss.of(loss, truth, scores)
        if (refused := self.refusal(PLAIN, bound.loss)) is not None:
            raise ValueError(refused)
        K, Y = scores.matrix, bound.factor.toarray()
        if K is None:
            assert scores.product is not None
            K = scores.product @ np.eye(scores.n_items)
        k = Y.shape[1]
        found = spectral.soft_relax(augmented(K, bound), k, mu, centred=self.centred)
        base = 100.0 - float(np.sum(Y * (K @ Y)))
        lost = 100.0 * (1.0 - float(np.sum((bound.factor.T @ found.U) ** 2)) / k)
        return SmoothedSearch(
            max(0.0, found.largest + base),
            found.smoothed + base,
            PairCoefficients(factor=found.U),
            max(0.0, lost),
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
        self, scores: PairScores, truth: Ints, loss: LossLike, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        bound = ExampleLoss.of(loss, truth, scores)
        relaxed = self.relax(scores, bound, rule, start)
        return self.result(self._discretise(relaxed), bound, start=relaxed)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        relaxed = super().predict(scores, n_clusters)
        assert isinstance(relaxed, RelaxedClustering)
        return self._discretise(relaxed)

    def _discretise(self, relaxed: RelaxedClustering) -> Ints:
        return spectral.discretise(relaxed, n_init=self.n_init, random_state=self.random_state)


def augmented_operator(K: LinearOperator, Y: sparse.csr_array, factor: float) -> LinearOperator:
    """V -> K V - factor Y (Y'V), never formed."""
    back = Y.T.tocsr()

    def times(V: Floats) -> Floats:
        return np.asarray(K @ V - factor * (Y @ (back @ V)))

    return LinearOperator(K.shape, matvec=times, matmat=times, rmatvec=times, dtype=np.float64)
