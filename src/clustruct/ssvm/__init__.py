"""The structural SVM engine. It knows nothing of clustering."""

from .constraints import ConstraintBatch, Constraints
from .kernels import Kernel, KernelModel, VectorSum
from .problem import BatchProblem, OracleKind, StructuredProblem
from .result import Certificate, FitResult, Iteration
from .segments import BlockRows, PieceRows
from .slack_rule import SlackRule
from .training import fit

__all__ = [
    "BatchProblem",
    "BlockRows",
    "Certificate",
    "ConstraintBatch",
    "Constraints",
    "FitResult",
    "Iteration",
    "Kernel",
    "KernelModel",
    "OracleKind",
    "PieceRows",
    "SlackRule",
    "StructuredProblem",
    "VectorSum",
    "fit",
]
