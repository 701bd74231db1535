"""Correlation clustering: maximise the sum of K_ab over the pairs put together, any number of clusters.

Each function takes a dense symmetric matrix or a sparse signed graph and works alone, on anyone's scores.
"""

from .merging import greedy
from .moving import local_search
from .scores import objective

__all__ = ["greedy", "local_search", "objective"]
