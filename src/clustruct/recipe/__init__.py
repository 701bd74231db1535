"""From raw sets to a fitted pipeline, and back to clusters."""

from typing import TYPE_CHECKING

from clustruct._lazy import lazy_names

if TYPE_CHECKING:
    from .exports import add_to_graph, group_table, scored_pairs, wide_table
    from .judging import judged_pairs
    from .learners import LEARNERS
    from .learning import PART_SIZE, Recipe
    from .trained import HeldOut, was_interrupted
    from .unlabelled import features_of, fit_without_labels, guessed

__all__ = [
    "LEARNERS",
    "PART_SIZE",
    "HeldOut",
    "Recipe",
    "add_to_graph",
    "features_of",
    "fit_without_labels",
    "group_table",
    "guessed",
    "judged_pairs",
    "scored_pairs",
    "was_interrupted",
    "wide_table",
]

__getattr__, __dir__ = lazy_names(__name__)
