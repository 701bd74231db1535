"""From raw data to item sets."""

from .base import PairBlock
from .candidates import Candidates, candidate_pairs, pair_recall
from .constant import Constant
from .guess import field_kinds, guess_blocks
from .link_block import Links
from .links import link_pairs, links
from .lists import Lists
from .mentions import Mentions
from .numbers import Dates, Numbers
from .pair_features import PairFeatures
from .strings import Strings
from .terms import Terms
from .text import TextCosines
from .vectors import Vectors

__all__ = [
    "Candidates",
    "Constant",
    "Dates",
    "Links",
    "Lists",
    "Mentions",
    "Numbers",
    "PairBlock",
    "PairFeatures",
    "Strings",
    "Terms",
    "TextCosines",
    "Vectors",
    "candidate_pairs",
    "field_kinds",
    "guess_blocks",
    "link_pairs",
    "links",
    "pair_recall",
]
