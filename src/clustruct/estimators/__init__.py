"""Thin scikit-learn classes over the layers below."""

from typing import TYPE_CHECKING

from clustruct._lazy import lazy_names

if TYPE_CHECKING:
    from .agglomerative import SupervisedAgglomerative
    from .correlation import SupervisedCorrelationClustering
    from .kmeans import SupervisedKMeans
    from .multilabel import MultiLabelMRF
    from .universum import UniversumClustering

__all__ = ["MultiLabelMRF", "SupervisedAgglomerative", "SupervisedCorrelationClustering", "SupervisedKMeans"]
__all__ += ["UniversumClustering"]

__getattr__, __dir__ = lazy_names(__name__)
