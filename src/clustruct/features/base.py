"""What every kind of pair feature is: learned from raw sets, computed for listed pairs, kept as plain data.

A block looks at some fields of the items and gives a few numbers for each pair. Blocks are put together by
`PairFeatures`. A block's whole state is JSON values and arrays, so that model files hold no code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from clustruct._typing import Ints
from clustruct.records import RawSet
from clustruct.storage import register as register_stored
from clustruct.storage.estimator_state import ParameterState

Values: TypeAlias = Any  # (p, n) float array, dense or CSR
State: TypeAlias = dict[str, Any]

__all__ = ["PairBlock", "State", "Values", "all_pairs", "register"]


class PairBlock(ParameterState, BaseEstimator, ABC):
    """A kind of pair feature.

    A subclass has scikit-learn parameters of plain data (strings, numbers, lists of them), and:

    fit(sets)               learn what is needed (vocabulary, idf, ranges) from raw sets
    names()                 the names of its features, in order; read aloud they say what is compared
    values(raw, pairs)      one row per listed pair (a, b), a < b, one column per name; symmetric in a, b
    learned() / restore()   what `fit` found as plain values and arrays, and back, checked
    """

    kind: ClassVar[str]

    @abstractmethod
    def fit(self, sets: Sequence[RawSet]) -> Self: ...

    @abstractmethod
    def names(self) -> list[str]: ...

    @abstractmethod
    def values(self, raw: RawSet, pairs: Ints) -> Values: ...


def register(block: type[PairBlock]) -> type[PairBlock]:
    """Class decorator: makes a block's kind known to model files."""
    return register_stored(f"block {block.kind}")(block)


def all_pairs(m: int) -> Ints:
    """Every pair a < b of m items, in the order of scipy's `pdist`.

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.column_stack(np.triu_indices(m, 1)).astype(np.int64)
