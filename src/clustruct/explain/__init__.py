"""Why a model groups as it does: pairs, errors against the truth, and confidence in items and clusters.

examine              all of it for one raw set
pair_contributions   why these two are together: the contribution of each feature to their similarity
split_merge          which true clusters were split and which were merged, worst first
wrong_pairs          wrong pairs of which the model is most confident
item_confidence      the score lost by the best other place of each item
cluster_confidence   the score lost by the best other shape of each cluster
"""

from .clusters import ClusterMove, cluster_confidence
from .errors import Mixture, Piece, SplitMerge, split_merge
from .examine import SetFindings, examine, transformed
from .items import ItemConfidence, item_confidence
from .mistakes import WrongPair, wrong_pairs
from .models import model_weights, objective_of
from .pairs import PairExplanation, pair_contributions

__all__ = [
    "ClusterMove",
    "ItemConfidence",
    "Mixture",
    "PairExplanation",
    "Piece",
    "SetFindings",
    "SplitMerge",
    "WrongPair",
    "cluster_confidence",
    "examine",
    "item_confidence",
    "model_weights",
    "objective_of",
    "pair_contributions",
    "split_merge",
    "transformed",
    "wrong_pairs",
]
