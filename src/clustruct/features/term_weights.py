"""How rare a term is (idf), learned from training sets and asked for new ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats, Ints

from . import _kernels, checks
from .base import State

Terms = Sequence[Sequence[str]]


class Likeness(NamedTuple):
    """Of each listed pair: cosine; shared weight over the smaller item's weight; rarest shared term."""

    cosine: Floats
    contained: Floats
    rarest: Floats


class TermWeights:
    """idf_t = log((1 + n) / (1 + df_t)) + 1, of n items df_t of which have the term.

    New sets bring new terms (that is their point: other stories, other persons). A term counts as often as
    the training items or the set at hand say, whichever is more, so that for training sets nothing changes.
    Terms of one training item only are not kept: in the set at hand they are counted anyway.

    >>> weights = TermWeights().fit([["a", "b"], ["a"], ["a", "c"]])
    >>> weights.words, weights.counts.tolist(), weights.n
    (['a'], [3.0], 3)
    >>> weights.compare([["a", "b"], ["a", "b"], ["c"]], np.array([[0, 1], [0, 2]])).cosine.round(3)
    array([1., 0.])
    """

    words: list[str]
    counts: Floats
    n: int

    def fit(self, items: Iterable[Sequence[str]]) -> TermWeights:
        seen: Counter[str] = Counter()
        self.n = 0
        for terms in items:
            seen.update(set(terms))
            self.n += 1
        kept = sorted(word for word, count in seen.items() if count > 1)
        self._take(kept, np.array([seen[word] for word in kept], dtype=np.float64))
        return self

    def _take(self, words: list[str], counts: Floats) -> None:
        self.words, self.counts = words, counts
        self._known = dict(zip(words, counts.tolist(), strict=True))

    def learned(self) -> State:
        return {"words": self.words, "counts": self.counts, "n": self.n}

    @classmethod
    def restored(cls, learned: Mapping[str, Any]) -> TermWeights:
        """From `learned`; ValueError where it cannot be such a state."""
        self = cls()
        words = checks.strings(learned, "words", distinct=True)
        self.n = checks.whole(checks.part(learned, "n"), "n")
        self._take(words, checks.numbers(learned, "counts", len(words), least=1.0))
        return self

    def rows(self, items: Terms) -> Rows:
        """The items of one set as sparse unit rows."""
        number: dict[str, int] = {}
        indptr, indices, data = [0], list[int](), list[int]()
        for terms in items:
            row = sorted((number.setdefault(t, len(number)), c) for t, c in Counter(terms).items())
            indices.extend(i for i, _ in row)
            data.extend(c for _, c in row)
            indptr.append(len(indices))
        index = np.array(indices, dtype=np.int64)
        idf = self._idf(number, index, len(items))
        top = float(np.log((1.0 + max(self.n, len(items))) / 2.0) + 1.0)
        return Rows(np.array(indptr, dtype=np.int64), index, np.array(data, dtype=np.float64), idf, top)

    def _idf(self, number: Mapping[str, int], index: NDArray[np.int64], m: int) -> Floats:
        here = np.bincount(index, minlength=len(number)).astype(np.float64)
        known = np.array([self._known.get(word, 0.0) for word in number])
        return np.asarray(np.log((1.0 + max(self.n, m)) / (1.0 + np.maximum(here, known))) + 1.0)

    def compare(self, items: Terms, pairs: Ints) -> Likeness:
        """The listed pairs of one set."""
        return self.rows(items).compare(pairs)


class Rows:
    """Sparse rows of term counts, made unit vectors of tf-idf; `top` is the idf of a term of one item."""

    def __init__(self, indptr: Any, indices: Any, counts: Floats, idf: Floats, top: float) -> None:
        self.indptr, self.indices, self.idf, self.top = indptr, indices, idf, top
        weighted = counts * idf[indices]
        norm = np.sqrt(np.add.reduceat(np.append(weighted**2, 0.0), indptr[:-1]))
        sizes = np.diff(indptr)
        self.data = weighted / np.repeat(np.where(sizes > 0, np.maximum(norm, 1e-300), 1.0), sizes)

    def compare(self, pairs: Ints) -> Likeness:
        """Cost: the listed pairs times the terms of an item."""
        a, b = pairs[:, 0], pairs[:, 1]
        out = np.zeros((len(pairs), 3))
        _kernels.compare_rows(self.indptr, self.indices, self.data, self.idf, a, b, out)
        total = _kernels.row_sums(self.indptr, self.indices, self.idf)
        smaller = np.minimum(total[a], total[b])
        contained = out[:, 1] / np.where(smaller > 0.0, smaller, 1.0)
        return Likeness(np.minimum(out[:, 0], 1.0), np.minimum(contained, 1.0), out[:, 2] / self.top)

    def shared_rare(self, pairs: Ints) -> Floats:
        """Sum over the shared terms of log(m / items of this set that have the term), through x / (1 + x)."""
        m = len(self.indptr) - 1
        here = np.bincount(self.indices, minlength=len(self.idf))
        rarity = np.log(m / np.maximum(here, 1.0))
        out = np.zeros((len(pairs), 3))
        _kernels.compare_rows(self.indptr, self.indices, self.data, rarity, pairs[:, 0], pairs[:, 1], out)
        return np.asarray(out[:, 1] / (1.0 + out[:, 1]))
