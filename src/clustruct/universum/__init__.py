"""Maximum-margin clustering with documents that belong to none of the clusters (a Universum)."""

from . import sources
from .cccp import CCCPResult, CCCPStep, cccp
from .convex_step import solve_convex
from .problem import MarginProblem

__all__ = ["CCCPResult", "CCCPStep", "MarginProblem", "cccp", "solve_convex", "sources"]
