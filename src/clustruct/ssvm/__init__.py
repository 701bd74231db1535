"""The structural SVM: cutting planes in the primal and in the dual, with a certificate of what they reached.

In: a problem that separates. Out: weights and bounds. Nothing here knows of clusterings, items or features.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from clustruct.core.callbacks import Iteration as Iteration
    from clustruct.losses.slack_rule import Scaling as Scaling
    from clustruct.losses.slack_rule import SlackRule

    from . import solvers as solvers
    from .checkpoint import Identity as Identity
    from .dual_qp import WeightConstraints as WeightConstraints
    from .dual_qp import weight_constraints
    from .kernelized import KernelModel, VectorSum
    from .planes import GramPlanes as GramPlanes
    from .problem import BatchProblem, Problem
    from .problem import ConstraintBatch as ConstraintBatch
    from .problem import SmoothedResult as SmoothedResult
    from .result import Certificate, FitResult, NothingLearned, OracleKind, Planes
    from .result import PastTraining as PastTraining
    from .separation import Constraints, Executor, JoblibExecutor, SerialExecutor, Session, executing
    from .separation import PieceRows as PieceRows
    from .solvers.base import Incumbent as Incumbent
    from .solvers.cutting_plane import Cut as Cut
    from .solvers.cutting_plane import CuttingPlaneResult, cutting_plane
    from .solvers.cutting_plane import Risk as Risk
    from .solvers.cutting_plane import solve_planes as solve_planes
    from .structural_svm import Formulation, fit

__all__ = ["BatchProblem", "Certificate", "Constraints", "CuttingPlaneResult", "Executor", "FitResult"]
__all__ += [
    "Formulation",
    "JoblibExecutor",
    "KernelModel",
    "NothingLearned",
    "OracleKind",
    "Planes",
    "Problem",
]
__all__ += ["SerialExecutor", "Session", "SlackRule", "VectorSum", "cutting_plane", "executing", "fit"]
__all__ += ["weight_constraints"]

__getattr__, __dir__ = lazy_names(__name__, "solvers")
