"""Solvers of the structural SVM by name: what ``formulation=`` of `clustruct.ssvm.fit` is looked up in."""

from .base import Solver
from .n_slack import NSlack
from .one_slack import OneSlack
from .smoothed import Smoothed

SOLVERS: dict[str, type[Solver]] = {solver.name: solver for solver in (NSlack, OneSlack, Smoothed)}

__all__ = ["SOLVERS", "NSlack", "OneSlack", "Smoothed", "Solver"]
