"""Why a model groups as it does: pairs, errors against the truth, and confidence in items and clusters.

examine              all of it for one table
explain_pair         why these two are together: what each feature of a pipeline adds to their similarity
pair_contributions   the same for a clusterer alone, by its weights
unlisted_features    the features of a pair that was not compared, to be explained likewise
by_field             the same, summed by field; of many pairs: field_sums
field_sizes          how much each field counts in a model
counterfactual       the smallest change of fields that would part two items, or join them
split_merge          which true clusters were split and which were merged, worst first
wrong_pairs          wrong pairs of which the model is most confident
item_confidence      the score lost by the best other place of each item
cluster_confidence   the score lost by the best other shape of each cluster
suggested_splits     the part of each cluster of which most wrong pairs with the rest are expected
"""

from clustruct.learning import ItemConfidence, item_confidence

from .cluster_alternatives import ClusterMove, Split, cluster_confidence, suggested_splits
from .counterfactual import Change, Counterfactual, counterfactual
from .findings import (
    ClusterPiece,
    MixedCluster,
    SetFindings,
    SplitMerge,
    WrongPair,
    examine,
    item_set_of,
    split_merge,
    wrong_pairs,
)
from .pair_explanation import (
    FieldContribution,
    PairExplanation,
    by_field,
    explain_pair,
    feature_fields,
    field_sizes,
    field_sums,
    pair_contributions,
    unlisted_features,
)

__all__ = [
    "Change",
    "ClusterMove",
    "ClusterPiece",
    "Counterfactual",
    "FieldContribution",
    "ItemConfidence",
    "MixedCluster",
    "PairExplanation",
    "SetFindings",
    "Split",
    "SplitMerge",
    "WrongPair",
    "by_field",
    "cluster_confidence",
    "counterfactual",
    "examine",
    "explain_pair",
    "feature_fields",
    "field_sizes",
    "field_sums",
    "item_confidence",
    "item_set_of",
    "pair_contributions",
    "split_merge",
    "suggested_splits",
    "unlisted_features",
    "wrong_pairs",
]
