"""The structural SVM engine. It knows nothing of clustering."""

from clustruct.callbacks import Iteration
from clustruct.slack_rule import Scaling, SlackRule

from .constraints import ConstraintBatch, Constraints
from .kernels import Kernel, KernelModel, VectorSum
from .problem import BatchProblem, OracleKind, StructuredProblem
from .result import Certificate, FitResult
from .segments import BlockRows, PieceRows
from .separation import Softened
from .training import Formulation, fit

__all__ = [
    "BatchProblem",
    "BlockRows",
    "Certificate",
    "ConstraintBatch",
    "Constraints",
    "FitResult",
    "Formulation",
    "Iteration",
    "Kernel",
    "KernelModel",
    "OracleKind",
    "PieceRows",
    "Scaling",
    "SlackRule",
    "Softened",
    "StructuredProblem",
    "VectorSum",
    "fit",
]
