"""The pairs that a recipe learns from: sources, features, which items are compared, the file of features, and
features that were fitted to other sets alone.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone

from clustruct import __version__
from clustruct.core.callbacks import working
from clustruct.core.exceptions import DataWarning, ModelFileError
from clustruct.core.formatting import count, short
from clustruct.core.storage import digest, read, register, save
from clustruct.core.typing import Bools, Indices
from clustruct.data import ItemSet, Readings, Table, learn_readings
from clustruct.features import Blocking, PairFeatures, Sources, UncomparedPairs, Vectors, guess_blocks
from clustruct.features.base import Block, Unlearned, compare_in_chunks, stack_columns
from clustruct.features.columns import Columns, columns_of
from clustruct.features.row_equality import MOST_COPIES
from clustruct.features.similarity.base import make_map
from clustruct.learning.model_selection.training_tables import (
    SourceField,
    find_source,
    known_items,
    named_source,
)

from .learners import make_learner

WithinSource: TypeAlias = Literal["auto", "apart", "uncompared"]
AUTO = "auto"
# A table that is learned from as a whole lists likely pairs from so many items on: all pairs of the 913 rows
# of cora took 6 CPU minutes to learn from.
WHOLE_BLOCK = 250


@dataclass(frozen=True)
class SourceChoice:
    """The sources that features go by, what the labels say of them, and whether they were found here."""

    sources: Sources
    labels: SourceField
    was_found: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self.labels), "within": self.sources.within, "found": self.was_found}


def choose_source(
    sets: Sequence[Table],
    source: str | None,
    within: WithinSource = "auto",
    fields: Sequence[str] | None = None,
) -> SourceChoice | None:
    """The sources of the sets: the field named, or ("auto") the one that the labels bear out, or none.

    ``within`` "auto": no cluster gets two items of a source where many clusters are labelled and hardly one
    has them; otherwise such items are merely not compared.
    """
    if source is None:
        return None
    field = find_source(sets, fields) if source == AUTO else named_source(sets, source)
    if field is None:
        return None
    if within == "auto":
        within = "apart" if field.has_no_duplicates else "uncompared"
    chosen = SourceChoice(Sources(field.field, within), field, source == AUTO)
    lost = field.pairs - field.across
    if lost and not chosen.was_found:
        text = (
            f"of the {count(field.pairs, 'labelled pair')} that belong together {lost:,} lie within a source"
            f" (the field {short(field.field)!r}): they are not compared"
        )
        warnings.warn(text, DataWarning, stacklevel=2)
    return chosen


def choose_source_for(recipe: BaseEstimator, sets: Sequence[Table]) -> SourceChoice | None:
    """The sources that a recipe asks for; a clusterer with a fixed number of clusters compares all items."""
    if getattr(make_learner(recipe), "clustering_objective", None) != "correlation":
        if recipe.source not in (None, AUTO):
            raise ValueError(f"source goes with clusterers by correlation, not with {recipe.learner!r}")
        return None
    if recipe.kind == "mentions" and recipe.source == AUTO:
        return None
    return choose_source(sets, recipe.source, recipe.within_source, recipe.fields)


def fit_features(
    recipe: BaseEstimator, sets: list[Table], *, whole: bool, chosen: SourceChoice | None = None
) -> PairFeatures:
    """Features that suit the fields, fitted to the sets."""
    with working("looking at fields"):
        sources = None if chosen is None else chosen.sources
        left_out = () if sources is None else (sources.field,)
        readings = readings_of(recipe, sets, left_out)
        blocks = guess_blocks(sets, recipe.kind, recipe.fields, left_out, readings)
        from_size = min(recipe.block, WHOLE_BLOCK) if whole else recipe.block
        blocking = _blocking(blocks, recipe, from_size) if may_block(recipe) else None
        # Vectors, and places in a text, are read by their blocks.
        worded = any(block.has_words for block in blocks)
        features = PairFeatures(
            blocks,
            blocking=blocking,
            memory_limit=recipe.memory_limit,
            sources=sources,
            readings=readings if worded else Readings(),
        )
        return features.fit(sets)


def readings_of(recipe: BaseEstimator, sets: Sequence[Table], left_out: Collection[str] = ()) -> Readings:
    """How a recipe reads the columns of the sets that it learns from."""
    kinds = dict(recipe.kinds or {})
    if recipe.fields is not None and (others := set(kinds) - set(recipe.fields)):
        raise ValueError(
            f"kinds names {', '.join(map(repr, sorted(others)))}, which are not among the fields"
        )
    found = learn_readings(sets, recipe.fields, kinds)
    return found.only([name for name in found if name not in left_out])


def may_block(recipe: BaseEstimator) -> bool:
    """Whether the learner can do with the similarities of some pairs."""
    return recipe.block > 0 and getattr(make_learner(recipe), "clustering_objective", None) != "kmeans"


def _blocking(blocks: Sequence[Block], recipe: BaseEstimator, from_size: int) -> Blocking | None:
    """How likely pairs of large sets are found by what these blocks compare: words, vectors or both.

    None where neither can be looked up: all pairs are compared.
    """
    vectors, fields = [block for block in blocks if isinstance(block, Vectors)], recipe.fields
    if not all(b.has_words or isinstance(b, Vectors) for b in blocks):
        return None
    if vectors:
        others = [block for block in blocks if not isinstance(block, Vectors)]
        fields = list(dict.fromkeys(name for block in others for name in block.used_fields()))
    named = [list(block.fields) for block in vectors]
    return Blocking(fields, n_neighbors=recipe.n_neighbors, from_size=from_size, vectors=named)


def labelled_item_mask(table: Table, *, whole: bool) -> Bools | None:
    """The items whose pairs are compared, None for all; of a table that is learned from as a whole the mask
    is there even where all are labelled.
    """
    known = known_items(table)
    return known if whole or not known.all() else None


def training_item_set(
    features: PairFeatures, table: Table, *, whole: bool
) -> tuple[ItemSet, UncomparedPairs | None]:
    """The pairs of labelled items, and of a set with unlabelled items the others of their neighbours."""
    own = labelled_item_mask(table, whole=whole)
    if own is None or own.all():
        return features.transform([table], [own], most_copies=MOST_COPIES)[0], None
    return features.transform_with_rest(table, own)


def out_of_fold_features(
    features: PairFeatures, sets: Sequence[Table], made: Sequence[tuple[ItemSet, UncomparedPairs | None]]
) -> OutOfFold | None:
    """What makes some of the sets by the same features, fitted to others alone; None where sets have items
    without a label, whose pairs are not all there.
    """
    complete = all(rest is None for _, rest in made) and not features.product_columns_
    return OutOfFold(features, sets, [x for x, _ in made]) if complete else None


def add_similarity(
    recipe: BaseEstimator,
    sets: list[ItemSet],
    labels: list[list[Any]],
    groups: Sequence[Hashable] | None,
    features: Sequence[PairFeatures],
    *,
    apart: bool,
) -> list[ItemSet]:
    """The training sets with the columns of the recipe's similarity, which the features have from now on.
    ``apart``: unlabelled items belong to no labelled cluster.
    """
    made = make_map(recipe.similarity, recipe.random_state)
    if made is None:
        return sets
    with working(f"learning {made.title}"):
        item_sets = made.fit_transform(sets, labels, groups=groups, unknown_apart=apart)
    for one in features:
        one.with_map(made)
    return item_sets


@register("KeptPairs")
class KeptPairs:
    """The pair features of sets, each by the digest of all that they depend on.

    That is the features, the items, the choice of pairs and this version: where one of these is another, so
    is the digest, and nothing is found.
    """

    def __init__(self) -> None:
        self.sets: dict[str, dict[str, Any]] = {}

    def state(self) -> dict[str, Any]:
        """JSON values and arrays."""
        return {"sets": self.sets}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The pairs of a state; ValueError where it is not one."""
        made, sets = cls(), state["sets"]
        if not isinstance(sets, dict) or not all(
            set(one) == {"pairs", "index", "sources"} for one in sets.values()
        ):
            raise ValueError("the kept features have no tables")
        made.sets = sets
        return made


class FeatureFile:
    """Where features of training pairs are looked up. What is not there is made, and `save` writes it.

    A file that cannot be read as one of these, or is of another version, counts as empty: it says nothing
    that the data does not say. Sets with values that files cannot hold are left out, and without a path
    all are.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self._stored, self._used = KeptPairs(), KeptPairs()
        self._digests: list[tuple[PairFeatures, str]] = []
        if self.path is not None and self.path.exists():
            with suppress(ModelFileError):
                self._stored = read(self.path, KeptPairs).object

    def item_set(self, features: PairFeatures, table: Table, mask: Bools | None) -> ItemSet:
        """The item set of a table that `PairFeatures.checked` has looked at, found or made."""
        key = self._key(features, table, mask)
        x = None if key is None else _item_set(self._stored.sets.get(key), features, table)
        if x is None:
            x = features.transform([table], [mask], most_copies=MOST_COPIES)[0]
        self._add(key, x)
        return x

    def save_sets(
        self, features: PairFeatures, sets: Sequence[Table], made: Sequence[ItemSet], *, whole: bool
    ) -> None:
        """Write item sets that were made of tables, for the next time."""
        for table, x in zip(sets, made, strict=True):
            self._add(self._key(features, table, labelled_item_mask(table, whole=whole)), x)
        self.save()

    def save(self) -> None:
        """The file with what was asked for since it was opened, if something of that is new."""
        if self.path is not None and self._used.sets.keys() - self._stored.sets.keys():
            save(self.path, self._used)

    def _add(self, key: str | None, x: ItemSet) -> None:
        if key is not None:
            self._used.sets[key] = {"pairs": x.pairs, "index": x.pair_index, "sources": x.sources}

    def _key(self, features: PairFeatures, table: Table, mask: Bools | None) -> str | None:
        """A digest of all that features depend on; None where nothing is written."""
        if self.path is None:
            return None
        columns = {name: table.column(name) for name in table.fields()}
        try:
            return digest(__version__, self._digest_of(features), columns, dict(table.context), mask)
        except (ModelFileError, ValueError):  # values that no file can hold
            return None

    def _digest_of(self, features: PairFeatures) -> str:
        for known, text in self._digests:
            if known is features:
                return text
        self._digests.append((features, digest(features)))
        return self._digests[-1][1]


def _item_set(stored: dict[str, Any] | None, features: PairFeatures, table: Table) -> ItemSet | None:
    if stored is None:
        return None
    try:
        return ItemSet(
            pairs=stored["pairs"],
            pair_index=stored["index"],
            sources=stored["sources"],
            ids=table.ids,
            feature_names=list(features.get_feature_names_out()),
            n_items=len(table),
        )
    except (ValueError, TypeError, IndexError):  # a file made by hand
        return None


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
        columns = [*map(self.features.columns, columns_of(self.sets))]
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
