"""Products of features, chosen by the patterns of their names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

import numpy as np
from scipy import sparse

from .base import Values

# More are not taken from a model file: a few bytes for each there would ask for gigabytes here.
MOST_PRODUCTS = 20_000
# Patterns with wildcards: how many, how long, and how often one is held against a name.
MOST_PATTERNS, LONGEST_PATTERN, MOST_MATCHES = 1000, 500, 500_000


def check_patterns(patterns: object) -> list[tuple[str, str]]:
    """Pairs of name patterns."""
    if not isinstance(patterns, list | tuple) or not all(map(_is_pair, patterns)):
        raise ValueError(f"products must be a list of pairs of name patterns, not {patterns!r:.100}")
    if len(patterns) > MOST_PRODUCTS:
        raise ValueError(f"products: {len(patterns)} pairs of patterns, more than {MOST_PRODUCTS}")
    return [(str(a), str(b)) for a, b in patterns]


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(n, str) for n in given)


def product_columns(patterns: object, names: Sequence[str]) -> list[tuple[int, int]]:
    """The columns whose products are wanted: each i <= j with names that match the two patterns, once.

    >>> product_columns([("a*", "b")], ["a1", "a2", "b"])
    [(0, 2), (1, 2)]
    """
    pairs = list(dict.fromkeys(check_patterns(patterns)))
    matching = _matching({pattern for pair in pairs for pattern in pair}, names)
    found, left_to_do = dict[tuple[int, int], None](), 4 * MOST_PRODUCTS
    for pair in pairs:
        left, right = (matching[pattern] for pattern in pair)
        if not left or not right:
            raise ValueError(f"products: no feature is called like {pair[1 if left else 0]!r:.100}")
        left_to_do -= len(left) * len(right)
        if left_to_do >= 0:
            found.update(dict.fromkeys((min(i, j), max(i, j)) for i in left for j in right))
    if len(found) > MOST_PRODUCTS or left_to_do < 0:
        raise ValueError(f"products: more than {MOST_PRODUCTS} products, or the same ones many times over")
    return list(found)


def _matching(patterns: Collection[str], names: Sequence[str]) -> dict[str, list[int]]:
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
    """Read aloud: "title: words and year: same"."""
    return [f"{names[i]} and {names[j]}" if i != j else f"{names[i]}, squared" for i, j in columns]


def multiply(values: Values, columns: Sequence[tuple[int, int]]) -> Values:
    """The values with their products beside them."""
    if not columns:
        return values
    left, right = (np.array(c) for c in zip(*columns, strict=True))
    if sparse.issparse(values):
        held = sparse.csc_array(values)
        return sparse.csr_array(sparse.hstack([held, held[:, left] * held[:, right]], format="csr"))
    return np.hstack([values, values[:, left] * values[:, right]])
