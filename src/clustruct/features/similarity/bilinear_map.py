"""A full matrix W between two nodes, as columns: K_ab = z_a' W z_b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD

from clustruct.core.storage import EstimatorState, Shape, register
from clustruct.core.typing import Floats
from clustruct.data import ItemSet

from .base import dense


@register("FullProducts")
@dataclass(eq=False, repr=False)
class FullProducts(EstimatorState, TransformerMixin, BaseEstimator):
    """K_ab = z_a' W z_b for any symmetric W, with z = node P: a linear model on all products of two entries.

    The columns are z_ai z_bi, and z_ai z_bj + z_aj z_bi for i < j: d (d + 1) / 2 of them (the symmetrised
    outer product; not a kernel of degree 2 on the products). P has the leading directions of all training
    nodes by `TruncatedSVD` where there are more than ``n_components`` features. Pair features stay.

    Examples
    --------
    >>> x = ItemSet(nodes=[[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
    >>> made = FullProducts().fit_transform([x])[0]
    >>> made.pairs[0]
    array([ 3., 10.,  8.])
    """

    fitted: ClassVar = {"n_features_in_": int, "projection_": Shape(("n_features_in_", None))}

    n_components: int = 20
    random_state: int = 0

    def fit(self, X: Sequence[ItemSet], y: Any = None) -> Self:
        """Learn the projection."""
        nodes = [_nodes(x) for x in X]
        self.n_features_in_ = n = int(nodes[0].shape[1])
        self.projection_ = np.eye(n)
        if n > self.n_components:
            stacked = sparse.vstack([sparse.csr_array(A) for A in nodes], format="csr")
            svd = TruncatedSVD(self.n_components, random_state=self.random_state).fit(stacked)
            self.projection_ = np.ascontiguousarray(svd.components_.T)
        return self

    def transform(self, X: Sequence[ItemSet]) -> list[ItemSet]:
        """The sets with products in the place of nodes."""
        return [self._products(x) for x in X]

    def _products(self, x: ItemSet) -> ItemSet:
        Z = np.asarray(_nodes(x) @ self.projection_)
        index = x.pair_list
        own = outer(Z[index[:, 0]], Z[index[:, 1]])
        names = [f"{i + 1} x {j + 1}" for i, j in zip(*np.triu_indices(Z.shape[1]), strict=True)]
        kept = [] if x.feature_names is None else list(x.feature_names[x.n_node_features :])
        named = x.feature_names is not None or x.pairs is None
        pairs = own if x.pairs is None else np.hstack([own, dense(x.pairs)])
        diagonal = outer(Z, Z)
        if x.pairs is not None:
            diagonal = np.hstack([diagonal, np.zeros((len(Z), x.n_pair_features))])
        return ItemSet(
            pairs=pairs,
            pair_index=x.pair_index,
            pair_diagonal=diagonal,
            ids=x.ids,
            feature_names=names + kept if named else None,
            n_items=x.n_items,
            sources=x.sources,
        )


def outer(A: Floats, B: Floats) -> Floats:
    """a_i b_i, and a_i b_j + a_j b_i for i < j, of each two rows."""
    i, j = np.triu_indices(A.shape[1])
    both = A[:, i] * B[:, j] + A[:, j] * B[:, i]
    return np.where(i == j, both / 2.0, both)


def _nodes(x: ItemSet) -> Any:
    if x.nodes is None:
        raise ValueError("full products need node features")
    return x.nodes
