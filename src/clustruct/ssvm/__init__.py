"""The structural SVM: cutting planes in the primal and in the dual, with a certificate of what they reached.

In: a problem that separates. Out: weights and bounds. Nothing here knows of clusterings, items or features.
"""

from clustruct.core.callbacks import Iteration
from clustruct.losses.slack_rule import Scaling, SlackRule

from . import solvers
from .certificate import Certificate
from .checkpoint import Identity
from .dual_qp import WeightConstraints, weight_constraints
from .fit import FitResult, Formulation, NothingLearned, fit
from .kernelized import KernelModel, VectorSum
from .planes import GramPlanes, Planes
from .problem import (
    BatchProblem,
    ConstraintBatch,
    OracleKind,
    Problem,
    SmoothedResult,
)
from .separation import Constraints, Executor, JoblibExecutor, PieceRows, SerialExecutor, Session, executing
from .solvers.base import Incumbent
from .solvers.cutting_plane import Cut, CuttingPlaneResult, Risk, cutting_plane, solve_planes

__all__ = [
    "BatchProblem",
    "Certificate",
    "ConstraintBatch",
    "Constraints",
    "Cut",
    "CuttingPlaneResult",
    "Executor",
    "FitResult",
    "Formulation",
    "GramPlanes",
    "Identity",
    "Incumbent",
    "Iteration",
    "JoblibExecutor",
    "KernelModel",
    "NothingLearned",
    "OracleKind",
    "PieceRows",
    "Planes",
    "Problem",
    "Risk",
    "Scaling",
    "SerialExecutor",
    "Session",
    "SlackRule",
    "SmoothedResult",
    "VectorSum",
    "WeightConstraints",
    "cutting_plane",
    "executing",
    "fit",
    "solve_planes",
    "solvers",
    "weight_constraints",
]
