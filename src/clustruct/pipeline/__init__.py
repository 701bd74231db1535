"""From tables to a fitted model, and from a table and a model to groups: the one way for every surface.

In: tables, labels or evidence, options. Out: a pipeline, `Grouping`. Nothing here prints or reads files.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .exports import add_to_graph, group_table, scored_pairs, wide_table
    from .judging import judged_pairs
    from .learners import LEARNERS
    from .learning import PART_SIZE, Recipe
    from .predict import (
        check_correlation,
        group,
        group_sets,
        is_calibrated,
        pipeline_with_cut,
        precision_dial,
        score_pairs,
        score_set,
    )
    from .trained import HeldOut, was_interrupted
    from .unlabelled import features_of, fit_without_labels, guessed
__getattr__, __dir__ = lazy_names(__name__, "similarity_models")

__all__ = [
    "LEARNERS",
    "PART_SIZE",
    "HeldOut",
    "Recipe",
    "add_to_graph",
    "check_correlation",
    "features_of",
    "fit_without_labels",
    "group",
    "group_sets",
    "group_table",
    "guessed",
    "is_calibrated",
    "judged_pairs",
    "pipeline_with_cut",
    "precision_dial",
    "score_pairs",
    "score_set",
    "scored_pairs",
    "was_interrupted",
    "wide_table",
]
