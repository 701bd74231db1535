"""From raw data to item sets."""

from .base import PairBlock
from .blocking import Blocking, pair_recall
from .blocks import (
    Constant,
    Dates,
    Links,
    Lists,
    Mentions,
    Numbers,
    Strings,
    Terms,
    TextCosines,
    Vectors,
)
from .blocks.mentions import pronouns
from .fields import field_kinds
from .guess import guess_blocks
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
    "field_kinds",
    "guess_blocks",
    "link_pairs",
    "links",
    "pair_recall",
    "pronouns",
]
