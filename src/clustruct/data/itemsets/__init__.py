"""Item sets: a linear map from weights to similarities, and its adjoint; scores of pairs."""

from .item_set import ItemSet, as_item_set, pair_table, with_distances
from .pairs import Matrix, MatrixLike, all_pairs
from .scores import PairScores

__all__ = ["ItemSet", "Matrix", "MatrixLike", "PairScores", "all_pairs", "as_item_set", "pair_table"]
__all__ += ["with_distances"]
