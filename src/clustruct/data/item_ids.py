"""Ids that are one and the same but for how they are written: 131 and 131.0, " 7" and "7", 007 and 7."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator

LONGEST_PADDED = 13  # digits of ids with zeros before them
_DECIMALS = re.compile(r"(\d+)\.0+")


def plain_id(name: Hashable) -> str:
    """An id without blanks around it, zeros before it and a decimal point behind it.

    >>> [plain_id(name) for name in (131.0, "131.0", " 131 ", "0131", "A-1")]
    ['131', '131', '131', '131', 'A-1']
    """
    text = str(name).strip()
    found = _DECIMALS.fullmatch(text)
    text = found[1] if found else text
    return (text.lstrip("0") or "0") if text.isdecimal() else text


def alike_ids(names: Iterable[Hashable], known: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """Pairs of ids that differ in how they are written alone: among themselves, or of new and known ones.

    >>> alike_ids(["7", "007", "8"]), alike_ids(["131.0", "8"], ["131", "8"])
    ([('7', '007')], [('131.0', '131')])
    """
    if known is None:
        first: dict[str, str] = {}
        pairs = [(first.setdefault(plain_id(name), str(name)), str(name)) for name in names]
        return [pair for pair in pairs if pair[0] != pair[1]]
    there = known if isinstance(known, Collection) else set(known)
    new = [text for text in map(str, names) if text not in there]
    found = ((text, next((one for one in _spellings(text) if one in there), None)) for text in new)
    return [(text, one) for text, one in found if one is not None]


def _spellings(text: str) -> Iterator[str]:
    """How else an id may be written; there may be too many known ones to write each of them anew."""
    plain = plain_id(text)
    yield from (plain, text.strip())
    if plain.isdecimal():
        yield f"{plain}.0"
        yield from (plain.zfill(width) for width in range(len(plain) + 1, LONGEST_PADDED))
