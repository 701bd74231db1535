"""Blocks that learn how rare terms are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from clustruct.records import RawSet

from .base import PairBlock
from .term_weights import TermCounts, TermLists, TermWeights


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
