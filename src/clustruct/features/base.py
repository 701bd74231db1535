"""What every kind of pair feature is: learned from raw sets, computed for listed pairs, kept as plain data.

A block looks at some fields of the items and gives a few numbers for each pair. Blocks are put together by
`PairFeatures`. A block's whole state is JSON values and arrays, so that model files hold no code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from clustruct._typing import Ints
from clustruct.records import RawSet

Values: TypeAlias = Any  # (p, n) float array, dense or CSR
State: TypeAlias = dict[str, Any]

__all__ = ["PairBlock", "State", "Values", "all_pairs", "block_from_state", "register"]

_KINDS: dict[str, type[PairBlock]] = {}


class PairBlock(BaseEstimator, ABC):
    """A kind of pair feature.

    A subclass has scikit-learn parameters of plain data (strings, numbers, lists of them), and:

    fit(sets)               learn what is needed (vocabulary, idf, ranges) from raw sets
    names()                 the names of its features, in order; read aloud they say what is compared
    values(raw, pairs)      one row per listed pair (a, b), a < b, one column per name; symmetric in a, b
    learned() / restore()   the fitted state as JSON values and arrays, and back
    """

    kind: ClassVar[str]

    @abstractmethod
    def fit(self, sets: Sequence[RawSet]) -> Self: ...

    @abstractmethod
    def names(self) -> list[str]: ...

    @abstractmethod
    def values(self, raw: RawSet, pairs: Ints) -> Values: ...

    def learned(self) -> State:
        """What `fit` found: a dict of JSON values and numpy arrays (none by default)."""
        return {}

    def restore(self, learned: Mapping[str, Any]) -> None:
        """Take what `learned` gave, checked, as if fitted."""

    def state(self) -> State:
        """Kind, parameters and what was learned: all that a model file keeps."""
        return {"kind": self.kind, "parameters": self.get_params(deep=False), "learned": self.learned()}


def register(block: type[PairBlock]) -> type[PairBlock]:
    """Class decorator: makes a block's kind known to model files."""
    _KINDS[block.kind] = block
    return block


def block_from_state(state: Mapping[str, Any]) -> PairBlock:
    """The fitted block of a state; ValueError where the state is not one."""
    kind = state.get("kind") if isinstance(state, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"unknown kind of feature {kind!r}; known are {', '.join(sorted(_KINDS))}")
    try:
        block = _KINDS[kind](**state["parameters"])
        block.restore(state["learned"])
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"the state of a {kind} feature is damaged: {error}") from None
    return block


def all_pairs(m: int) -> Ints:
    """Every pair a < b of m items, in the order of scipy's `pdist`.

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.column_stack(np.triu_indices(m, 1)).astype(np.int64)
