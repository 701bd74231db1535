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
    from .kernelized import KernelModel as KernelModel
    from .kernelized import VectorSum as VectorSum
    from .planes import GramPlanes as GramPlanes
    from .problem import BatchProblem, Problem
    from .problem import ConstraintBatch as ConstraintBatch
    from .problem import SmoothedResult as SmoothedResult
    from .result import Certificate as Certificate
    from .result import FitResult, NothingLearned
    from .result import OracleKind as OracleKind
    from .result import PastTraining as PastTraining
    from .result import Planes as Planes
    from .separation import Constraints as Constraints
    from .separation import Executor, JoblibExecutor, SerialExecutor, executing
    from .separation import PieceRows as PieceRows
    from .separation import Session as Session
    from .solvers.base import Incumbent as Incumbent
    from .solvers.cutting_plane import Cut as Cut
    from .solvers.cutting_plane import CuttingPlaneResult as CuttingPlaneResult
    from .solvers.cutting_plane import Risk as Risk
    from .solvers.cutting_plane import cutting_plane
    from .solvers.cutting_plane import solve_planes as solve_planes
    from .structural_svm import Formulation as Formulation
    from .structural_svm import fit

__all__ = ["BatchProblem", "Executor", "FitResult", "JoblibExecutor", "NothingLearned", "Problem"]
__all__ += ["SerialExecutor", "SlackRule", "cutting_plane", "executing", "fit", "weight_constraints"]

__getattr__, __dir__ = lazy_names(__name__, "solvers")
