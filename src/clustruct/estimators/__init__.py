"""Thin scikit-learn classes over the other rooms."""

from .correlation import SupervisedCorrelationClustering
from .cpm3c import CPM3C
from .document_baselines import CLGR, PLSA
from .kmeans import SupervisedKMeans
from .kmeans_baselines import PairKMeans, UntrainedKMeans
from .multilabel import MultiLabelMRF
from .pair_classifier import DefaultClustering, PairwiseClassifierClustering
from .universum import UniversumClustering

__all__ = [
    "CLGR",
    "CPM3C",
    "PLSA",
    "DefaultClustering",
    "MultiLabelMRF",
    "PairKMeans",
    "PairwiseClassifierClustering",
    "SupervisedCorrelationClustering",
    "SupervisedKMeans",
    "UniversumClustering",
    "UntrainedKMeans",
]
