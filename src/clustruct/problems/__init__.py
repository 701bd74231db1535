"""Joint features, loss and oracle put together: ready-made structured problems."""

from .binary import BinaryProblem
from .correlation import CorrelationProblem
from .multiclass import MulticlassProblem

__all__ = ["BinaryProblem", "CorrelationProblem", "MulticlassProblem"]
