"""Blocking: the few pairs of a large set that are worth comparing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from clustruct._typing import Ints
from clustruct.partitions import canonical_labels, partial_labels
from clustruct.records import RawSet, as_text
from clustruct.storage import EstimatorState, register

from .base import check_distinct, check_names
from .terms import TermCounts, TermWeights, codes, letter_ngrams, words

ROWS_AT_ONCE = 512
# However large the clusters seen in training are, an item gets no more neighbours for it.
MOST_NEIGHBOURS = 100
_VIEWS = {"words": lambda text: [*words(text), *codes(text)], "letters": letter_ngrams}


@register("Blocking")
@dataclass(eq=False, repr=False)
class Blocking(EstimatorState, BaseEstimator):
    """Pairs of a large set that share a rare term or are near in tf-idf space; the rest are taken as apart.

    Parameters
    ----------
    fields : fields whose words are looked at, all together (None: all fields of the items)
    n_neighbors : each item is paired with so many others whose tf-idf vectors are nearest (by cosine); with
        as many as the largest cluster has, up to 100, where training sets with labels have larger ones
    n_neighbors_by_field : and with so many whose vectors of one field are, for fields of two words and more
    rare : items that share a term of at most so many items are paired
    common : terms of more than so many items, and of more than `common_share` of all, are not looked at. That
        bounds the cost: items times terms of an item times `common`.
    view : "words" (and codes such as model numbers), or "letters" (triples, for misspelt names; slower)
    from_size : sets of fewer items get all pairs

    >>> raw = RawSet([{"t": "red x-100"}, {"t": "x100 tv red"}, {"t": "blue tv"}, {"t": "red car"}])
    >>> Blocking(n_neighbors=1, rare=2).fit([raw]).pairs(raw).tolist()
    [[0, 1], [0, 3], [1, 2]]
    """

    fitted: ClassVar = {"fields_": list, "weights_": dict, "n_neighbors_": int}

    fields: Sequence[str] | None = None
    n_neighbors: int = 10
    n_neighbors_by_field: int = 5
    rare: int = 3
    common: int = 200
    common_share: float = 0.01
    view: str = "words"
    from_size: int = 1000

    def check_parameters(self) -> None:
        """ValueError that names a parameter which is not what it must be."""
        if self.fields is not None:
            check_names(self.fields, "fields")
        for name in ("n_neighbors", "n_neighbors_by_field", "rare", "common", "from_size"):
            _check_count(getattr(self, name), name)
        share = self.common_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ValueError(f"common_share must be in 0..1, not {share!r}")
        if not isinstance(self.view, str) or self.view not in _VIEWS:
            raise ValueError(f"view must be one of {', '.join(_VIEWS)}, not {self.view!r}")

    def fit(self, sets: Sequence[RawSet], y: object = None) -> Self:
        """Learn how rare terms are."""
        self.check_parameters()
        fields = list(self.fields or dict.fromkeys(f for raw in sets for f in raw.fields()))
        self.weights_ = {"": TermWeights.of(TermCounts(t for raw in sets for t in self._terms(raw, fields)))}
        for field in fields if len(fields) > 1 and self.n_neighbors_by_field else ():
            terms = [t for raw in sets for t in self._terms(raw, [field])]
            if sum(map(len, terms)) >= 2 * sum(len(t) > 0 for t in terms) > 0:
                self.weights_[field] = TermWeights.of(TermCounts(terms))
        self.fields_ = fields
        clusters = [partial_labels(raw.labels) for raw in sets if raw.labels is not None]
        largest = max((int(np.bincount(y[y >= 0], minlength=1).max()) for y in clusters), default=1)
        wanted = max(self.n_neighbors, min(largest - 1, MOST_NEIGHBOURS))
        self.n_neighbors_ = wanted if self.n_neighbors else 0
        return self

    def _terms(self, raw: RawSet, fields: Sequence[str]) -> list[list[str]]:
        split = _VIEWS[self.view]
        columns = [[as_text(v) for v in raw.column(f)] for f in fields]
        return [split(" \n ".join(row)) for row in zip(*columns, strict=True)] or [[] for _ in raw.items]

    def lists(self, raw: RawSet) -> bool:
        """Whether the set is large enough for a list of pairs."""
        return len(raw) >= self.from_size

    def pairs(self, raw: RawSet) -> Ints:
        """The pairs a < b, sorted."""
        found = np.unique(np.concatenate([self._keys(raw, field) for field in self.weights_]))
        return np.column_stack(np.divmod(found, len(raw))).astype(np.int64)

    def _keys(self, raw: RawSet, field: str) -> Ints:
        """The pairs found by one field's words, or by all ("")."""
        m = len(raw)
        rows = self.weights_[field].rows(self._terms(raw, [field] if field else self.fields_))
        X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(m, len(rows.idf)))
        count = np.bincount(rows.indices, minlength=X.shape[1])
        limit = max(self.common, int(self.common_share * m))
        near, shared = (X[:, np.flatnonzero((count > 1) & (count <= most))] for most in (limit, self.rare))
        if field:
            return _nearest(near, self.n_neighbors_by_field)
        both = sparse.coo_array(sparse.triu(shared @ shared.T, 1))
        return np.concatenate([_nearest(near, self.n_neighbors_), both.row.astype(np.int64) * m + both.col])

    def check_fitted(self) -> None:
        """ValueError where the fitted attributes do not fit each other."""
        check_distinct(self.fields_, "fields")
        _check_count(self.n_neighbors_, "n_neighbors")
        tables = all(isinstance(table, TermWeights) for table in self.weights_.values())
        if not tables or not {""} <= set(self.weights_) <= {"", *self.fields_}:
            raise ValueError("the tables of the blocking are not those of their fields")


def _check_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= 2**53:
        raise ValueError(f"{name} must be a whole number from 0 on, not {value!r}")


def _nearest(X: sparse.csr_array, n_neighbors: int) -> Ints:
    """The nearest neighbours of each item, as keys a m + b with a < b."""
    m, keys = X.shape[0], [np.zeros(0, np.int64)]
    back = sparse.csr_array(X.T)
    for low in range(0, m if n_neighbors else 0, ROWS_AT_ONCE):
        cosines = sparse.csr_array(X[low : low + ROWS_AT_ONCE] @ back)
        for k in range(cosines.shape[0]):
            a, span = low + k, slice(cosines.indptr[k], cosines.indptr[k + 1])
            others, value = cosines.indices[span].astype(np.int64), cosines.data[span]
            others, value = others[others != a], value[others != a]
            if len(others) > n_neighbors:
                others = others[np.argpartition(-value, n_neighbors - 1)[:n_neighbors]]
            keys.append(np.minimum(others, a) * m + np.maximum(others, a))
    return np.concatenate(keys)


def pair_recall(raw: RawSet, pairs: Ints) -> float:
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
