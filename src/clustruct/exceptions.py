"""What is wrong with a file, in one line that says where."""

from __future__ import annotations


class DataError(ValueError):
    """A data file that cannot be used. The message begins with file and line."""


class NoLabels(DataError):
    """Data in which the right clusters, or some of them, are missing."""


class ModelFileError(ValueError):
    """A model file that is damaged, cut short, foreign, or of a later format."""


class DataWarning(UserWarning):
    """Data that can be used but is not what it was in training, or not what was meant."""
