"""The constant feature: where the similarity is zero is learned, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from clustruct.rawsets import RawSet

from .base import PairBlock, Pairs, Values, register


@register
class Constant(PairBlock):
    """1 for every pair."""

    kind = "constant"

    def fit(self, sets: Sequence[RawSet]) -> Self:
        return self

    def names(self) -> list[str]:
        return ["constant"]

    def values(self, raw: RawSet, pairs: Pairs) -> Values:
        return np.ones((len(pairs), 1))
