"""From raw data to item sets."""

from .base import PairBlock
from .blocking import Blocking, candidate_pairs, pair_recall
from .blocks.constant import Constant
from .blocks.links import Links
from .blocks.lists import Lists
from .blocks.mentions import Mentions
from .blocks.numbers import Dates, Numbers
from .blocks.strings import Strings
from .blocks.terms import Terms
from .blocks.text import TextCosines
from .blocks.vectors import Vectors
from .guess import field_kinds, guess_blocks
from .links import link_pairs, links
from .pair_features import PairFeatures

__all__ = [
    "Blocking",
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
