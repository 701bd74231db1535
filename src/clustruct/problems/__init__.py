"""Joint features, loss and oracle put together: ready-made structured problems."""

from .binary import BinaryProblem
from .clustering import ClusteringProblem
from .multiclass import MulticlassProblem
from .multilabel import MultiLabelProblem
from .units import Units

__all__ = ["BinaryProblem", "ClusteringProblem", "MultiLabelProblem", "MulticlassProblem", "Units"]
