"""Maximum-margin clustering beside documents of no cluster (Zhang, Wang and Si 2011)."""

from importlib import import_module
from types import ModuleType

from .cccp import CCCPResult, CCCPStep, cccp
from .convex import solve_convex
from .estimator import UniversumClustering
from .problem import MarginProblem

__all__ = [
    "CCCPResult",
    "CCCPStep",
    "MarginProblem",
    "UniversumClustering",
    "cccp",
    "solve_convex",
    "sources",
]


def __getattr__(name: str) -> ModuleType:
    # Ways to choose a Universum load scikit-learn's mixtures, which training does not need.
    if name == "sources":
        return import_module("clustruct.papers.universum.sources")
    raise AttributeError(f"module 'clustruct.papers.universum' has no attribute {name!r}")
