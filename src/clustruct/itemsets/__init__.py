"""Item sets: a linear map from weights to similarities, and its adjoint."""

from .item_set import ItemSet, as_item_set, pair_table
from .pair_algebra import Matrix, MatrixLike

__all__ = ["ItemSet", "Matrix", "MatrixLike", "as_item_set", "pair_table"]
