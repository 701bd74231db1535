"""The structural SVM engine. It knows nothing of clustering."""

from .constraints import ConstraintBatch, Constraints
from .fit import fit
from .kernels import Kernel, KernelModel, VectorSum
from .problem import BatchProblem, OracleKind, StructuredProblem
from .result import Certificate, FitResult, Iteration
from .segments import BlockRows
from .slack_rule import SlackRule

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
    "SlackRule",
    "StructuredProblem",
    "VectorSum",
    "fit",
]
