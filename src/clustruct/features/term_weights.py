"""How rare a term is (idf), learned from training sets and asked for new ones; blocks that learn it."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.records import RawSet
from clustruct.storage import register

from . import checks
from .base import PairBlock

TermLists: TypeAlias = Sequence[Sequence[str]]


class Likeness(NamedTuple):
    """Of each listed pair: cosine; shared weight over the smaller item's weight; rarest shared term."""

    cosine: Floats
    contained: Floats
    rarest: Floats


class TermCounts:
    """Of n items, how many have each term: what `TermWeights` needs of a part of the training items.

    >>> both = TermCounts([["a", "b"]]) + TermCounts([["a", "a"]])
    >>> both.n, both.n_with["a"], both.n_with["b"]
    (2, 2, 1)
    """

    def __init__(self, items: Iterable[Sequence[str]] = ()) -> None:
        self.n, self.n_with = 0, Counter[str]()
        self.add(items)

    def add(self, items: Iterable[Sequence[str]]) -> None:
        """Count further items."""
        for terms in items:
            self.n_with.update(set(terms))
            self.n += 1

    def __add__(self, other: TermCounts) -> TermCounts:
        both = TermCounts()
        both.n, both.n_with = self.n + other.n, self.n_with + other.n_with
        return both


@register("TermWeights")
class TermWeights:
    """idf_t = log((1 + n) / (1 + df_t)) + 1, of n items df_t of which have the term.

    New sets bring new terms (that is their point: other stories, other persons). A term counts as often as
    the training items or the set at hand say, whichever is more, so that for training sets nothing changes.
    Terms of one training item only are not kept: in the set at hand they are counted anyway.

    >>> weights = TermWeights.of(TermCounts([["a", "b"], ["a"], ["a", "c"]]))
    >>> weights.words, weights.counts.tolist(), weights.n
    (['a'], [3.0], 3)
    >>> weights.compare([["a", "b"], ["a", "b"], ["c"]], np.array([[0, 1], [0, 2]])).cosine.round(3)
    array([1., 0.])
    """

    def __init__(self, words: list[str], counts: Floats, n: int) -> None:
        self.words, self.counts, self.n = words, counts, n
        self._known = dict(zip(words, counts.tolist(), strict=True))

    @classmethod
    def of(cls, counted: TermCounts) -> TermWeights:
        """The weights that counted items give."""
        kept = sorted(word for word, count in counted.n_with.items() if count > 1)
        return cls(kept, np.array([counted.n_with[word] for word in kept], dtype=np.float64), counted.n)

    def state(self) -> dict[str, Any]:
        """The terms and how many items have each."""
        return {"words": self.words, "counts": self.counts, "n": self.n}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TermWeights:
        """The weights of a state; ValueError where it cannot be one."""
        words = checks.strings(checks.part(state, "words"), "words", distinct=True)
        counts = checks.numbers(checks.part(state, "counts"), "counts", len(words), least=1.0)
        return cls(words, counts, checks.whole(checks.part(state, "n"), "n"))

    def rows(self, items: TermLists) -> Rows:
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

    def _idf(self, number: Mapping[str, int], index: Ints, m: int) -> Floats:
        here = np.bincount(index, minlength=len(number)).astype(np.float64)
        known = np.array([self._known.get(word, 0.0) for word in number])
        return np.asarray(np.log((1.0 + max(self.n, m)) / (1.0 + np.maximum(here, known))) + 1.0)

    def compare(self, items: TermLists, pairs: Ints) -> Likeness:
        """The listed pairs of one set."""
        return self.rows(items).compare(pairs)


class Rows:
    """Sparse rows of term counts, made unit vectors of tf-idf; `top` is the idf of a term of one item."""

    def __init__(self, indptr: Ints, indices: Ints, counts: Floats, idf: Floats, top: float) -> None:
        self.indptr, self.indices, self.idf, self.top = indptr, indices, idf, top
        weighted = counts * idf[indices]
        norm = np.sqrt(np.add.reduceat(np.append(weighted**2, 0.0), indptr[:-1]))
        sizes = np.diff(indptr)
        self.data = weighted / np.repeat(np.where(sizes > 0, np.maximum(norm, 1e-300), 1.0), sizes)

    def compare(self, pairs: Ints) -> Likeness:
        """Cost: the listed pairs times the terms of an item."""
        from ._kernels import row_sums

        dot, shared, rarest = self._shared(pairs, self.idf)
        total = row_sums(self.indptr, self.indices, self.idf)
        smaller = np.minimum(total[pairs[:, 0]], total[pairs[:, 1]])
        contained = shared / np.where(smaller > 0.0, smaller, 1.0)
        return Likeness(np.minimum(dot, 1.0), np.minimum(contained, 1.0), rarest / self.top)

    def shared_rare(self, pairs: Ints) -> Floats:
        """Sum over the shared terms of log(m / items of this set that have the term), through x / (1 + x)."""
        m = len(self.indptr) - 1
        here = np.bincount(self.indices, minlength=len(self.idf))
        _, shared, _ = self._shared(pairs, np.log(m / np.maximum(here, 1.0)))
        return np.asarray(shared / (1.0 + shared))

    def _shared(self, pairs: Ints, weight: Floats) -> Floats:
        """Rows: product of the unit vectors, weight of the shared terms, largest such weight."""
        from ._kernels import compare_rows

        out = np.zeros((len(pairs), 3))
        compare_rows(self.indptr, self.indices, self.data, weight, pairs[:, 0], pairs[:, 1], out)
        return out.T


class TermBlock(PairBlock[list[TermCounts]]):
    """A block with one table of term weights, or with one for each of several views of the items."""

    fitted: ClassVar = {"weights_": list}

    @property
    def n_tables(self) -> int:
        """How many views there are."""
        return 1

    @abstractmethod
    def terms(self, raw: RawSet) -> list[TermLists]:
        """For each view the terms of each item."""

    def summarise(self, sets: Sequence[RawSet]) -> list[TermCounts]:
        counted = [TermCounts() for _ in range(self.n_tables)]
        for raw in sets:
            for view, items in zip(counted, self.terms(raw), strict=True):
                view.add(items)
        return counted

    def merge(self, first: list[TermCounts], second: list[TermCounts]) -> list[TermCounts]:
        return [a + b for a, b in zip(first, second, strict=True)]

    def finish(self, summary: list[TermCounts]) -> Self:
        self.weights_ = [TermWeights.of(counted) for counted in summary]
        return self

    def check_fitted(self) -> None:
        given = self.weights_
        fit = isinstance(given, list) and all(isinstance(table, TermWeights) for table in given)
        if not fit or len(given) != self.n_tables:
            raise ValueError(f"weights_ must be a list of {self.n_tables} tables")
