"""From raw data to item sets: which pairs are looked at, how alike their fields are, maps of that.

In: tables. Out: pairs with features, names of these. Nothing here groups or learns weights.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from clustruct.data import field_kinds

    from .base import PairBlock
    from .blocking import Blocking, pair_recall
    from .blocks.elsewhere import Elsewhere
    from .blocks.links import Links, link_pairs, links
    from .blocks.lists import Lists
    from .blocks.mentions import Mentions
    from .blocks.mentions.mention_table import pronouns
    from .blocks.numbers import Dates, Numbers
    from .blocks.strings import Strings
    from .blocks.terms import Terms
    from .blocks.text import TextCosines
    from .blocks.vectors import Vectors
    from .documents import DocumentVectors
    from .guess import guess_blocks, guess_kind
    from .likeness import likenesses
    from .needs import FieldNeed
    from .pair_features import Constant, PairFeatures, Rest, checked
    from .sources import Sources

__all__ = [
    "Blocking",
    "Constant",
    "Dates",
    "DocumentVectors",
    "Elsewhere",
    "FieldNeed",
    "Links",
    "Lists",
    "Mentions",
    "Numbers",
    "PairBlock",
    "PairFeatures",
    "Rest",
    "Sources",
    "Strings",
    "Terms",
    "TextCosines",
    "Vectors",
    "checked",
    "field_kinds",
    "guess_blocks",
    "guess_kind",
    "likenesses",
    "link_pairs",
    "links",
    "pair_recall",
    "pronouns",
]

__getattr__, __dir__ = lazy_names(__name__)
