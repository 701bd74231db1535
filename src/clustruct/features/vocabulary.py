"""Texts to terms, terms to numbers: folded texts, the ways to split them, and vocabularies.

A vocabulary has no Python string for each term, but a key of 64 bits, and texts from which to read it. Two
terms have one key with a chance of 2^-64: of ten million terms, one in a hundred thousand sets has such two,
and they count as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Ints
from clustruct.data import Table, as_text, fold
from clustruct.data.values import LONGEST_TEXT

_WORD = re.compile(r"\w+")
_JOINT = re.compile(r"(?<=\w)[-./](?=\w)")
N_ASCII = 128


def split_words(text: str) -> list[str]:
    """Runs of letters and digits of a folded text.

    >>> split_words(fold("The G-Wireless, 2nd edn."))
    ['the', 'g', 'wireless', '2nd', 'edn']
    """
    return _WORD.findall(text)


def split_letters(text: str) -> list[str]:
    """Each three letters in a row within words, with a blank before and after each word.

    >>> split_letters("to go")
    [' to', 'to ', ' go', 'go ']
    """
    words = [f" {word} " for word in split_words(text)]
    return [word[i : i + 3] for word in words for i in range(len(word) - 2)]


def split_codes(text: str) -> list[str]:
    """Words with a digit, hyphens and dots inside dropped: model numbers, versions, sizes.

    >>> split_codes(fold("Sony DPP-FP50 printer v2.1, 20 ft"))
    ['dppfp50', 'v21', '20']
    """
    return [word for word in split_words(_JOINT.sub("", text)) if any(c.isdigit() for c in word)]


class TermSplit(NamedTuple):
    """A way to split folded texts: its number in `_kernels`, the vocabulary of its terms, and in Python."""

    number: int
    vocabulary: str
    split: Callable[[str], list[str]]


# A code is a word without its hyphens: words and codes are counted as terms of one kind.
VIEWS = {
    "words": TermSplit(0, "words", split_words),
    "letters": TermSplit(1, "letters", split_letters),
    "codes": TermSplit(2, "words", split_codes),
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


@dataclass(frozen=True, eq=False)
class FoldedTexts:
    """The folded texts (lower case, no accents) of a field, each once; ``codes`` are the items' places.

    ``values`` and ``places`` are only ever added to: texts with further items share them with those they were
    made from, which have no items with the later values.
    """

    codes: Ints
    values: list[str]
    places: dict[str, int]
    # How many letters the longest has.
    longest: int = 0

    @classmethod
    def of(cls, texts: Iterable[str], codes: Ints) -> FoldedTexts:
        """Of texts, some of which may be equal; ``codes`` says which each item has."""
        return cls(np.zeros(0, np.int64), [], {}).with_texts(texts, codes)

    @cached_property
    def present(self) -> Bools:
        return np.asarray(self.codes != self.places.get("", -1))

    def with_texts(self, texts: Iterable[str], codes: Ints) -> FoldedTexts:
        places, before = self.places, len(self.values)
        numbers = [places.setdefault(text, len(places)) for text in texts]
        self.values.extend(islice(places, before, None))
        longest = max(map(len, islice(self.values, before, None)), default=0)
        codes = np.concatenate([self.codes, np.array(numbers, np.int64)[codes]])
        return FoldedTexts(codes, self.values, places, max(self.longest, longest))

    def take(self, items: Ints) -> FoldedTexts:
        """Those of some of the items."""
        return FoldedTexts(self.codes[items], self.values, self.places, self.longest)

    def copy(self) -> FoldedTexts:
        """The same, with lists of their own."""
        return FoldedTexts(self.codes, list(self.values), dict(self.places), self.longest)


def fold_column(table: Table, field: str) -> tuple[list[str], Ints]:
    coded = table.factorize(field)
    texts = [fold(v[:LONGEST_TEXT] if type(v) is str else as_text(v)) for v in coded.values]
    if (coded.codes < 0).any():
        texts.append("")  # what the code -1 picks
    return texts, coded.codes


Keys: TypeAlias = NDArray[np.uint64]
Numbers: TypeAlias = NDArray[np.int32]
# Of terms, given where they were met first, the words for people.
Reader: TypeAlias = Callable[[Ints], list[str]]


class PackedTexts(NamedTuple):
    """Texts as one array of characters: text k is letters[starts[k]:starts[k + 1]]."""

    letters: NDArray[Any]
    starts: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> PackedTexts:
        """One byte for each character where all are ASCII, else four."""
        joined = "".join(texts)
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
        if joined.isascii():
            return cls(np.frombuffer(joined.encode("ascii"), np.uint8), starts)
        # Half of a surrogate pair is a character to Python.
        return cls(np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32), starts)

    def keys(self) -> Keys:
        from ._kernels import text_keys

        return text_keys(self.letters, self.starts)


def reader_of(words: Sequence[str]) -> Reader:
    """Reads terms that are listed; it can be pickled."""
    return partial(_take, words)


def _take(words: Sequence[str], where: Ints) -> list[str]:
    return [words[k] for k in where.tolist()]


class Vocabulary:
    """Numbers of terms in the order of their first appearance."""

    def __init__(self) -> None:
        self._n = 0
        self._slots = np.full(1 << 10, -1, np.int32)
        self._keys = np.zeros(1 << 9, np.uint64)
        self._where = np.zeros(1 << 9, np.int64)
        # What others have worked out of all terms, by what they worked it out for.
        self.notes: dict[object, Any] = {}
        self._begins: list[int] = []
        self._readers: list[Reader] = []
        # Words that were read, by number, where they are to be remembered.
        self._read: dict[int, str] | None = None

    @classmethod
    def of_keys(cls, keys: Keys) -> Vocabulary:
        """The vocabulary of distinct terms whose keys alone are known: it numbers them, and has no words."""
        found = cls()
        numbers = found.number(np.asarray(keys, np.uint64), _without_words)
        if not np.array_equal(numbers, np.arange(len(keys))):
            raise ValueError("a vocabulary has a term twice")
        return found

    def copy(self) -> Vocabulary:
        """The same, with arrays of its own."""
        other = Vocabulary()
        other._n, other.notes = self._n, dict(self.notes)
        other._slots, other._keys, other._where = self._slots.copy(), self._keys.copy(), self._where.copy()
        other._begins, other._readers = list(self._begins), list(self._readers)
        return other

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> Keys:
        return self._keys[: self._n]

    def number(self, keys: Keys, read: Reader) -> Numbers:
        """The number of each key; ``read`` gives the terms at places of ``keys``, whenever needed."""
        from ._kernels import number_terms

        out, done, before = np.empty(len(keys), np.int32), 0, self._n
        while True:
            state = self._slots, self._keys, self._n, out, self._where
            done, self._n = number_terms(keys, done, *state)
            if done == len(keys):
                break
            self._grow()
        if self._n > before:
            self._begins.append(before)
            self._readers.append(read)
        return out

    def number_words(self, words: Sequence[str]) -> Numbers:
        return self.number(PackedTexts.of(words).keys(), reader_of(words))

    def _grow(self) -> None:
        from ._kernels import fill_slots

        self._slots = np.full(4 * len(self._slots), -1, np.int32)
        self._keys = np.append(self._keys, np.zeros(3 * len(self._keys), np.uint64))
        self._where = np.append(self._where, np.zeros(3 * len(self._where), np.int64))
        fill_slots(self._slots, self._keys, self._n)

    def find(self, keys: Keys) -> Numbers:
        """The number of each key, -1 for a term that was not met."""
        from ._kernels import look_up

        out = np.empty(len(keys), np.int32)
        look_up(keys, self._slots, self._keys, out)
        return out

    def remember(self) -> None:
        """Keep each word that is read from now on: reading one splits its text again."""
        self._read = {} if self._read is None else self._read

    def words(self, numbers: Ints) -> list[str]:
        if self._read is None:
            return self._words(numbers)
        wanted = numbers.tolist()
        new = [number for number in dict.fromkeys(wanted) if number not in self._read]
        self._read.update(zip(new, self._words(np.array(new, np.int64)), strict=True))
        return [self._read[number] for number in wanted]

    def _words(self, numbers: Ints) -> list[str]:
        order = np.argsort(numbers, kind="stable")
        found = [""] * len(numbers)
        parts = np.searchsorted(numbers[order], [*self._begins, self._n])
        for read, first, last in zip(self._readers, parts[:-1], parts[1:], strict=True):
            here = order[first:last]
            for place, word in zip(here.tolist(), read(self._where[numbers[here]]), strict=True):
                found[place] = word
        return found


def number_keys(keys: Keys) -> tuple[Keys, Numbers]:
    """The distinct keys in order, and for each key which of them it is: np.unique in a third of its time."""
    vocabulary = Vocabulary()
    numbers = vocabulary.number(keys, _without_words)
    order = np.argsort(vocabulary.keys)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return vocabulary.keys[order], rank[numbers]


def mix_keys(first: Keys, second: Keys | np.uint64) -> Keys:
    """One key of two (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        x = first * np.uint64(0x9E3779B97F4A7C15) + second
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))


def stable_order(numbers: Numbers | Ints, n: int) -> Ints:
    """The stable order that sorts numbers 0..n - 1, by counting."""
    from ._kernels import counted_order

    return counted_order(numbers, n)


def _without_words(where: Ints) -> list[str]:
    raise LookupError("of these terms the keys are known, not the words")
