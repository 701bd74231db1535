"""The oddities, by name: each a function of a sheet and a random state."""

from . import columns, files, labels, missing, numbers, rows, scripts, sources, texts, vectors  # noqa: F401
from .registry import ODDITIES, Oddity

__all__ = ["ODDITIES", "Oddity"]
