"""A page that says what a model learned, how good it is, and where it is wrong or unsure."""

from .write import write_report

__all__ = ["write_report"]
