"""Maximisation over labelings of a pairwise Markov random field with binary labels (chapter 5).

Every search is called as ``f(unary, pairwise)`` with V node potentials and a symmetric V x V array of pair
potentials (the upper triangle counts), or with a batch: unary (B, V), pairwise (V, V) or (B, V, V).
"""

from .relaxations import RelaxedLabeling, graph_cut, linear_program
from .search import (
    MOST_LABELS,
    chow_liu_edges,
    closest_above,
    closest_below,
    combine,
    exact,
    forest,
    greedy,
    loopy_bp,
    max_product,
    most_violated,
    score,
    standard_form,
)

__all__ = [
    "MOST_LABELS",
    "RelaxedLabeling",
    "chow_liu_edges",
    "closest_above",
    "closest_below",
    "combine",
    "exact",
    "forest",
    "graph_cut",
    "greedy",
    "linear_program",
    "loopy_bp",
    "max_product",
    "most_violated",
    "score",
    "standard_form",
]
