"""Joint features, loss and oracle put together: ready-made structured problems."""

from .binary import BinaryProblem
from .correlation import CorrelationProblem
from .kmeans import KMeansProblem
from .multiclass import MulticlassProblem
from .multilabel import MultiLabelProblem

__all__ = ["BinaryProblem", "CorrelationProblem", "KMeansProblem", "MultiLabelProblem", "MulticlassProblem"]
