"""From raw data to item sets."""

# The order counts: a guess asks the blocks in the order of their registration, and so its features come.
# ruff: noqa: I001
from importlib import import_module
from typing import Any

from .base import PairBlock
from .blocking import Blocking, pair_recall
from .blocks.strings import Strings
from .blocks.lists import Lists
from .blocks.vectors import Vectors
from .blocks.terms import Terms
from .blocks.elsewhere import Elsewhere
from .blocks.text import TextCosines
from .blocks.numbers import Dates, Numbers
from .blocks.mentions import Mentions
from .blocks.mentions.table import pronouns
from .blocks.links import Links, link_pairs, links
from clustruct.records import field_kinds
from .needs import FieldNeed
from .sources import Sources
from .guess import guess_blocks, guess_kind
from .likeness import likenesses
from .pair_features import Constant, PairFeatures, Rest, checked

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


def __getattr__(name: str) -> Any:
    # Loads scikit-learn's vectorisers and decompositions, which pairs do not need.
    if name == "DocumentVectors":
        return import_module("clustruct.features.documents").DocumentVectors
    raise AttributeError(f"module 'clustruct.features' has no attribute {name!r}")
