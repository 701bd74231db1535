"""Files that hold no code: an atomic write, and one container of a JSON header and arrays."""

from . import atomic, container

__all__ = ["atomic", "container"]
