"""Item sets made by features that were fitted to other sets alone: what a prediction will meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from clustruct.core.typing import Indices
from clustruct.data import ItemSet, Table

from .base import Block, Unlearned, compare_in_chunks, stack_columns
from .columns import Columns, columns_of
from .pair_features import PairFeatures


class OutOfFold:
    """Makes some of the training sets by features fitted to others alone.

    ``made`` is what ``features``, fitted to all ``sets``, made of each. Texts are read and split once, and
    columns of blocks that learn nothing stay as they are.
    """

    def __init__(self, features: PairFeatures, sets: Sequence[Table], made: Sequence[ItemSet]) -> None:
        self.features, self.sets, self.made = features, sets, made
        self._columns: list[Columns] | None = None

    def __call__(self, chosen: Indices, held_out: Indices) -> list[ItemSet] | None:
        """The sets ``held_out`` by features of the sets ``chosen``; None where these have other columns."""
        if self._columns is None:
            self._columns = self._read()
        known, blocks = [self._columns[i] for i in chosen.tolist()], self.features.blocks_
        own = [None if isinstance(b, Unlearned) else clone(b).fit_columns(known) for b in blocks]
        sizes = [len(block.get_feature_names_out()) for block in blocks]
        if any(
            b is not None and len(b.get_feature_names_out()) != n for b, n in zip(own, sizes, strict=True)
        ):
            return None
        return [self._make_anew(self.made[i], self._columns[i], own, sizes) for i in held_out.tolist()]

    def _read(self) -> list[Columns]:
        columns = columns_of(self.sets)
        for block in self.features.blocks_:
            for own in [] if isinstance(block, Unlearned) else columns:
                block.prepare(own)
        for vocabulary in columns[0].vocabularies.values():
            vocabulary.remember()
        return columns

    def _make_anew(
        self, x: ItemSet, columns: Columns, blocks: Sequence[Block | None], sizes: Sequence[int]
    ) -> ItemSet:
        ends = np.cumsum(sizes).tolist()
        assert x.pairs is not None
        pairs = x.pair_list
        parts = [
            x.pairs[:, end - n : end] if b is None else compare_in_chunks(b.prepare(columns), pairs)
            for b, n, end in zip(blocks, sizes, ends, strict=True)
        ]
        return ItemSet(
            pairs=stack_columns(parts, pairs),
            pair_index=x.pair_index,
            sources=x.sources,
            feature_names=x.feature_names,
            n_items=x.n_items,
        )
