"""Choosing C, and cutting a table into sets of whole clusters."""

from .choose_c import choose_C, split_sets
from .splits import split_by_clusters

__all__ = ["choose_C", "split_by_clusters", "split_sets"]
