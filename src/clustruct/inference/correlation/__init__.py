"""Correlation clustering: maximise the sum of K_ab over the pairs put together, any number of clusters.

Each function takes a dense symmetric matrix or a sparse signed graph and works alone, on anyone's scores.
"""

from ..edge_degrees import EdgeDegrees
from .integer import exact
from .merging import greedy
from .moving import local_search
from .relaxation import lp_relaxation
from .rounding import round_edges
from .scores import objective

__all__ = ["EdgeDegrees", "exact", "greedy", "local_search", "lp_relaxation", "objective", "round_edges"]
