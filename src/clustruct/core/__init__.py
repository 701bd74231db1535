"""What everything else stands on: partitions, types, exceptions, callbacks, memory, text, files without code.

In: arrays, strings, paths. Out: the same, checked. Nothing here knows of items, features or learning.
"""

from .lazy import lazy_modules

__getattr__ = lazy_modules(__name__, "callbacks", "exceptions", "memory", "partitions", "storage")
