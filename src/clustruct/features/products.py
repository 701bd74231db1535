"""Products of two features: what counts only together."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np
from scipy import sparse

from .base import Values

MOST_PRODUCTS = 20_000


def check_patterns(patterns: object) -> list[tuple[str, str]]:
    """Pairs of name patterns."""
    if isinstance(patterns, list | tuple) and all(map(_is_pair, patterns)):
        return [(str(a), str(b)) for a, b in patterns]
    raise ValueError(f"products must be a list of pairs of name patterns, not {patterns!r}")


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(n, str) for n in given)


def product_columns(patterns: object, names: Sequence[str]) -> list[tuple[int, int]]:
    """The columns whose products are wanted: each i <= j with names that match the two patterns, once.

    >>> product_columns([("a*", "b")], ["a1", "a2", "b"])
    [(0, 2), (1, 2)]
    """
    found: dict[tuple[int, int], None] = {}
    for first, second in check_patterns(patterns):
        left = [i for i, name in enumerate(names) if fnmatchcase(name, first)]
        right = [j for j, name in enumerate(names) if fnmatchcase(name, second)]
        if not left or not right:
            lacking = second if left else first
            raise ValueError(f"products: no feature is called like {lacking!r}")
        found.update(dict.fromkeys((min(i, j), max(i, j)) for i in left for j in right))
    if len(found) > MOST_PRODUCTS:
        raise ValueError(f"products: {len(found)} products, more than {MOST_PRODUCTS}")
    return list(found)


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
