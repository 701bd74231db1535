"""Blocking: the few pairs of a large set that are worth comparing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from clustruct.partitions import canonical_labels
from clustruct.rawsets import RawSet

from . import checks
from .base import Pairs, State
from .term_weights import TermWeights
from .words import as_text, codes, letter_ngrams, words

__all__ = ["Candidates", "candidate_pairs", "pair_recall"]

ROWS_AT_ONCE = 512
_VIEWS = {"words": lambda text: [*words(text), *codes(text)], "letters": letter_ngrams}


class Candidates(BaseEstimator):
    """Pairs of a large set that share a rare term or are near in tf-idf space; the rest are taken as apart.

    Parameters
    ----------
    fields : fields whose words are looked at, all together (None: all fields of the items)
    neighbours : each item is paired with so many others whose tf-idf vectors are nearest (by cosine)
    rare : items that share a term of at most so many items are paired
    common : terms of more than so many items, and of more than `common_share` of all, are not looked at. That
        bounds the cost: items times terms of an item times `common`.
    view : "words" (and codes such as model numbers), or "letters" (triples, for misspelt names; slower)
    from_size : sets of fewer items get all pairs

    >>> raw = RawSet([{"t": "red x-100"}, {"t": "x100 tv red"}, {"t": "blue tv"}, {"t": "red car"}])
    >>> Candidates(neighbours=1, rare=2).fit([raw]).pairs(raw).tolist()
    [[0, 1], [0, 3], [1, 2]]
    """

    def __init__(
        self,
        fields: Sequence[str] | None = None,
        neighbours: int = 10,
        rare: int = 3,
        common: int = 200,
        common_share: float = 0.01,
        view: str = "words",
        from_size: int = 1000,
    ) -> None:
        self.fields = fields
        self.neighbours = neighbours
        self.rare = rare
        self.common = common
        self.common_share = common_share
        self.view = view
        self.from_size = from_size

    def _check(self) -> None:
        if self.fields is not None:
            checks.names_of_fields(self.fields)
        for name in ("neighbours", "rare", "common", "from_size"):
            checks.whole(getattr(self, name), name)
        share = self.common_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ValueError(f"common_share must be in 0..1, not {share!r}")
        if not isinstance(self.view, str) or self.view not in _VIEWS:
            raise ValueError(f"view must be one of {', '.join(_VIEWS)}, not {self.view!r}")

    def fit(self, sets: Sequence[RawSet], y: Any = None) -> Self:
        """Learn how rare terms are."""
        self._check()
        self.weights_ = TermWeights().fit(terms for raw in sets for terms in self._terms(raw))
        return self

    def _terms(self, raw: RawSet) -> list[list[str]]:
        columns = [[as_text(v) for v in raw.column(f)] for f in self.fields or raw.fields()]
        split = _VIEWS[self.view]
        return [split(" \n ".join(row)) for row in zip(*columns, strict=True)] or [[] for _ in raw.items]

    def lists(self, raw: RawSet) -> bool:
        """Whether the set is large enough for a list of pairs."""
        return len(raw) >= self.from_size

    def pairs(self, raw: RawSet) -> Pairs:
        """The pairs a < b, sorted."""
        m = len(raw)
        rows = self.weights_.rows(self._terms(raw))
        X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(m, len(rows.idf)))
        count = np.bincount(rows.indices, minlength=X.shape[1])
        limit = max(self.common, int(self.common_share * m))
        keys = [self._near(_keep(X, (count > 1) & (count <= limit)))]
        if self.rare > 1:
            shared = _keep(X, (count > 1) & (count <= self.rare))
            both = sparse.coo_array(sparse.triu(shared @ shared.T, 1))
            keys.append(both.row.astype(np.int64) * m + both.col)
        found = np.unique(np.concatenate(keys))
        return np.column_stack([found // m, found % m]).astype(np.int64)

    def _near(self, X: sparse.csr_array) -> Any:
        """The nearest neighbours of each item, as keys a m + b with a < b."""
        m, keys = X.shape[0], [np.zeros(0, np.int64)]
        back = sparse.csr_array(X.T)
        for low in range(0, m if self.neighbours else 0, ROWS_AT_ONCE):
            cosines = sparse.csr_array(X[low : low + ROWS_AT_ONCE] @ back)
            for k in range(cosines.shape[0]):
                a, span = low + k, slice(cosines.indptr[k], cosines.indptr[k + 1])
                others, value = cosines.indices[span].astype(np.int64), cosines.data[span]
                others, value = others[others != a], value[others != a]
                if len(others) > self.neighbours:
                    others = others[np.argpartition(-value, self.neighbours - 1)[: self.neighbours]]
                keys.append(np.minimum(others, a) * m + np.maximum(others, a))
        return np.concatenate(keys)

    def state(self) -> State:
        """Parameters and what was learned, as JSON values and arrays."""
        return {"parameters": self.get_params(deep=False), "learned": self.weights_.learned()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Candidates:
        """The fitted blocking of a state; ValueError where it is not one."""
        try:
            self = cls(**checks.part(state, "parameters"))
        except TypeError as error:
            raise ValueError(f"the state of the candidates is damaged: {error}") from None
        self._check()
        self.weights_ = TermWeights.restored(checks.part(state, "learned"))
        return self


def _keep(X: sparse.csr_array, wanted: Any) -> sparse.csr_array:
    """The columns that are wanted, the rest dropped."""
    return sparse.csr_array(X[:, np.flatnonzero(wanted)])


def candidate_pairs(raw: RawSet, **options: Any) -> Pairs:
    """The pairs of one set that are worth comparing; options are the parameters of `Candidates`.

    >>> candidate_pairs(RawSet([{"t": "a b"}, {"t": "a"}, {"t": "c"}])).tolist()
    [[0, 1]]
    """
    return Candidates(**options).fit([raw]).pairs(raw)


def pair_recall(raw: RawSet, pairs: Pairs) -> float:
    """The share of the pairs that belong together which are listed: what blocking leaves possible.

    >>> pair_recall(RawSet([{}, {}, {}], labels=[1, 1, 1]), np.array([[0, 1], [0, 2]]))
    0.6666666666666666
    """
    if raw.labels is None:
        raise ValueError(f"{raw.title}: recall needs labels")
    y = canonical_labels(raw.labels)
    sizes = np.bincount(y)
    together = float((sizes * (sizes - 1) // 2).sum())
    return float(np.count_nonzero(y[pairs[:, 0]] == y[pairs[:, 1]])) / together if together else 1.0
