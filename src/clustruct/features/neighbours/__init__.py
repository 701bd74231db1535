"""Likely pairs of a large set: nearest neighbours by shared terms, or by vectors."""

from .terms import TermNeighbours, keys_of, sorted_unique
from .vectors import nearest_vectors

__all__ = ["TermNeighbours", "keys_of", "nearest_vectors", "sorted_unique"]
