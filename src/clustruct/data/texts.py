"""Texts that lie in one buffer, that of a file say, and become strings when they are looked at."""

from __future__ import annotations

import codecs
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Ints

# From so many texts on they are decoded together.
MANY = 1000
BLOCK = 2**22
_NEWLINE = 10


@cache
def _may_begin_blank() -> Bools:
    """The bytes with which a white character of UTF-8 can begin."""
    found = np.zeros(256, dtype=bool)
    for code in range(0x10000):
        if chr(code).isspace():
            found[chr(code).encode()[0]] = True
    return found


class Texts:
    """Texts of UTF-8 in a buffer of bytes: where each begins and how many bytes it has."""

    def __init__(self, data: NDArray[np.uint8], start: NDArray[Any], length: NDArray[np.int32]) -> None:
        self.data, self.start, self.length = data, start, length
        self._list: list[str] | None = None
        self._asked = 0

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, at: int) -> str:
        if self._list is not None:
            return self._list[at]
        self._asked += 1
        if 8 * self._asked > len(self) >= MANY:
            return self.tolist()[at]  # so many are asked for that all together cost less
        low = int(self.start[at])
        return self.data[low : low + int(self.length[at])].tobytes().decode()

    def at_hand(self) -> Texts | list[str]:
        """The list of strings where it was made, else the texts themselves."""
        return self if self._list is None else self._list

    def tolist(self) -> list[str]:
        """All of them as strings, made once."""
        if self._list is None:
            self._list = (self._together() if len(self) >= MANY else None) or [
                self[a] for a in range(len(self))
            ]
        return self._list

    def _together(self) -> list[str] | None:
        """All decoded in one go; None where one of them has more than one line."""
        from ._kernels import gather

        out = np.empty(int(self.length.sum(dtype=np.int64)) + len(self), dtype=np.uint8)
        end = gather(self.data, self.start, self.length, _NEWLINE, out)
        found = out[:end].tobytes().decode().split("\n")
        return found if len(found) == len(self) else None

    def blank(self) -> Ints:
        """The texts in which there is nothing to see."""
        maybe = np.flatnonzero(self.length > 0)
        maybe = maybe[_may_begin_blank()[self.data[self.start[maybe]]]]
        found = [a for a in maybe.tolist() if not self[a].strip()]
        return np.array([*np.flatnonzero(self.length == 0).tolist(), *found], dtype=np.int64)


def is_utf8(data: bytes | bytearray) -> bool:
    """Whether bytes are UTF-8, without a copy of all."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for low in range(0, len(data), BLOCK):
            decoder.decode(data[low : low + BLOCK], low + BLOCK >= len(data))
    except UnicodeDecodeError:
        return False
    return True
