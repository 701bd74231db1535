"""Features of mentions (noun phrases) in text."""

from .block import Mentions

__all__ = ["Mentions"]
