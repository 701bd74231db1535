"""Links between items as pair features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from clustruct._typing import Ints
from clustruct.features import checks
from clustruct.features.base import Block, Unlearned, Values
from clustruct.features.fields import Fields
from clustruct.features.links import link_pairs
from clustruct.records import RawSet
from clustruct.storage import register


@register("Links")
class Links(Unlearned):
    """Whether one item links to the other, and whether some item links to both.

    The links are rows (source, target) of the set's context; items are numbered from 0, and a source that is
    no item's number is somebody outside who links to items.

    Parameters
    ----------
    edges : the name of the links in the context

    >>> raw = RawSet([{}, {}, {}], context={"links": [[0, 1], [9, 1], [9, 2]]})
    >>> Links().fit([raw]).transform(raw, np.array([[0, 1], [0, 2], [1, 2]])).tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """

    suits_record = ("records", "text", "vectors")

    def __init__(self, edges: str = "links") -> None:
        self.edges = edges

    def check_parameters(self) -> None:
        checks.name_of_field(self.edges, "edges")

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        return [cls()] if any("links" in raw.context for raw in data.sets) else []

    def get_feature_names_out(self) -> list[str]:
        return [f"{self.edges}: linked", f"{self.edges}: linked from one place"]

    def transform(self, raw: RawSet, pairs: Ints) -> Values:
        m = len(raw)
        try:
            found = link_pairs(raw.context.get(self.edges, []), m)
        except ValueError as error:
            raise ValueError(f"{raw.title}: {error}") from None
        keys = found.pairs[:, 0] * m + found.pairs[:, 1]
        wanted = pairs.min(axis=1, initial=m) * m + pairs.max(axis=1, initial=0)
        columns = [np.isin(wanted, keys[kind]) for kind in (found.linked, found.co_cited)]
        return np.column_stack(columns).astype(np.float64)
