"""Thin scikit-learn classes over the other rooms."""

from .correlation import SupervisedCorrelationClustering
from .kmeans import SupervisedKMeans
from .kmeans_baselines import PairKMeans, UntrainedKMeans
from .multilabel import MultiLabelMRF
from .pair_classifier import DefaultClustering, PairwiseClassifierClustering
from .universum import UniversumClustering

__all__ = [
    "DefaultClustering",
    "MultiLabelMRF",
    "PairKMeans",
    "PairwiseClassifierClustering",
    "SupervisedCorrelationClustering",
    "SupervisedKMeans",
    "UniversumClustering",
    "UntrainedKMeans",
]
