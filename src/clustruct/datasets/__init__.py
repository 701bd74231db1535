"""Generators of item sets."""

from .marbles import Marbles, make_marbles

__all__ = ["Marbles", "make_marbles"]
