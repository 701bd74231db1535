"""scikit-learn estimators over the rooms below."""

from .correlation import SupervisedCorrelationClustering
from .pair_classifier import DefaultClustering, PairwiseClassifierClustering

__all__ = ["DefaultClustering", "PairwiseClassifierClustering", "SupervisedCorrelationClustering"]
