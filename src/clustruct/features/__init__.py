"""From tables to item sets: which pairs are compared, how alike their fields are, maps of that.

In: tables. Out: pairs with features, names of these. Nothing here groups or learns weights.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .base import PairBlock
    from .base import likeness_features as likeness_features
    from .blocking import Blocking, Sources, pair_recall
    from .blocks import guess_blocks, guess_kind, look_at_fields
    from .blocks.links import Links, links
    from .blocks.mention_table import pronouns
    from .blocks.mentions import Mentions
    from .blocks.numbers import Dates, Numbers
    from .blocks.strings import Strings
    from .blocks.terms import Elsewhere, Lists, Terms
    from .blocks.text_cosines import TextCosines
    from .blocks.vectors import Vectors
    from .document_vectors import DocumentVectors
    from .pair_features import Constant, PairFeatures, check_tables
    from .pair_features import UncomparedPairs as UncomparedPairs

__all__ = [
    "Blocking",
    "Constant",
    "Dates",
    "DocumentVectors",
    "Elsewhere",
    "Links",
    "Lists",
    "Mentions",
    "Numbers",
    "PairBlock",
    "PairFeatures",
    "Sources",
    "Strings",
    "Terms",
    "TextCosines",
    "Vectors",
    "check_tables",
    "guess_blocks",
    "guess_kind",
    "links",
    "look_at_fields",
    "pair_recall",
    "pronouns",
]

__getattr__, __dir__ = lazy_names(__name__)
