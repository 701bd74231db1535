"""Maximisation over labelings of a pairwise Markov random field with binary labels (chapter 5).

Every search is called as ``f(unary, pairwise)`` with V node potentials and a symmetric V x V array of pair
potentials (the upper triangle counts), or with a batch: unary (B, V), pairwise (V, V) or (B, V, V).
"""

from .labelings import RelaxedLabeling
from .potentials import StandardForm, score, standard_form
from .relaxations import graph_cut, linear_program
from .search import (
    MOST_LABELS,
    closest_above,
    closest_below,
    combine,
    count_better,
    exact,
    greedy,
    loopy_bp,
    most_violated,
)
from .trees import chow_liu_edges, forest, max_product

__all__ = [
    "MOST_LABELS",
    "RelaxedLabeling",
    "StandardForm",
    "chow_liu_edges",
    "closest_above",
    "closest_below",
    "combine",
    "count_better",
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
