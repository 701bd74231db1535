"""Features of blocks as one matrix: side by side, by chunks, with products chosen by patterns of names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

import numpy as np
from scipy import sparse

from clustruct.core.typing import Floats, Ints

from .base import Comparison, Values

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
