"""The constant feature: where the similarity is zero is learned, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from clustruct._typing import Ints
from clustruct.features.base import PairBlock, Values, register
from clustruct.records import RawSet


@register
class Constant(PairBlock):
    """1 for every pair."""

    kind = "constant"

    def fit(self, sets: Sequence[RawSet]) -> Self:
        return self

    def names(self) -> list[str]:
        return ["constant"]

    def values(self, raw: RawSet, pairs: Ints) -> Values:
        return np.ones((len(pairs), 1))
