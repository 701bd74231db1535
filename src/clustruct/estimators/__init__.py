"""scikit-learn estimators over the rooms below."""

from .correlation import SupervisedCorrelationClustering
from .kmeans import SupervisedKMeans
from .kmeans_baselines import PairKMeans, UntrainedKMeans
from .pair_classifier import DefaultClustering, PairwiseClassifierClustering

__all__ = [
    "DefaultClustering",
    "PairKMeans",
    "PairwiseClassifierClustering",
    "SupervisedCorrelationClustering",
    "SupervisedKMeans",
    "UntrainedKMeans",
]
