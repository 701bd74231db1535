"""The structural SVM: cutting planes in the primal and in the dual, with a certificate of what they reached.

In: a problem that separates. Out: weights and bounds. Nothing here knows of clusterings, items or features.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from clustruct.core.callbacks import Iteration
    from clustruct.losses.slack_rule import Scaling, SlackRule

    from . import solvers as solvers
    from .checkpoint import Identity
    from .dual_qp import WeightConstraints, weight_constraints
    from .kernelized import KernelModel, VectorSum
    from .planes import GramPlanes
    from .problem import BatchProblem, ConstraintBatch, Problem, SmoothedResult
    from .result import Certificate, FitResult, NothingLearned, OracleKind, PastTraining, Planes
    from .separation import (
        Constraints,
        Executor,
        JoblibExecutor,
        PieceRows,
        SerialExecutor,
        Session,
        executing,
    )
    from .solvers.base import Incumbent
    from .solvers.cutting_plane import Cut, CuttingPlaneResult, Risk, cutting_plane, solve_planes
    from .structural_svm import Formulation, fit

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
    "PastTraining",
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
    "weight_constraints",
]

__getattr__, __dir__ = lazy_names(__name__, "solvers")
