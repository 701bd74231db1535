"""Joint features, loss and oracle put together: ready-made structured problems."""

from .multiclass import MulticlassProblem

__all__ = ["MulticlassProblem"]
