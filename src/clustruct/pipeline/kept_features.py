"""Features of the pairs of training sets, kept in a file: a fit that goes on does not make them again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from clustruct import __version__
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import digest, read, register, save
from clustruct.core.typing import Bools
from clustruct.data import ItemSet, Table
from clustruct.features import PairFeatures

PARTS = ("pairs", "index", "sources")


@register("KeptPairs")
class KeptPairs:
    """The pair features of sets, each by the digest of all that has a say in them.

    They are what the features, the items, the choice of pairs and this version made; where one of these is
    another, so is the digest, and nothing is found.
    """

    def __init__(self) -> None:
        self.sets: dict[str, dict[str, Any]] = {}

    def state(self) -> dict[str, Any]:
        """All that is kept: JSON values and arrays."""
        return {"sets": self.sets}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The kept pairs of a state; ValueError where it is not one."""
        found, sets = cls(), state["sets"]
        if not isinstance(sets, dict) or not all(set(one) == set(PARTS) for one in sets.values()):
            raise ValueError("the kept features have no tables")
        found.sets = sets
        return found


class FeatureFile:
    """Where features of training pairs are looked up. What is not there is made, and `save` keeps it.

    A file that cannot be read as one of these, or is of another version, counts as empty: it says nothing
    that the data does not say. Sets with values that files cannot hold are not kept.

    path : the file; None: nothing is kept
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self._held, self._used = KeptPairs(), KeptPairs()
        self._digests: list[tuple[PairFeatures, str]] = []
        if self.path is not None and self.path.exists():
            with suppress(ModelFileError):
                self._held = read(self.path, KeptPairs).object

    def item_set(self, features: PairFeatures, table: Table, touching: Bools | None) -> ItemSet:
        """The item set of a table that `PairFeatures.checked` has looked at, kept or made."""
        key = self._key(features, table, touching)
        found = None if key is None else _item_set(self._held.sets.get(key), features, table)
        if found is None:
            found = features.transform([table], [touching])[0]
        self._take(key, found)
        return found

    def keep(self, features: PairFeatures, table: Table, touching: Bools | None, x: ItemSet) -> None:
        """An item set that was made of a table, for the next time."""
        self._take(self._key(features, table, touching), x)

    def save(self) -> None:
        """The file with what was asked for since it was opened, if something of that is new."""
        if self.path is not None and self._used.sets.keys() - self._held.sets.keys():
            save(self.path, self._used)

    def _take(self, key: str | None, x: ItemSet) -> None:
        if key is not None:
            self._used.sets[key] = {"pairs": x.pairs, "index": x.pair_index, "sources": x.sources}

    def _key(self, features: PairFeatures, table: Table, touching: Bools | None) -> str | None:
        """A digest of all that has a say; None where nothing is kept."""
        if self.path is None:
            return None
        columns = {name: table.column(name) for name in table.fields()}
        try:
            return digest(__version__, self._digest_of(features), columns, dict(table.context), touching)
        except (ModelFileError, ValueError):  # values that no file can hold
            return None

    def _digest_of(self, features: PairFeatures) -> str:
        for held, found in self._digests:
            if held is features:
                return found
        self._digests.append((features, digest(features)))
        return self._digests[-1][1]


def _item_set(held: dict[str, Any] | None, features: PairFeatures, table: Table) -> ItemSet | None:
    if held is None:
        return None
    try:
        return ItemSet(
            pairs=held["pairs"],
            pair_index=held["index"],
            sources=held["sources"],
            ids=table.ids,
            feature_names=list(features.get_feature_names_out()),
            n_items=len(table),
        )
    except (ValueError, TypeError, IndexError):  # a file made by hand
        return None
