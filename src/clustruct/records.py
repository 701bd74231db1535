"""Raw sets: items as they came from a file or a table, before any features."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["RawSet", "is_missing"]


@dataclass(frozen=True)
class RawSet:
    """Items to be grouped together, each a mapping from field names to values.

    Parameters
    ----------
    items : one mapping per item; a field that is absent, None, NaN or an empty string is missing
    labels : the right cluster of each item, any hashable; None where it is not known
    name : how the set is called in messages
    ids : names of the items
    group : sets of one group share something (stories, say) and must not be split between train and test
    context : what belongs to the set as a whole: the tokens of a document, the links between pages

    >>> raw = RawSet([{"title": "a b"}, {"title": ""}], labels=["x", "x"], name="first")
    >>> len(raw), raw.column("title")
    (2, ['a b', None])
    """

    items: Sequence[Mapping[str, Any]]
    labels: Sequence[Hashable] | None = None
    name: str = ""
    ids: Sequence[Hashable] | None = None
    group: Hashable | None = None
    context: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError(f"{self.title}: no items")
        for what, given in (("labels", self.labels), ("ids", self.ids)):
            if given is not None and len(given) != len(self.items):
                raise ValueError(f"{self.title}: {len(self.items)} items but {len(given)} {what}")

    @property
    def title(self) -> str:
        """The set as messages name it."""
        return f"set {self.name}" if self.name else "a set"

    def __len__(self) -> int:
        return len(self.items)

    def column(self, field: str) -> list[Any]:
        """The values of one field, None where missing."""
        values = [item.get(field) for item in self.items]
        return [None if is_missing(v) else v for v in values]

    @property
    def item_ids(self) -> Sequence[Hashable]:
        """The names of the items, or their numbers from 1."""
        return self.ids if self.ids is not None else range(1, len(self) + 1)

    def fields(self) -> list[str]:
        """All fields that some item has, in the order of appearance."""
        return list(dict.fromkeys(name for item in self.items for name in item))


def is_missing(value: object) -> bool:
    """Whether a value says nothing: None, NaN, an empty or blank string.

    >>> [is_missing(v) for v in (None, float("nan"), " ", 0, "a", [])]
    [True, True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
