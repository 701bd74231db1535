"""Likely pairs of a large set: nearest neighbours by shared terms, or by vectors."""

from .terms import TermKeys, TermNeighbours, keys_of, sorted_unique
from .vectors import nearest_vectors

__all__ = ["TermKeys", "TermNeighbours", "keys_of", "nearest_vectors", "sorted_unique"]
