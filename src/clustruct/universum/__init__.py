"""Maximum-margin clustering that is told which documents belong to none of the clusters (SPEC 7)."""

from . import sources
from .cccp import CCCPResult, CCCPStep, descend
from .convex_step import solve_convex
from .problem import MarginProblem

__all__ = ["CCCPResult", "CCCPStep", "MarginProblem", "descend", "solve_convex", "sources"]
