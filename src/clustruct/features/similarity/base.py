"""What a map of pair features is, the labelled pairs that it learns from, and the terms of a similarity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone

from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.storage import EstimatorState
from clustruct.core.storage.encoding import digest, entry_by_name
from clustruct.core.typing import Bools, Floats, Ints, LabelsLike
from clustruct.data import ItemSet, pair_table
from clustruct.data.matrices import Matrix

# The term of trees that all pairs have in common.
ANY_PAIR = "any pair"
# Why trees of older model files cannot say what each feature adds.
NO_CREDITS = (
    "The model is of an older form, which does not keep what each feature adds to what its trees say: "
    "learn it again to see that."
)


def by_trees(name: str) -> str:
    return f"{name} (trees)"


@dataclass(frozen=True)
class SimilarityTerms:
    """Numbers that add up to the similarity of each of some pairs: K_p = sum_t contributions[p, t].

    Terms are features, and what is common to all pairs. Contributions are weights times values; the weight is
    nan for what trees make of features.
    """

    names: tuple[str, ...]
    values: Floats
    weights: Floats
    contributions: Floats
    note: str = ""

    @classmethod
    def linear(cls, values: Floats, names: Sequence[str], w: Floats) -> SimilarityTerms:
        """Of a linear similarity: weights times values."""
        return cls(tuple(names), values, w, values * w)

    @classmethod
    def of_credits(
        cls, values: Floats, names: Sequence[str], weight: float, base: float, credits: Floats
    ) -> SimilarityTerms:
        """Of a column with this weight, which is the sum of a base and of credits of the features."""
        common = np.full((len(values), 1), weight * base)
        return cls(
            (*names, ANY_PAIR),
            np.hstack([values, np.ones_like(common)]),
            np.full(len(names) + 1, np.nan),
            np.hstack([weight * credits, common]),
        )

    def beside(self, other: SimilarityTerms) -> SimilarityTerms:
        """These terms and others of the same pairs."""
        return SimilarityTerms(
            (*self.names, *other.names),
            np.hstack([self.values, other.values]),
            np.append(self.weights, other.weights),
            np.hstack([self.contributions, other.contributions]),
            self.note or other.note,
        )


@dataclass(frozen=True)
class LabelledPairs:
    """The pairs of one item set: their features, and whether labels make them the same."""

    rows: Floats
    same: Bools
    # 0 where it is not known whether they are the same, 1/2 where one of the items alone has a label: with
    # clusters labelled at random, false pairs beside true ones are then those of the whole table.
    weight: Floats
    # Of the two items of each pair, -1 for an item without a label.
    clusters: Ints

    @property
    def name(self) -> str:
        """The same for the same features with the same labels."""
        return digest(self.rows, self.clusters)


def labelled_pairs(x: ItemSet, labels: LabelsLike, *, unknown_apart: bool = True) -> LabelledPairs:
    """The pairs of a set that have features; those of an item without a label are apart, or not known.

    >>> x = ItemSet(pairs=[[1.0], [2.0], [3.0]])
    >>> found = labelled_pairs(x, [7, 7, None])
    >>> found.same.tolist(), found.weight.tolist()
    ([True, False, False], [1.0, 0.5, 0.5])
    """
    y = partial_labels(labels, n_items=x.n_items)
    clusters = y[x.pair_list]
    n_known = (clusters != UNKNOWN).sum(axis=1)
    weight = np.array([0.0, 0.5 if unknown_apart else 0.0, 1.0])[n_known]
    same = (clusters[:, 0] == clusters[:, 1]) & (n_known == 2)
    return LabelledPairs(pair_rows(x), same, weight, clusters)


def pair_rows(x: ItemSet) -> Floats:
    """The features of these pairs, dense."""
    listed = x.nodes is None and x.pairs is not None
    return dense(x.pairs if listed and x.pairs is not None else pair_table(x, x.pair_list))


def dense(rows: Matrix) -> Floats:
    return np.asarray(rows.toarray() if isinstance(rows, sparse.csr_array) else rows, dtype=np.float64)


class PairMap(EstimatorState, TransformerMixin, BaseEstimator, ABC):
    """Columns made of pair features: a transformer of lists of item sets.

    `fit_transform` may differ from `fit` and `transform`, as that of scikit-learn's `TargetEncoder` does:
    what is learned from labels is cross-fitted there, so that a clusterer trained on the columns meets such
    as new sets will have. A subclass has `learn`, `columns`, `names`, ``title`` (what is learned, in words)
    and ``keeps`` (whether the features stay beside the columns).
    """

    title: ClassVar[str]
    keeps: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False

    @abstractmethod
    def learn(self, parts: Sequence[LabelledPairs], groups: Sequence[Hashable] | None) -> list[Floats]:
        """Learn from labelled pairs; the columns of these pairs, part by part."""

    @abstractmethod
    def columns(self, rows: Floats) -> Floats:
        """The further columns of rows of features."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of the columns, in order."""

    def fit(self, X: Sequence[ItemSet], y: Any = None, groups: Sequence[Hashable] | None = None) -> Self:
        """Learn from item sets with labels (None: not known)."""
        self.fit_transform(X, y, groups=groups)
        return self

    def fit_transform(
        self,
        X: Sequence[ItemSet],
        y: Any = None,
        *,
        groups: Sequence[Hashable] | None = None,
        unknown_apart: bool = True,
    ) -> list[ItemSet]:
        """Learn; the sets with their columns, cross-fitted where labels were learned from.

        Sets of one of the ``groups`` are never on both sides of a cross-fit; with ``unknown_apart`` an item
        without a label belongs to no labelled cluster.
        """
        if y is None and self.needs_labels:
            raise ValueError(f"{type(self).__name__} learns from labels: requires y to be passed")
        labels = [[None] * x.n_items for x in X] if y is None else y
        parts = [labelled_pairs(x, u, unknown_apart=unknown_apart) for x, u in zip(X, labels, strict=True)]
        self.n_features_in_ = int(X[0].n_features)
        found = self.learn(parts, groups)
        return [self._with(x, columns) for x, columns in zip(X, found, strict=True)]

    def transform_with_labels(
        self, X: Sequence[ItemSet], y: Any, *, unknown_apart: bool = True
    ) -> list[ItemSet]:
        """Labelled sets with their columns: those of `fit_transform` for sets that were learned from."""
        parts = [labelled_pairs(x, u, unknown_apart=unknown_apart) for x, u in zip(X, y, strict=True)]
        return [self._with(x, self.labelled_columns(part)) for x, part in zip(X, parts, strict=True)]

    def labelled_columns(self, part: LabelledPairs) -> Floats:
        """The columns of pairs of a labelled set, which may have been learned from."""
        return self._columns(part.rows)

    def _columns(self, rows: Floats) -> Floats:
        """`columns`, for no rows as well: a set of one item has no pairs."""
        return self.columns(rows) if len(rows) else np.zeros((0, len(self.names())))

    def transform(self, X: Sequence[ItemSet]) -> list[ItemSet]:
        """The sets with their columns."""
        return [self._with(x, self._columns(pair_rows(x))) for x in X]

    def values(self, rows: Matrix) -> Matrix:
        """The features that stay and the columns, of some pairs."""
        made = self._columns(dense(rows))
        if not self.keeps:
            return made
        if sparse.issparse(rows):
            return sparse.csr_array(sparse.hstack([rows, made], format="csr"))
        return np.hstack([rows, made])

    @property
    def by_feature(self) -> bool:
        """Whether `terms` has what each feature adds to the columns."""
        return False

    def terms(self, rows: Floats, names: Sequence[str], w: Floats) -> SimilarityTerms:
        """What adds up to <w, values> of some pairs, given their features and names: columns, or what each
        feature adds to them (`by_feature`).
        """
        return SimilarityTerms.linear(dense(self.values(rows)), self.all_names(names), w)

    def all_names(self, features: Sequence[str]) -> list[str]:
        """The names of the features that stay, and of the columns."""
        return [*(features if self.keeps else ()), *self.names()]

    def _with(self, x: ItemSet, columns: Floats) -> ItemSet:
        pairs: Matrix = columns
        if self.keeps and x.pairs is not None:
            joined = sparse.hstack if sparse.issparse(x.pairs) else np.hstack
            pairs = joined([x.pairs, columns])
        names = None if x.feature_names is None else self.all_names(x.feature_names)
        return ItemSet(
            x.nodes if self.keeps else None,
            pairs,
            pair_index=x.index,
            ids=x.ids,
            feature_names=names,
            n_items=x.n_items,
            sources=x.sources,
        )


# What --similarity and Recipe(similarity=...) know, and the stored names of their maps; "linear" needs none.
SIMILARITIES = {"linear": None, "kernel": "KernelMap", "mapped": "NystroemMap", "trees": "TreeColumn"}


def make_map(similarity: str | PairMap, random_state: int = 0) -> PairMap | None:
    """The map of that name, or a copy of one that is given; None for the linear similarity."""
    if isinstance(similarity, PairMap):
        return clone(similarity)
    if similarity not in SIMILARITIES:
        if similarity == "auto":
            raise ValueError("similarity='auto' is a choice that `Recipe.fit` makes; to see it, cv --compare")
        raise ValueError(f"similarity must be one of {', '.join(SIMILARITIES)}, auto, not {similarity!r}")
    if (name := SIMILARITIES[similarity]) is None:
        return None
    made: PairMap = entry_by_name(name).cls()
    return made.set_params(random_state=random_state) if "random_state" in made.get_params() else made
