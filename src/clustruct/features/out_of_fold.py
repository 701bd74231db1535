"""Sets as features make them that were fitted to others alone: what a prediction will meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.base import clone

from clustruct.core.typing import Indices, Ints
from clustruct.data import ItemSet, Table

from .base import Block, Unlearned, Values
from .columns import Columns, columns_of
from .pair_features import PAIRS_AT_ONCE, PairFeatures, stacked


class OutOfFold:
    """The training sets of fitted features; asked for some, it makes them by features that know others alone.

    Texts are read and split once, and columns that nothing was learned for stay as they are.

    Parameters
    ----------
    features : PairFeatures
        Fitted to all of the sets.
    sets : sequence of Table
        The sets.
    made : sequence of ItemSet
        What the features made of each.
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
        other = [n if b is None else len(b.get_feature_names_out()) for b, n in zip(own, sizes, strict=True)]
        if other != sizes:
            return None
        return [self._remade(i, self._columns[i], own, sizes) for i in held_out.tolist()]

    def _read(self) -> list[Columns]:
        """The columns of all sets, whose words are read once for all folds."""
        columns = columns_of(self.sets)
        for block in self.features.blocks_:
            for own in [] if isinstance(block, Unlearned) else columns:
                block.prepare(own)
        for vocabulary in columns[0].vocabularies.values():
            vocabulary.remember()
        return columns

    def _remade(
        self, i: int, columns: Columns, blocks: Sequence[Block | None], sizes: Sequence[int]
    ) -> ItemSet:
        x, ends = self.made[i], np.cumsum(sizes).tolist()
        assert x.pairs is not None
        pairs = x.pair_list
        parts = [
            x.pairs[:, end - size : end] if block is None else _values(block, columns, pairs)
            for block, size, end in zip(blocks, sizes, ends, strict=True)
        ]
        return ItemSet(
            pairs=stacked(parts, pairs),
            pair_index=x.pair_index,
            sources=x.sources,
            feature_names=x.feature_names,
            n_items=x.n_items,
        )


def _values(block: Block, columns: Columns, pairs: Ints) -> Values:
    """The columns of a block, made for some pairs at a time."""
    compare = block.prepare(columns)
    spans = range(0, max(len(pairs), 1), PAIRS_AT_ONCE)
    parts = [compare(pairs[start : start + PAIRS_AT_ONCE]) for start in spans]
    if any(map(sparse.issparse, parts)):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)
