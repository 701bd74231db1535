"""The learners that a recipe knows by name."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from clustruct.estimators import SupervisedAgglomerative, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.estimators.baselines import PairwiseClassifierClustering

# Learners by name. One of them is made with those parameters of the recipe that it has too.
LEARNERS: dict[str, type[BaseEstimator]] = {
    "correlation": SupervisedCorrelationClustering,
    "agglomerative": SupervisedAgglomerative,
    "kmeans": SupervisedKMeans,
    "pairs": PairwiseClassifierClustering,
}
