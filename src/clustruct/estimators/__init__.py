"""Thin scikit-learn classes over the other rooms."""

from .correlation import SupervisedCorrelationClustering
from .multilabel import MultiLabelMRF
from .pair_classifier import DefaultClustering, PairwiseClassifierClustering

__all__ = [
    "DefaultClustering",
    "MultiLabelMRF",
    "PairwiseClassifierClustering",
    "SupervisedCorrelationClustering",
]
