"""Correlation clustering: maximise the sum of K_ab over the pairs put together, any number of clusters.

Each function takes a dense symmetric matrix or a sparse signed graph and works alone, on anyone's scores.
"""

from .bounds import alone, bounded
from .edge_degrees import EdgeDegrees, round_edges
from .exclusive import exclusive
from .programs import exact, lp_relaxation
from .search import greedy, local_search, objective, positive_components

__all__ = [
    "EdgeDegrees",
    "alone",
    "bounded",
    "exact",
    "exclusive",
    "greedy",
    "local_search",
    "lp_relaxation",
    "objective",
    "positive_components",
    "round_edges",
]
