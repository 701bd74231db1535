"""Features of mentions (noun phrases) in text."""

from .block import Mentions
from .table import pronouns

__all__ = ["Mentions", "pronouns"]
