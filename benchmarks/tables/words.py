"""Made-up words and the frequencies of names: nothing is taken from a list of real ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[np.bytes_]
Numbers = NDArray[np.int64]

ONSETS = "b br c ch cl d dr f fl g gr h j k kr l m n p pl r s sh sl st t th tr v w y z"
VOWELS = ["a", "a", "e", "e", "i", "i", "o", "o", "u", "ai", "ea", "ia", "ie", "oo", "ou"]
CODAS = ["", "", "", "l", "n", "n", "r", "r", "s", "t", "m", "ck", "nd", "rt", "ng", "x"]


def joined(*parts: Texts | bytes) -> Texts:
    """Texts side by side."""
    whole = np.asarray(parts[0], dtype=np.bytes_)
    for part in parts[1:]:
        whole = np.strings.add(whole, np.asarray(part, dtype=np.bytes_))
    return whole


def numerals(values: Numbers, width: int = 0) -> Texts:
    """Whole numbers as texts, with zeros before them up to a width."""
    return np.strings.zfill(values.astype("S20"), width) if width else values.astype("S20")


def invented(rng: np.random.Generator, n: int, syllables: tuple[int, ...] = (2, 2, 3)) -> Texts:
    """n different words, in lower case."""
    found: Texts = np.zeros(0, "S1")
    while len(found) < n:
        more = _syllables(rng, 2 * n, syllables)
        _, first = np.unique(np.concatenate([found, more]), return_index=True)
        found = np.concatenate([found, more])[np.sort(first)]
    return found[:n]


def _syllables(rng: np.random.Generator, n: int, lengths: tuple[int, ...]) -> Texts:
    wanted = rng.choice(lengths, n)
    words: Texts = np.zeros(n, "S1")
    for k in range(max(lengths)):
        onset, vowel, coda = (rng.choice(np.array(p, np.bytes_), n) for p in (ONSETS.split(), VOWELS, CODAS))
        inner = np.where(rng.random(n) < 0.3, coda.astype("S1"), b"")
        coda = np.where(k < wanted - 1, inner, coda)
        words = joined(words, np.where(k < wanted, joined(onset, vowel, coda), b""))
    return words


def zipf(rng: np.random.Generator, n: int, words: int, exponent: float, shift: float) -> Numbers:
    """n draws of word numbers: word r has a share that goes with (r + shift) ** -exponent (Mandelbrot)."""
    share = np.cumsum((np.arange(1, words + 1) + shift) ** -exponent)
    return np.searchsorted(share, rng.random(n) * share[-1]).astype(np.int64)
