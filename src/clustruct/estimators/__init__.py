"""Thin scikit-learn classes over the layers below."""

from .agglomerative import SupervisedAgglomerative
from .correlation import SupervisedCorrelationClustering
from .kmeans import SupervisedKMeans
from .multilabel import MultiLabelMRF
from .universum import UniversumClustering

__all__ = ["MultiLabelMRF", "SupervisedAgglomerative", "SupervisedCorrelationClustering", "SupervisedKMeans"]
__all__ += ["UniversumClustering"]
