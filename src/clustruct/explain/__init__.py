"""Why a model groups as it does: pairs, errors against the truth, and how sure each item and cluster is.

pair_contributions   why these two are together: the contribution of each feature to their similarity
split_merge          which true clusters were split and which were merged, worst first
wrong_pairs          the pairs the model is most sure of and wrong about
item_confidence      the score lost by the best other place of each item
cluster_confidence   the score lost by the best other shape of each cluster
"""

from .clusters import ClusterMove, cluster_confidence
from .errors import Mixture, Piece, SplitMerge, split_merge
from .items import ItemConfidence, item_confidence, objective_of
from .mistakes import WrongPair, wrong_pairs
from .pairs import PairExplanation, pair_contributions

__all__ = [
    "ClusterMove",
    "ItemConfidence",
    "Mixture",
    "PairExplanation",
    "Piece",
    "SplitMerge",
    "WrongPair",
    "cluster_confidence",
    "item_confidence",
    "objective_of",
    "pair_contributions",
    "split_merge",
    "wrong_pairs",
]
