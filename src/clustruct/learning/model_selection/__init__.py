"""Choosing C, and cutting a table into sets of whole clusters."""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .choose_c import choose_C, split_sets
    from .splits import split_by_clusters

__all__ = ["choose_C", "split_by_clusters", "split_sets"]

__getattr__, __dir__ = lazy_names(__name__)
