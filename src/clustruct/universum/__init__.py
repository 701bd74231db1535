"""Maximum-margin clustering that is told which documents belong to none of the clusters (SPEC 7)."""

from . import choice, sources
from .cccp import CCCPResult, CCCPStep, descend
from .problem import MarginProblem
from .two_view import solve_convex

__all__ = ["CCCPResult", "CCCPStep", "MarginProblem", "choice", "descend", "solve_convex", "sources"]
