"""Scores of a predicted partition against the true one.

Each score is `f(y_true, y_pred)` on one item set; `evaluate` takes lists of labelings and gives every
score per set, averaged over sets (macro), and pooled over sets where the score is a ratio of counts (micro).
"""

from .evaluation import Evaluation, evaluate, get_scorer
from .scores import (
    Fractions,
    Scores,
    adjusted_rand_index,
    b_cubed,
    brier_skill,
    calibration_error,
    ceaf_entity,
    ceaf_mention,
    lea,
    matched_accuracy,
    muc,
    normalized_mutual_information,
    pairwise_scores,
    rand_index,
    variation_of_information,
)
from .significance import (
    BestComparison,
    PairedComparison,
    compare_paired,
    compare_with_best,
    lower_is_better,
)

__all__ = [
    "BestComparison",
    "Evaluation",
    "Fractions",
    "PairedComparison",
    "Scores",
    "adjusted_rand_index",
    "b_cubed",
    "brier_skill",
    "calibration_error",
    "ceaf_entity",
    "ceaf_mention",
    "compare_paired",
    "compare_with_best",
    "evaluate",
    "get_scorer",
    "lea",
    "lower_is_better",
    "matched_accuracy",
    "muc",
    "normalized_mutual_information",
    "pairwise_scores",
    "rand_index",
    "variation_of_information",
]
