"""From scores and evidence to groups: the one way in which a prediction is made of the scores of pairs.

In: scores of pairs, what is known of items, what is asked of groups. Out: `Grouping`. Nothing here reads
tables or knows estimators.
"""

from .confidence import ItemConfidence, item_confidence, symmetric_scores
from .grouping import group_scores, search_groups

__all__ = ["ItemConfidence", "group_scores", "item_confidence", "search_groups", "symmetric_scores"]
