"""The texts of a field, folded (lower case, no accents), each once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from clustruct.core.typing import Bools, Ints
from clustruct.data import Table, as_text, fold
from clustruct.data.cell_values import LONGEST_TEXT


@dataclass(frozen=True, eq=False)
class FoldedTexts:
    """The folded texts of a field: ``values`` has each once, ``codes`` the place of each item's.

    ``places`` has the place of each value. Both are only ever added to: texts that grew share them with
    those they grew from, which have no items with the later values.
    """

    codes: Ints
    values: list[str]
    places: dict[str, int]
    # How many letters the longest has.
    longest: int = 0

    @classmethod
    def of(cls, texts: Iterable[str], codes: Ints) -> FoldedTexts:
        """Texts of which some may be equal; ``codes`` says which each item has."""
        empty = cls(np.zeros(0, np.int64), [], {})
        return empty.grown(texts, codes)

    @cached_property
    def present(self) -> Bools:
        """Which items have one."""
        return np.asarray(self.codes != self.places.get("", -1))

    def grown(self, texts: Iterable[str], codes: Ints) -> FoldedTexts:
        """With further items."""
        places, before = self.places, len(self.values)
        numbers = [places.setdefault(text, len(places)) for text in texts]
        self.values.extend(islice(places, before, None))
        longest = max(map(len, islice(self.values, before, None)), default=0)
        new = np.array(numbers, np.int64)[codes]
        codes = np.concatenate([self.codes, new])
        return FoldedTexts(codes, self.values, places, max(self.longest, longest))

    def copy(self) -> FoldedTexts:
        """The same, which grow by themselves."""
        return FoldedTexts(self.codes, list(self.values), dict(self.places), self.longest)


def folded(table: Table, field: str) -> tuple[list[str], Ints]:
    """The folded texts of a field's values, and which each item has."""
    coded = table.factorize(field)
    texts = [fold(v[:LONGEST_TEXT] if type(v) is str else as_text(v)) for v in coded.values]
    if (coded.codes < 0).any():
        texts.append("")  # what the code -1 picks
    return texts, coded.codes
