"""What every k-means estimator does once it has a similarity: labels, relaxed answers, scores, k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from clustruct._typing import Floats, Labels
from clustruct.inference import spectral
from clustruct.inference.spectral import MOST_CLUSTERS, count_clusters
from clustruct.itemsets import ItemSet
from clustruct.losses import NormalisedLoss, as_loss
from clustruct.oracles import ExampleLoss, Predictor, make_oracle, make_predictor
from clustruct.oracles.base import Objective
from clustruct.pair_scores import PairScores
from clustruct.partitions import RelaxedClustering

from .inputs import Table, read_labels, read_sets
from .scoring import SetScoring

# One number, one for each set, or None.
Counts: TypeAlias = int | Sequence[int | None] | None


class KMeansPrediction(SetScoring):
    """Prediction by k-means with K_ab = <w_, psi_ab> + intercept_."""

    clustering_objective: ClassVar[Objective] = "kmeans"
    w_: Floats
    intercept_: float = 0.0
    k_range_: tuple[int, int] = (1, MOST_CLUSTERS)
    n_clusters: int | None
    predictor: str
    n_init: int
    random_state: int
    loss: Any

    def decision_function(self, X: Table, set_ids: ArrayLike | None = None) -> Any:
        """The similarity of every pair, diagonal included: one symmetric matrix per set."""
        check_is_fitted(self, "w_")
        given = read_sets(self, X, set_ids, reset=False)
        answers = [self._similarity(x) for x in given.sets]
        return answers[0] if given.single else answers

    def predict(self, X: Table, set_ids: ArrayLike | None = None, n_clusters: Counts = None) -> Any:
        """Cluster new sets: a list of label vectors for a list of sets, one vector for one table.

        ``n_clusters`` is one number, or a list with one for each set. Without it the estimator's own
        ``n_clusters`` holds; without that too, the number is chosen from the eigenvalues of K, between half
        the fewest and twice the most clusters seen in training. A set with fewer items than that has as
        many clusters as items.
        """
        check_is_fitted(self, "w_")
        given = read_sets(self, X, set_ids, reset=False)
        wanted = self._wanted(n_clusters, len(given.sets))
        return given.restore(
            [self._labels(self._similarity(x), k) for x, k in zip(given.sets, wanted, strict=True)]
        )

    def relax(
        self, X: Table, set_ids: ArrayLike | None = None, n_clusters: Counts = None
    ) -> list[RelaxedClustering]:
        """The spectral answer of each set, not made a partition. Arguments as for `predict`."""
        check_is_fitted(self, "w_")
        given = read_sets(self, X, set_ids, reset=False)
        wanted = self._wanted(n_clusters, len(given.sets))
        matrices = [self._similarity(x) for x in given.sets]
        return [spectral.relax(K, self._count(K, k)) for K, k in zip(matrices, wanted, strict=True)]

    def set_losses(self, X: Table, y: object, set_ids: ArrayLike | None = None) -> Floats:
        """The loss of the prediction for each set, on a 0..100 scale.

        The normalised loss compares equal numbers of clusters only, so with it k is that of the truth, as in
        the papers; with another loss it is what `predict` takes.
        """
        given = read_sets(self, X, set_ids, reset=False)
        labels = read_labels(y, given)
        loss = as_loss(self.loss)
        known = [int(v.max()) + 1 for v in labels] if isinstance(loss, NormalisedLoss) else None
        predicted = self.predict(given.sets, n_clusters=known)
        return np.array([loss(t, p) for t, p in zip(labels, predicted, strict=True)])

    def losses_of_predictors(self, x: ItemSet, y: Labels) -> dict[str, float]:
        """Delta of each of the three predictors for one set, k that of the truth (section 4.5.2)."""
        k, scores, loss = (
            int(y.max()) + 1,
            PairScores(x.n_items, matrix=self._similarity(x)),
            as_loss(self.loss),
        )
        names = ["iterative", "spectral", "discrete"]
        if not isinstance(loss, NormalisedLoss):
            names.remove("spectral")
        searches = [make_oracle(n, n_init=self.n_init, random_state=self.random_state) for n in names]
        truth = ExampleLoss(loss, y)
        return {search.name: truth(search.predict(scores, k)) for search in searches}

    def _similarity(self, x: ItemSet) -> Floats:
        make_oracle("iterative").check_set(x)
        return np.asarray(x.similarity(self.w_)) + self.intercept_

    def _labels(self, K: Floats, wanted: int | None) -> Labels:
        found = self._predictor().predict(PairScores(len(K), matrix=K), self._count(K, wanted))
        assert isinstance(found, np.ndarray)
        return found

    def _predictor(self) -> Predictor:
        return make_predictor(self.predictor, "kmeans", n_init=self.n_init, random_state=self.random_state)

    def _count(self, K: Floats, wanted: int | None) -> int:
        """k for a set of this similarity."""
        if wanted is None:
            return count_clusters(K, *self.k_range_)
        return min(wanted, len(K))

    def _wanted(self, n_clusters: Counts, n_sets: int) -> Sequence[int | None]:
        given: Any = self.n_clusters if n_clusters is None else n_clusters
        if given is None or np.ndim(given) == 0:
            given = [given] * n_sets
        if len(given) != n_sets:
            raise ValueError(f"n_clusters names {len(given)} sets, X has {n_sets}")
        for k in given:
            if k is not None and not (isinstance(k, int | np.integer) and k >= 1):
                raise ValueError(f"n_clusters must be a whole number of at least 1, not {k!r}")
        return [None if k is None else int(k) for k in given]

    def check_prediction(self) -> None:
        """Refuse what cannot be, before any work."""
        self._predictor()
        if self.n_init < 1:
            raise ValueError(f"n_init must be at least 1, not {self.n_init}")
        self._wanted(None, 1)
        as_loss(self.loss)
