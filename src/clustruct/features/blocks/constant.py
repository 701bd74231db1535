"""The constant feature: where the similarity is zero is learned, too."""

from __future__ import annotations

import numpy as np

from clustruct._typing import Ints
from clustruct.features.base import Unlearned, Values
from clustruct.records import RawSet
from clustruct.storage import register


@register("Constant")
class Constant(Unlearned):
    """1 for every pair."""

    def get_feature_names_out(self) -> list[str]:
        return ["constant"]

    def transform(self, raw: RawSet, pairs: Ints) -> Values:
        return np.ones((len(pairs), 1))
