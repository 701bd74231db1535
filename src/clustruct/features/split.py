"""Ways to split a text into terms: in words for a reader here, in compiled code for columns (`_kernels`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustruct.data import fold

_WORD = re.compile(r"\w+")
_JOINT = re.compile(r"(?<=\w)[-./](?=\w)")
N_ASCII = 128


def words(text: str) -> list[str]:
    """Runs of letters and digits, folded.

    >>> words("The G-Wireless, 2nd edn.")
    ['the', 'g', 'wireless', '2nd', 'edn']
    """
    return _words(fold(text))


def letter_ngrams(text: str, n: int = 3) -> list[str]:
    """Each n letters in a row within words, with a blank before and after each word.

    >>> letter_ngrams("to go")
    [' to', 'to ', ' go', 'go ']
    """
    return _letters(fold(text), n)


def codes(text: str) -> list[str]:
    """Words with a digit, hyphens and dots inside dropped: model numbers, versions, sizes.

    >>> codes("Sony DPP-FP50 printer v2.1, 20 ft")
    ['dppfp50', 'v21', '20']
    """
    return _codes(fold(text))


def _words(folded: str) -> list[str]:
    return _WORD.findall(folded)


def _letters(folded: str, n: int = 3) -> list[str]:
    found: list[str] = []
    for word in _words(folded):
        padded = f" {word} "
        found.extend(padded[i : i + n] for i in range(max(len(padded) - n + 1, 1)))
    return found


def _codes(folded: str) -> list[str]:
    return [word for word in _words(_JOINT.sub("", folded)) if any(c.isdigit() for c in word)]


class TermSplit(NamedTuple):
    """A way to split: its number in `_kernels`, whose terms it shares numbers with; of one folded text."""

    number: int
    vocabulary: str
    split: Callable[[str], list[str]]


# A code is a word without its hyphens: words and codes are counted as terms of one kind.
VIEWS = {
    "words": TermSplit(0, "words", _words),
    "letters": TermSplit(1, "letters", _letters),
    "codes": TermSplit(2, "words", _codes),
}


def _class(character: str) -> int:
    """0: between words; of words: 1 a letter (or _), 2 a digit; 3: may stand inside a code."""
    if _WORD.match(character):
        return 2 if character.isdigit() else 1
    return 3 if character in "-./" else 0


CLASSES = np.array([_class(chr(c)) for c in range(N_ASCII)], dtype=np.uint8)


def character_classes(letters: NDArray[np.uint8] | NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The class of each character that occurs; the others are 0."""
    if letters.dtype == np.uint8:
        return CLASSES
    found = np.zeros(max(N_ASCII, int(letters.max(initial=0)) + 1), np.uint8)
    found[letters] = 1
    found[found > 0] = [_class(chr(c)) for c in np.flatnonzero(found)]
    return found
