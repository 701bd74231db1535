"""What is wrong with a file, in one line that says where."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DataError", "ModelFileError", "NoLabels", "place"]


class DataError(ValueError):
    """A data file that cannot be used. The message begins with file and line."""


class NoLabels(DataError):
    """Data in which the right clusters, or some of them, are missing."""


class ModelFileError(ValueError):
    """A model file that is damaged, cut short, foreign, or of a later format."""


def place(path: str | Path | None, line: int | None = None) -> str:
    """Where something stands, as editors understand it; without a path, a table in memory.

    >>> place("news.jsonl", 3), place(None, 3)
    ('news.jsonl:3', 'row 3')
    """
    if path is None:
        return "the table" if line is None else f"row {line}"
    return str(path) if line is None else f"{path}:{line}"
