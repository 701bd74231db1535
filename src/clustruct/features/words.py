"""Words, letters and quotations of a text: what features count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from clustruct.records import is_missing

_WORD = re.compile(r"\w+")
_ACCENTS = re.compile("[\u0300-\u036f]")
# Straight, curly, low and angle marks, and the `` '' of tokenised text. An apostrophe opens no quotation.
_QUOTED = re.compile(
    '"([^"]+)"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201e\u201c\u201d]+)[\u201c\u201d]'
    "|\u00ab([^\u00ab\u00bb]+)\u00bb|``((?:(?!'').)+)''",
    re.DOTALL,
)


def as_text(value: object) -> str:
    """A field's value as one string, empty where missing; a list is joined.

    >>> as_text(["A. Smith", "B. Jones"]), as_text(None), as_text(1.0), as_text(7)
    ('A. Smith ; B. Jones', '', '1', '7')
    """
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return " ; ".join(text for text in map(as_text, value) if text)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def fold(text: str) -> str:
    """Lower case without accents, blanks squeezed: what two spellings of one thing share.

    >>> fold("  Caf\u00e9  \ufb01x STRASSE ")
    'cafe fix strasse'
    """
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return " ".join(unicodedata.normalize("NFKC", plain).casefold().split())


def words(text: str) -> list[str]:
    """Runs of letters and digits, folded.

    >>> words("The G-Wireless, 2nd edn.")
    ['the', 'g', 'wireless', '2nd', 'edn']
    """
    return _WORD.findall(fold(text))


def word_ngrams(tokens: Sequence[str], n: int) -> list[str]:
    """Each n words in a row.

    >>> word_ngrams(["a", "b", "c"], 2)
    ['a b', 'b c']
    """
    if n == 1:
        return list(tokens)
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def letter_ngrams(text: str, n: int = 3) -> list[str]:
    """Each n letters in a row within words, with a blank before and after each word.

    >>> letter_ngrams("to go")
    [' to', 'to ', ' go', 'go ']
    """
    found: list[str] = []
    for word in words(text):
        padded = f" {word} "
        found.extend(padded[i : i + n] for i in range(max(len(padded) - n + 1, 1)))
    return found


def codes(text: str) -> list[str]:
    """Words with a digit, hyphens and dots inside dropped: model numbers, versions, sizes.

    >>> codes("Sony DPP-FP50 printer v2.1, 20 ft")
    ['dppfp50', 'v21', '20']
    """
    tight = re.sub(r"(?<=\w)[-./](?=\w)", "", fold(text))
    return [word for word in _WORD.findall(tight) if any(c.isdigit() for c in word)]


def quoted(text: str) -> str:
    """The passages within quotation marks, one per line.

    >>> quoted('He said "yes, now" and \u201cgo\u201d; it\\'s Ann\\'s.')
    'yes, now\\ngo'
    """
    return "\n".join("".join(found).strip() for found in _QUOTED.findall(text))
