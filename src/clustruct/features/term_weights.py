"""How rare each term is (idf): learned from training sets, asked for new ones; blocks that learn it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Floats, Ints
from clustruct.data import Table

from .base import PreparedBlock, check_distinct
from .columns import Columns, TermTable, columns_of
from .vocabulary import Keys, PackedTexts, Vocabulary, reader_of


class Likeness(NamedTuple):
    """Of each listed pair: cosine; shared weight over the smaller item's weight; rarest shared term."""

    cosine: Floats
    contained: Floats
    rarest: Floats


class TermCounts:
    """Of n items, how many have each term: what `TermWeights` needs of a part of the training items."""

    def __init__(self, n: int, vocabulary: Vocabulary, document_frequency: Floats) -> None:
        self.n, self.vocabulary, self.document_frequency = n, vocabulary, document_frequency

    @classmethod
    def of(cls, *tables: TermTable) -> TermCounts:
        vocabulary = tables[0].vocabulary
        return cls(
            sum(t.n_items for t in tables), vocabulary, sum_counts([t.document_frequency() for t in tables])
        )

    def alone(self) -> TermCounts:
        """The same, with a vocabulary of these terms and their words alone, which can be pickled."""
        there, vocabulary = np.flatnonzero(self.document_frequency), Vocabulary()
        vocabulary.number(self.vocabulary.keys[there], reader_of(self.vocabulary.words(there)))
        return TermCounts(self.n, vocabulary, self.document_frequency[there])

    def __add__(self, other: TermCounts) -> TermCounts:
        both, document_frequency = Vocabulary(), []
        for one in (self, other):
            numbers = both.number(one.vocabulary.keys[: len(one.document_frequency)], one.vocabulary.words)
            document_frequency.append(
                np.bincount(numbers, one.document_frequency, minlength=len(both)).astype(np.float64)
            )
        return TermCounts(self.n + other.n, both, sum_counts(document_frequency))


def sum_counts(counts: Sequence[Floats]) -> Floats:
    """The sum of counts, of which later ones may have more terms."""
    total = np.zeros(max(map(len, counts)))
    for one in counts:
        total[: len(one)] += one
    return total


@register("TermWeights")
@dataclass(frozen=True, eq=False)
class TermWeights(DataclassState):
    """idf_t = log((1 + n) / (1 + df_t)) + 1, of n items df_t of which have the term.

    New sets bring new terms. A term counts as often as in the training items or in the set at hand, whichever
    is more, so that for training sets nothing changes. Terms of one training item are not kept: in the set at
    hand they are counted anyway.
    """

    words: list[str]
    counts: Floats
    n: int

    def __post_init__(self) -> None:
        check_distinct(self.words, "words")
        if self.counts.shape != (len(self.words),) or (self.counts < 1.0).any() or not 0 <= self.n <= 2**53:
            raise ValueError("counts and n must be counts of items, one for each word and one of all")

    @cached_property
    def _keys(self) -> Keys:
        return PackedTexts.of(self.words).keys()

    @classmethod
    def of(cls, counted: TermCounts) -> TermWeights:
        kept = np.flatnonzero(counted.document_frequency > 1)
        listed = sorted(
            zip(counted.vocabulary.words(kept), counted.document_frequency[kept].tolist(), strict=True)
        )
        return cls([word for word, _ in listed], np.array([c for _, c in listed], np.float64), counted.n)

    @cached_property
    def _training_vocabulary(self) -> Vocabulary:
        """The terms of training by their numbers here."""
        vocabulary = Vocabulary()
        vocabulary.number(self._keys, reader_of(self.words))
        return vocabulary

    def rows(self, table: TermTable) -> TfIdfRows:
        from ._kernels import idf_of

        n = max(self.n, table.population)
        # Of a vocabulary that several tables share, a field has few terms: those of no item have no weight.
        idf = idf_of(n, table.document_frequency(), self._counts_of(table.vocabulary))
        return TfIdfRows(table, idf, math.log((1.0 + n) / 2.0) + 1.0)

    def _counts_of(self, vocabulary: Vocabulary) -> Floats:
        """The training counts of the terms of a vocabulary; of one that grew the new ones are looked up."""
        before: Floats = vocabulary.notes.get(self, np.zeros(0))
        if len(before) == len(vocabulary) > 0:
            return before
        counts = np.zeros(len(vocabulary))
        counts[: len(before)] = before
        if len(before):
            found = self._training_vocabulary.find(vocabulary.keys[len(before) :])
            met = found >= 0
            counts[len(before) :][met] = self.counts[found[met]]
        else:  # a table of the training terms is not worth its cost where it is used once
            numbers = vocabulary.find(self._keys)
            counts[numbers[numbers >= 0]] = self.counts[numbers >= 0]
        vocabulary.notes[self] = counts
        return counts


class TfIdfRows:
    """Rows of term counts as unit vectors of tf-idf; ``top`` is the idf of a term of one item.

    ``norms`` has the lengths of rows, NaN where none was asked for: new items of a large table need few.
    """

    def __init__(self, table: TermTable, idf: Floats, top: float) -> None:
        self.table, self.idf, self.top = table, idf, top
        self.norms, self._total = np.full((2, len(table.indptr) - 1), np.nan)

    def _measure(self, rows: Ints) -> None:
        from ._kernels import measure_rows

        measure_rows(*self.table.csr, self.idf, rows, self.norms, self._total)

    def totals(self, rows: Ints) -> Floats:
        self._measure(rows)
        return np.asarray(self._total[rows])

    def compare(self, pairs: Ints) -> Likeness:
        """Cost: the listed pairs times the terms of an item. Rows that items share are compared once."""
        if self.table.codes is None:
            return self._compare(pairs)
        rows, back = distinct_pairs(self.table.codes[pairs], len(self.norms))
        return Likeness(*(column[back] for column in self._compare(rows)))

    def _compare(self, rows: Ints) -> Likeness:
        from ._kernels import likenesses

        out, lengths = np.empty((len(rows), 3)), (self.norms, self._total)
        self._measure(rows.ravel())
        likenesses(*self.table.csr, self.idf, self.top, *lengths, rows[:, 0], rows[:, 1], out)
        return Likeness(*out.T)

    def shared_rare(self, pairs: Ints) -> Floats:
        """Sum over the shared terms of log(m / items of this set that have the term), through x / (1 + x)."""
        from ._kernels import compare_rows

        left, right = (pairs if self.table.codes is None else self.table.codes[pairs]).T
        out = np.zeros((len(pairs), 3))
        compare_rows(*self.table.csr, self.idf, self._rarity, left, right, out)
        return np.asarray(out[:, 1] / (1.0 + out[:, 1]))

    @cached_property
    def _rarity(self) -> Floats:
        return np.log(self.table.population / np.maximum(self.table.document_frequency(), 1.0))


def distinct_pairs(pairs: Ints, n: int) -> tuple[Ints, Ints]:
    """The distinct unordered pairs of n things, and for each given pair which of them it is."""
    keys = np.minimum(pairs[:, 0], pairs[:, 1]) * n + np.maximum(pairs[:, 0], pairs[:, 1])
    found, back = np.unique(keys, return_inverse=True)
    return np.column_stack(np.divmod(found, max(n, 1))), back


class TermBlock(PreparedBlock[list[TermCounts]]):
    """A block with a table of term weights for each of one or more views of the items."""

    fitted: ClassVar = {"weights_": list}

    @property
    def n_tables(self) -> int:
        """The number of views."""
        return 1

    @abstractmethod
    def tables(self, columns: Columns) -> list[TermTable]:
        """For each view the terms of each item."""

    def rows(self, columns: Columns) -> list[TfIdfRows]:
        return [w.rows(t) for w, t in zip(self.weights_, self.tables(columns), strict=True)]

    def summarise(self, sets: Sequence[Table]) -> list[TermCounts]:
        return self._counts(columns_of(sets))

    def fit_columns(self, columns: Sequence[Columns]) -> Self:
        self.check_parameters()
        return self.finish(self._counts(columns))

    def _counts(self, columns: Sequence[Columns]) -> list[TermCounts]:
        if not columns:
            return [TermCounts.of(TermTable.of([])) for _ in range(self.n_tables)]
        return [TermCounts.of(*tables) for tables in zip(*map(self.tables, columns), strict=True)]

    def merge(self, first: list[TermCounts], second: list[TermCounts]) -> list[TermCounts]:
        return [a + b for a, b in zip(first, second, strict=True)]

    def finish(self, summary: list[TermCounts]) -> Self:
        self.weights_ = [TermWeights.of(counted) for counted in summary]
        return self

    def check_attributes(self) -> None:
        tables = [table for table in self.weights_ if isinstance(table, TermWeights)]
        if not len(self.weights_) == len(tables) == self.n_tables:
            raise ValueError(f"weights_ must be a list of {self.n_tables} tables")
