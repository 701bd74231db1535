"""From tables to a fitted model, and from a table and a model to groups: the one way for every surface.

In: tables, labels or evidence, options. Out: a pipeline, `Grouping`. Nothing here prints or reads files.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .exports import add_to_graph as add_to_graph
    from .exports import group_table as group_table
    from .exports import scored_pairs as scored_pairs
    from .exports import wide_table as wide_table
    from .learners import LEARNERS
    from .learners import was_interrupted as was_interrupted
    from .pipelines import model_weights as model_weights
    from .pipelines import objective_of as objective_of
    from .pipelines import tells_by_feature as tells_by_feature
    from .predict import blocking_recall as blocking_recall
    from .predict import check_correlation as check_correlation
    from .predict import group, group_sets, score_set
    from .predict import is_calibrated as is_calibrated
    from .predict import judge_pairs as judge_pairs
    from .predict import pipeline_with_cut as pipeline_with_cut
    from .predict import precision_dial as precision_dial
    from .predict import score_pairs as score_pairs
    from .predict import with_equal_rows as with_equal_rows
    from .recipe import PART_SIZE as PART_SIZE
    from .recipe import HeldOut, Recipe
    from .unlabelled import features_of as features_of
    from .unlabelled import fit_without_labels
    from .unlabelled import guess_pipeline as guess_pipeline
__getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "LEARNERS",
    "HeldOut",
    "Recipe",
    "fit_without_labels",
    "group",
    "group_sets",
    "score_set",
]
