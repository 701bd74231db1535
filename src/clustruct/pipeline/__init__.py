"""From a table to its groups, with a fitted pipeline of features and a clusterer.

In: tables, evidence, options. Out: `Grouping`. Everybody who scores or groups a table comes through here;
nothing here reads files, learns, or knows commands.
"""

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

__all__ = [
    "check_correlation",
    "group",
    "group_sets",
    "is_calibrated",
    "pipeline_with_cut",
    "precision_dial",
    "score_pairs",
    "score_set",
]
