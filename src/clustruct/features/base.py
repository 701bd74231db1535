"""What every kind of pair feature is: learned from tables, computed for listed pairs, kept as plain data.

A block looks at some fields of the items and gives a few numbers for each pair. Blocks are put together by
`PairFeatures`. A block's whole state is JSON values and arrays, so that model files hold no code.
At the end: the columns of several blocks as one matrix, by chunks, with products chosen by patterns of names.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from clustruct.core.storage import EstimatorState
from clustruct.core.typing import Floats, Ints
from clustruct.data import Fields, Table

from .columns import Columns

# One row per pair, one column per feature.
Values: TypeAlias = Floats | sparse.csr_array
# What compares pairs of one set, some at a time.
Comparison: TypeAlias = Callable[[Ints], Values]
S = TypeVar("S")


class PairBlock(EstimatorState, BaseEstimator, ABC, Generic[S]):
    """A kind of pair feature, learned from summaries of type S.

    A subclass has scikit-learn parameters of plain data, ``fitted`` (the attributes that `finish` sets, with
    their types: a model file keeps them), ``choices`` (what parameters that are lists may hold), ``suits``
    (kinds of fields, for each kind of items, that `guess_field` takes) and ``suits_record`` (kinds of items
    that `guess_record` takes), and `check_parameters` and `check_attributes`, which raise ValueError: a file
    may come from anyone. ``@clustruct.core.storage.register(name)`` makes the class known to model files and
    to `guess_blocks`.
    """

    # Whether likely pairs of a large set can be found by the words that its items share (`Blocking`).
    has_words: ClassVar[bool] = True
    choices: ClassVar[Mapping[str, Collection[object]]] = {}
    suits: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    suits_record: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def get_feature_names_out(self) -> list[str]:
        """The names of the columns, in order; read aloud they say what is compared."""

    @abstractmethod
    def transform(self, table: Table, pairs: Ints) -> Values:
        """One row for each pair (a, b) of the table, one column for each name; symmetric in a and b."""

    def prepare(self, columns: Columns) -> Comparison:
        """A function that compares pairs chunk by chunk: what does not depend on pairs is done here."""
        return partial(self.transform, columns.table)

    @abstractmethod
    def summarise(self, sets: Sequence[Table]) -> S:
        """What learning needs of these tables: ``finish(merge(summarise(A), summarise(B)))`` fits A + B."""

    @abstractmethod
    def merge(self, first: S, second: S) -> S:
        """The summary of the tables of both, the first ones first."""

    @abstractmethod
    def finish(self, summary: S) -> Self:
        """Take what was learned from a summary."""

    def check_parameters(self) -> None:
        """`field`, `fields` and `name` must be names, lists must be of the `choices`."""
        for name, value in self.get_params(deep=False).items():
            if name == "field":
                check_name(value, name)
            elif name == "fields":
                check_names(value, name)
            elif name == "name" and not isinstance(value, str):
                raise ValueError(f"name must be a string, not {value!r:.100}")
            elif name in self.choices:
                check_choices(value, name, self.choices[name])

    def used_fields(self) -> list[str]:
        """The fields that the block looks at: data that lacks one which training had is refused."""
        given = self.get_params(deep=False)
        return [*([given["field"]] if "field" in given else []), *given.get("fields", ())]

    def used_context(self) -> list[str]:
        """The entries of a set's context that the block looks at."""
        return []

    def fit(self, sets: Sequence[Table]) -> Self:
        """Learn what is needed from tables."""
        self.check_parameters()
        return self.finish(self.summarise(sets))

    def fit_columns(self, columns: Sequence[Columns]) -> Self:
        """`fit`, from columns that other blocks share."""
        return self.fit([c.table for c in columns])

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        """The blocks that suit one field of the data."""
        return []

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        """The blocks that suit all fields together, or the set as a whole, beside those found so far."""
        return []


Block: TypeAlias = PairBlock[Any]


class PreparedBlock(PairBlock[S]):
    """A block that looks at the columns of a table once (`prepare`), and then compares any pairs of it."""

    @abstractmethod
    def prepare(self, columns: Columns) -> Comparison: ...

    def transform(self, table: Table, pairs: Ints) -> Values:
        return self.prepare(Columns(table))(pairs)


class Unlearned(PairBlock[None]):
    """A block that has nothing to learn."""

    def summarise(self, sets: Sequence[Table]) -> None:
        return None

    def merge(self, first: None, second: None) -> None:
        return None

    def finish(self, summary: None) -> Self:
        return self


def check_choices(value: object, parameter: str, known: Collection[object]) -> None:
    """ValueError unless the value is a list of known values, none twice."""
    if (
        not isinstance(value, list | tuple)
        or len(value) > len(known)
        or any(v not in known for v in value)
        or len(set(value)) < len(value)
    ):
        listed = ", ".join(map(str, known))
        raise ValueError(f"{parameter} must be some of {listed}, each once, not {value!r:.100}")


def check_name(value: object, parameter: str) -> None:
    """ValueError unless the value is the name of a field."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{parameter} must be the name of a field, not {value!r:.100}")


def check_names(value: object, parameter: str) -> None:
    """ValueError unless the value is a list of names of fields, none twice."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{parameter} must be a list of names of fields, not {value!r:.100}")
    for name in value:
        check_name(name, parameter)
    if len(set(value)) < len(value):
        raise ValueError(f"{parameter} names a field twice")


def check_distinct(value: object, name: str) -> None:
    """ValueError unless the value is a list of strings, none twice."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"{name} must be a list of strings")
    if len(set(value)) != len(value):
        raise ValueError(f"{name} names something twice")


def missing(present: Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]], pairs: Ints) -> list[Floats]:
    """Two columns: missing in one, missing in both."""
    one, other = np.asarray(present)[pairs.T]
    return [(one ^ other).astype(np.float64), (~(one | other)).astype(np.float64)]


# Of these a larger value speaks for no likeness: a constant, something missing, something other.
_OTHERS = re.compile(
    r"^constant$|missing in (one|both)|\bother (codes|head|modifiers|type|speaker|quotations|kinds)"
    r"|\b(distance|difference)\b"
)


def likeness_features(names: Iterable[str]) -> list[str]:
    """The names of features that are higher the more alike two items are."""
    return [name for name in map(str, names) if not _OTHERS.search(name)]


# Features are made for so many pairs at a time.
PAIRS_AT_ONCE = 50_000
# Features of so many pairs are kept sparse where fewer than this share are not zero: those of mentions then
# take a fifth of the memory, and scores a sixth of the time (15 % of the features of litbank are not zero).
LARGE, THIN = 10_000, 0.25
# More are not taken from a model file: a few bytes for each there would ask for gigabytes here.
MOST_PRODUCTS = 20_000
# Patterns with wildcards: how many, how long, and how often one is held against a name.
MOST_PATTERNS, LONGEST_PATTERN, MOST_MATCHES = 1000, 500, 500_000


def spans(n_pairs: int) -> list[slice]:
    """Slices of so many pairs, `PAIRS_AT_ONCE` each."""
    return [slice(k, min(k + PAIRS_AT_ONCE, n_pairs)) for k in range(0, n_pairs, PAIRS_AT_ONCE)]


def compare_in_chunks(compare: Comparison, pairs: Ints) -> Values:
    parts = [compare(pairs[span]) for span in spans(len(pairs)) or [slice(0, 0)]]
    if any(map(sparse.issparse, parts)):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)


def stack_columns(columns: list[Values], pairs: Ints) -> Values:
    if not columns:
        return np.zeros((len(pairs), 0))
    if any(map(sparse.issparse, columns)):
        return sparse.csr_array(sparse.hstack(columns, format="csr"))
    return np.hstack(columns)


def stack_rows(shape: tuple[int, int], chunks: Iterable[tuple[slice, Values]]) -> Values:
    """One matrix of chunks of rows; the first says whether it is sparse."""
    found: Floats | None = None
    parts: list[Values] = []
    for span, part in chunks:
        if sparse.issparse(part) or parts or (span.start == 0 and _is_thin(part, shape[0])):
            parts.append(sparse.csr_array(part))
        else:
            found = np.zeros(shape) if found is None else found
            found[span] = part
    if parts:
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.zeros(shape) if found is None else found


def _is_thin(part: Floats, n_pairs: int) -> bool:
    return n_pairs >= LARGE and int(np.count_nonzero(part)) < THIN * part.size


def weigh(blocks: Iterable[Values], w: Floats) -> Floats:
    """The features times w, block by block: they are never put side by side."""
    done, total = 0, np.zeros(())
    for columns in blocks:
        part = w[done : done + columns.shape[1]]
        total, done = total + columns @ part, done + len(part)
    return total


def check_patterns(patterns: object) -> list[tuple[str, str]]:
    """Pairs of name patterns; ValueError where they are none, or too many."""
    if not isinstance(patterns, list | tuple) or not all(map(_is_pair, patterns)):
        raise ValueError(f"products must be a list of pairs of name patterns, not {patterns!r:.100}")
    if len(patterns) > MOST_PRODUCTS:
        raise ValueError(f"products: {len(patterns)} pairs of patterns, more than {MOST_PRODUCTS}")
    return [(str(a), str(b)) for a, b in patterns]


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(n, str) for n in value)


def product_columns(patterns: object, names: Sequence[str]) -> list[tuple[int, int]]:
    """The columns whose products are wanted: each i <= j with names that match the two patterns, once."""
    pairs = list(dict.fromkeys(check_patterns(patterns)))
    matching = _match({pattern for pair in pairs for pattern in pair}, names)
    found, budget = dict[tuple[int, int], None](), 4 * MOST_PRODUCTS
    for pair in pairs:
        left, right = (matching[pattern] for pattern in pair)
        if not left or not right:
            raise ValueError(f"products: no feature is called like {pair[1 if left else 0]!r:.100}")
        budget -= len(left) * len(right)
        if budget >= 0:
            found.update(dict.fromkeys((min(i, j), max(i, j)) for i in left for j in right))
    if len(found) > MOST_PRODUCTS or budget < 0:
        raise ValueError(f"products: more than {MOST_PRODUCTS} products, or the same ones many times over")
    return list(found)


def _match(patterns: Collection[str], names: Sequence[str]) -> dict[str, list[int]]:
    """The columns that each pattern stands for."""
    found: dict[str, list[int]] = {pattern: [] for pattern in patterns}
    wild = {pattern for pattern in patterns if any(c in pattern for c in "*?[")}
    if len(wild) > MOST_PATTERNS or len(wild) * len(names) > MOST_MATCHES:
        raise ValueError(f"products: {len(wild)} patterns for {len(names)} features are too many")
    if any(len(pattern) > LONGEST_PATTERN for pattern in wild):
        raise ValueError(f"products: a pattern has more than {LONGEST_PATTERN} characters")
    for column, name in enumerate(names):
        if name not in wild and name in found:
            found[name].append(column)
        for pattern in wild:
            if fnmatchcase(name, pattern):
                found[pattern].append(column)
    return found


def product_names(columns: Sequence[tuple[int, int]], names: Sequence[str]) -> list[str]:
    return [f"{names[i]} and {names[j]}" if i != j else f"{names[i]}, squared" for i, j in columns]


def multiply(values: Values, columns: Sequence[tuple[int, int]]) -> Values:
    if not columns:
        return values
    left, right = (np.array(c) for c in zip(*columns, strict=True))
    if sparse.issparse(values):
        by_column = sparse.csc_array(values)
        products = by_column[:, left] * by_column[:, right]
        return sparse.csr_array(sparse.hstack([by_column, products], format="csr"))
    return np.hstack([values, values[:, left] * values[:, right]])
