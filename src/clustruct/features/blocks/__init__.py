"""The kinds of pair features, one file each.

The order counts: a guess asks the kinds in the order of their registration, and so are its features ordered.
"""

# ruff: noqa: I001
from .strings import Strings
from .lists import Lists
from .vectors import Vectors
from .terms import Terms
from .text import TextCosines
from .numbers import Dates, Numbers
from .mentions import Mentions
from .links import Links
from .constant import Constant

__all__ = [
    "Constant",
    "Dates",
    "Links",
    "Lists",
    "Mentions",
    "Numbers",
    "Strings",
    "Terms",
    "TextCosines",
    "Vectors",
]
