"""How texts go wrong: slips of the keyboard, other spellings, short forms. Arrays of bytes throughout."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables.words import Texts

Flags = NDArray[np.bool_]
KEYS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
# Heard alike, or written so by some.
SPELLINGS = [
    (b"ck", b"k"), (b"ai", b"ay"), (b"ea", b"ee"), (b"ie", b"y"), (b"ou", b"oo"), (b"th", b"t"), (b"c", b"k"),
    (b"sh", b"sch"), (b"x", b"ks"), (b"v", b"w"), (b"i", b"y"), (b"l", b"ll"), (b"n", b"nn"), (b"s", b"ss"),
    (b"t", b"tt"), (b"r", b"rr"), (b"o", b"oh"), (b"e", b"eh"), (b"a", b"ah"),
]  # fmt: skip


def _neighbours() -> NDArray[np.uint8]:
    """For each byte the two keys beside it; itself where there are none."""
    table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 2, axis=1)
    for row in KEYS:
        for k, key in enumerate(row):
            table[ord(key)] = ord(row[k - 1]), ord(row[(k + 1) % len(row)])
    return table


NEIGHBOURS = _neighbours()


def slips(values: Texts, rng: np.random.Generator) -> Texts:
    """One slip in each text: a wrong key, a letter left out, doubled or added, or two letters swapped.

    >>> slips(np.array([b"anna"]), np.random.default_rng(0)).tolist()
    [b'annna']
    """
    n, length = len(values), np.strings.str_len(values)
    width = values.dtype.itemsize + 1
    letters = values.astype(f"S{width}").view(np.uint8).reshape(n, width)
    kind, rows = rng.choice(5, n, p=[0.35, 0.25, 0.1, 0.1, 0.2]), np.arange(n)
    at = np.minimum((rng.random(n) * length).astype(int), np.maximum(length - 1 - (kind == 4), 0))
    there = letters[rows, at]
    column = np.arange(width)
    later = column[None, :] > at[:, None]
    # Left out: all later ones move up; doubled or added: they move down.
    source = column + (later | (column == at[:, None])) * (kind == 1)[:, None]
    source = source - later * np.isin(kind, (2, 3))[:, None]
    moved = np.take_along_axis(letters, np.clip(source, 0, width - 1), axis=1)
    other = NEIGHBOURS[there, rng.integers(0, 2, n)]
    new = np.isin(kind, (0, 3))
    moved[rows[new], at[new] + (kind[new] == 3)] = other[new]
    swap = (kind == 4) & (length > 1)
    moved[rows[swap], at[swap]] = letters[rows[swap], at[swap] + 1]
    moved[rows[swap], at[swap] + 1] = there[swap]
    changed = np.ascontiguousarray(moved).view(f"S{width}").ravel()
    return np.where(length > 0, changed, values)


def respelled(values: Texts, rng: np.random.Generator) -> Texts:
    """Another spelling of the same sound, where there is one."""
    which = rng.integers(0, len(SPELLINGS), len(values))
    found = values.astype(f"S{values.dtype.itemsize + 2}")
    for k, (old, new) in enumerate(SPELLINGS):
        mine = which == k
        if mine.any():
            found[mine] = np.strings.replace(values[mine], old, new, 1)
    return found


def initials(values: Texts) -> Texts:
    """The first letter."""
    return values.astype("S1")


def chosen(rng: np.random.Generator, rate: NDArray[np.float64] | float, n: int) -> Flags:
    """Which of n rows an error of this rate hits."""
    return rng.random(n) < rate


def put(values: Texts, rows: Flags, new: Texts) -> Texts:
    """New texts in some rows; ``new`` has one text for each of these rows."""
    wide = max(values.dtype.itemsize, new.dtype.itemsize)
    found = values.astype(f"S{wide}")
    found[rows] = new
    return found
