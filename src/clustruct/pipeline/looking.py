"""What a recipe looks at in its sets: pairs that count, fields that decide."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from clustruct.core.callbacks import working
from clustruct.core.partitions import partial_labels
from clustruct.core.typing import Bools
from clustruct.data import Evidence, ItemSet, Table
from clustruct.features import Blocking, PairFeatures, UncomparedPairs, Vectors
from clustruct.features.base import Block
from clustruct.features.out_of_fold import OutOfFold
from clustruct.features.similarity import make_map
from clustruct.learning.model_selection.pair_signal import find_leak
from clustruct.learning.model_selection.training_tables import known_items
from clustruct.learning.problems import Region

from .kept_features import FeatureFile


def touching(table: Table, *, whole: bool) -> Bools | None:
    """The items whose pairs are looked at; of a table that is learned from as a whole they are listed."""
    known = known_items(table)
    return known if whole or not known.all() else None


def compared(features: PairFeatures, table: Table, *, whole: bool) -> tuple[ItemSet, UncomparedPairs | None]:
    """The pairs that are looked at, and of a set with unlabelled items the others of their neighbours."""
    own = touching(table, whole=whole)
    if own is None or own.all():
        return features.transform([table], [own])[0], None
    return features.transform_with_rest(table, own)


def without_held_out(
    features: PairFeatures, sets: Sequence[Table], made: Sequence[tuple[ItemSet, UncomparedPairs | None]]
) -> OutOfFold | None:
    """What makes some of the sets by the same features, fitted to others alone; None where sets have items
    without a label, whose pairs are not all there.
    """
    complete = all(rest is None for _, rest in made) and not features.product_columns_
    return OutOfFold(features, sets, [x for x, _ in made]) if complete else None


def kept_for_later(
    kept: FeatureFile, features: PairFeatures, sets: Sequence[Table], made: Sequence[ItemSet], *, whole: bool
) -> None:
    """The features of the training pairs, in the file."""
    for table, x in zip(sets, made, strict=True):
        kept.keep(features, table, touching(table, whole=whole), x)
    kept.save()


def mapped(
    recipe: Any,
    sets: list[ItemSet],
    labels: list[list[Any]],
    groups: Sequence[Hashable] | None,
    features: Sequence[PairFeatures],
) -> list[ItemSet]:
    """The training sets with the columns of the recipe's similarity, which the features have from now on."""
    made = make_map(recipe.similarity, recipe.random_state)
    if made is None:
        return sets
    with working(f"learning {made.title}"):
        apart = recipe.unlabelled == "apart"
        found = made.fit_transform(sets, labels, groups=groups, unknown_apart=apart)
    for one in features:
        one.with_map(made)
    return found


def warn_of_leak(features: PairFeatures, item_sets: Sequence[ItemSet], sets: Sequence[Table]) -> None:
    """Warn where one field decides nearly alone."""
    columns: dict[str, list[int]] = {}
    first = 0
    for block in features.blocks_:
        here = [first + k for k in range(len(block.get_feature_names_out()))]
        first += len(here)
        fields: Sequence[str] = [block.field] if hasattr(block, "field") else getattr(block, "fields", ())
        if len(fields) == 1:
            columns.setdefault(fields[0], []).extend(here)
    names = [str(name) for name in features.get_feature_names_out()]
    numbered = {field: np.array(own, np.intp) for field, own in columns.items() if own}
    regions = [
        Region.of(x, Evidence.of_labels(partial_labels(table.labels or ())))
        for x, table in zip(item_sets, sets, strict=True)
    ]
    found = find_leak([r.x for r in regions], [r.labels for r in regions], numbered, names)
    if found is not None:
        found.warn()


def blocking_for(
    blocks: Sequence[Block], fields: Sequence[str] | None, *, n_neighbors: int, from_size: int
) -> Blocking | None:
    """How likely pairs of large sets are found by what these blocks compare: words, vectors or both.

    None where neither can be looked up: all pairs are compared.
    """
    vectors = [block for block in blocks if isinstance(block, Vectors)]
    if not all(b.has_words or isinstance(b, Vectors) for b in blocks):
        return None
    if vectors:
        others = [block for block in blocks if not isinstance(block, Vectors)]
        fields = list(dict.fromkeys(name for block in others for name in block.fields_used()))
    named = [list(block.fields) for block in vectors]
    return Blocking(fields, n_neighbors=n_neighbors, from_size=from_size, vectors=named)
