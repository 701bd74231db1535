"""Item sets: a linear map from weights to similarities, and its adjoint."""

from .item_set import ItemSet, as_item_set

__all__ = ["ItemSet", "as_item_set"]
