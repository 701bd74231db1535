"""Terms of texts (words, stems, letters, codes), how rare each is (idf), and blocks that learn it.

idf is learned from training sets and asked for new ones.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.records import RawSet, fold
from clustruct.storage import DataclassState, register

from .base import PairBlock, check_distinct

TermLists: TypeAlias = Sequence[Sequence[str]]
_WORD = re.compile(r"\w+")
# Words of letters, an apostrophe inside dropped with what follows it: "don't" counts as "don".
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Straight, curly, low and angle marks, and the `` '' of tokenised text. An apostrophe opens no quotation.
_QUOTED = re.compile(
    '"([^"]+)"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201e\u201c\u201d]+)[\u201c\u201d]'
    "|\u00ab([^\u00ab\u00bb]+)\u00bb|``((?:(?!'').)+)''",
    re.DOTALL,
)


def words(text: str) -> list[str]:
    """Runs of letters and digits, folded.

    >>> words("The G-Wireless, 2nd edn.")
    ['the', 'g', 'wireless', '2nd', 'edn']
    """
    return _WORD.findall(fold(text))


def word_ngrams(tokens: Sequence[str], n: int) -> list[str]:
    """Each n words in a row.

    >>> word_ngrams(["a", "b", "c"], 2)
    ['a b', 'b c']
    """
    if n == 1:
        return list(tokens)
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def letter_ngrams(text: str, n: int = 3) -> list[str]:
    """Each n letters in a row within words, with a blank before and after each word.

    >>> letter_ngrams("to go")
    [' to', 'to ', ' go', 'go ']
    """
    found: list[str] = []
    for word in words(text):
        padded = f" {word} "
        found.extend(padded[i : i + n] for i in range(max(len(padded) - n + 1, 1)))
    return found


def codes(text: str) -> list[str]:
    """Words with a digit, hyphens and dots inside dropped: model numbers, versions, sizes.

    >>> codes("Sony DPP-FP50 printer v2.1, 20 ft")
    ['dppfp50', 'v21', '20']
    """
    tight = re.sub(r"(?<=\w)[-./](?=\w)", "", fold(text))
    return [word for word in _WORD.findall(tight) if any(c.isdigit() for c in word)]


def quoted(text: str) -> str:
    """The passages within quotation marks, one per line.

    >>> quoted('He said "yes, now" and \u201cgo\u201d; it\\'s Ann\\'s.')
    'yes, now\\ngo'
    """
    return "\n".join("".join(found).strip() for found in _QUOTED.findall(text))


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Porter stems need the package snowballstemmer: pip install 'clustruct[text]'"
        ) from error
    return snowballstemmer.stemmer("porter").stemWord


# A stem takes 26 microseconds; a word met before takes 0.1. 20 Newsgroups has 110,000 words.
@lru_cache(maxsize=500_000)
def _stem(word: str) -> str:
    return _stemmer()(word)


def porter_stem(words: Iterable[str]) -> list[str]:
    """The stem of each word; words are taken in lower case.

    >>> porter_stem(["running", "Runs", "clusters", "relational"])
    ['run', 'run', 'cluster', 'relat']
    """
    return [_stem(word.lower()) for word in words]


def stem_tokens(text: str, stop_words: Iterable[str] = ()) -> list[str]:
    """Words of two letters and more, without the stop words (compared before stemming), as stems.

    >>> stem_tokens("The dogs' running times, 1993", stop_words=frozenset(["the"]))
    ['dog', 'run', 'time']
    """
    stopped = stop_words if isinstance(stop_words, set | frozenset) else frozenset(stop_words)
    return [_stem(word) for word in _LETTERS.findall(text.lower()) if word not in stopped]


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
@dataclass(frozen=True, eq=False)
class TermWeights(DataclassState):
    """idf_t = log((1 + n) / (1 + df_t)) + 1, of n items df_t of which have the term.

    New sets bring new terms (that is their point: other stories, other persons). A term counts as often as
    the training items or the set at hand say, whichever is more, so that for training sets nothing changes.
    Terms of one training item only are not kept: in the set at hand they are counted anyway.

    >>> weights = TermWeights.of(TermCounts([["a", "b"], ["a"], ["a", "c"]]))
    >>> weights.words, weights.counts.tolist(), weights.n
    (['a'], [3.0], 3)
    >>> rows = weights.rows([["a", "b"], ["a", "b"], ["c"]])
    >>> rows.compare(np.array([[0, 1], [0, 2]])).cosine.round(3)
    array([1., 0.])
    """

    words: list[str]
    counts: Floats
    n: int

    def __post_init__(self) -> None:
        check_distinct(self.words, "words")
        if self.counts.shape != (len(self.words),) or (self.counts < 1.0).any() or not 0 <= self.n <= 2**53:
            raise ValueError("counts and n must be counts of items, one for each word and one of all")

    @cached_property
    def _known(self) -> dict[str, float]:
        return dict(zip(self.words, self.counts.tolist(), strict=True))

    @classmethod
    def of(cls, counted: TermCounts) -> TermWeights:
        """The weights that counted items give."""
        kept = sorted(word for word, count in counted.n_with.items() if count > 1)
        return cls(kept, np.array([counted.n_with[word] for word in kept], dtype=np.float64), counted.n)

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
        here = np.bincount(index, minlength=len(number))
        known = np.array([self._known.get(word, 0.0) for word in number])
        n = max(self.n, len(items))
        idf = np.log((1.0 + n) / (1.0 + np.maximum(here, known))) + 1.0
        top = float(np.log((1.0 + n) / 2.0) + 1.0)
        return Rows(np.array(indptr, dtype=np.int64), index, np.array(data, dtype=np.float64), idf, top)


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
        tables = [table for table in self.weights_ if isinstance(table, TermWeights)]
        if not len(self.weights_) == len(tables) == self.n_tables:
            raise ValueError(f"weights_ must be a list of {self.n_tables} tables")
