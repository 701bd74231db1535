"""From raw data to item sets."""

from .base import PairBlock
from .constant import Constant
from .links import link_pairs, links
from .pair_features import PairFeatures

__all__ = ["Constant", "PairBlock", "PairFeatures", "link_pairs", "links"]
