"""Joint features, loss and oracle put together: ready-made structured problems."""

from .classification import BinaryProblem, MulticlassProblem
from .clustering import ClusteringProblem, Judged, SimilarityTask, Trained, Units, feature_scale, mean_squares
from .multilabel import MultiLabelProblem

__all__ = ["BinaryProblem", "ClusteringProblem", "MultiLabelProblem", "MulticlassProblem"]
__all__ += ["Judged", "SimilarityTask", "Trained", "Units", "feature_scale", "mean_squares"]
