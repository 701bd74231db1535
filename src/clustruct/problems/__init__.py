"""Joint features, loss and oracle put together: ready-made structured problems."""

from .binary import BinaryProblem
from .multiclass import MulticlassProblem
from .multilabel import MultiLabelProblem

__all__ = ["BinaryProblem", "MultiLabelProblem", "MulticlassProblem"]
