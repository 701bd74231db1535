"""The structural SVM engine. It knows nothing of clustering."""

from clustruct.callbacks import Iteration
from clustruct.slack_rule import Scaling, SlackRule

from . import solvers
from .cutting_plane import Cut, CuttingPlaneResult, Risk, cutting_plane, solve_planes
from .dual_qp import WeightConstraints, weight_constraints
from .fit import Formulation, fit
from .kernelized import Kernel, KernelModel, VectorSum
from .planes import GramPlanes, Planes
from .problem import (
    BatchProblem,
    ConstraintBatch,
    Constraints,
    KnownQuality,
    OracleKind,
    PieceRows,
    PrefersFormulation,
    SmoothedResult,
    StructuredProblem,
    SupportsRules,
    SupportsSmoothing,
)
from .result import Certificate, FitResult, Incumbent

__all__ = [
    "BatchProblem",
    "Certificate",
    "ConstraintBatch",
    "Constraints",
    "Cut",
    "CuttingPlaneResult",
    "FitResult",
    "Formulation",
    "GramPlanes",
    "Incumbent",
    "Iteration",
    "Kernel",
    "KernelModel",
    "KnownQuality",
    "OracleKind",
    "PieceRows",
    "Planes",
    "PrefersFormulation",
    "Risk",
    "Scaling",
    "SlackRule",
    "SmoothedResult",
    "StructuredProblem",
    "SupportsRules",
    "SupportsSmoothing",
    "VectorSum",
    "WeightConstraints",
    "cutting_plane",
    "fit",
    "solve_planes",
    "solvers",
    "weight_constraints",
]
