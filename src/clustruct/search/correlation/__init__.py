"""Correlation clustering: maximise the sum of K_ab over the pairs put together, any number of clusters.

Each function takes a dense symmetric matrix or a sparse signed graph and works alone, on anyone's scores.
"""

from .bounds import alone as alone
from .bounds import bounded_search
from .exclusive import exclusive, matching
from .graph import greedy, local_search, objective
from .graph import positive_components as positive_components
from .programs import EdgeDegrees as EdgeDegrees
from .programs import exact, lp_relaxation, round_edges

__all__ = ["bounded_search", "exact", "exclusive", "greedy", "local_search", "lp_relaxation", "matching"]
__all__ += ["objective", "round_edges"]
