"""scikit-learn estimators over the rooms below."""

from .correlation import SupervisedCorrelationClustering

__all__ = ["SupervisedCorrelationClustering"]
