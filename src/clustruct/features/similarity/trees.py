"""Trees as a column: the logit of a pair classifier, cross-fitted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold

from clustruct.core.exceptions import TooFewClusters
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import register
from clustruct.core.typing import Bools, Floats, Indices, Ints

from .base import NO_CREDITS, LabelledPairs, PairMap, SimilarityTerms, by_trees
from .plain_trees import Trees

# From so many sets (or groups of them) on these are cut into folds; fewer are cut by whole clusters.
FEWEST_SETS = 3
# Trees learn from so many pairs at most: true ones, and false ones drawn at random that count the more.
MOST_PAIRS = 200_000
# Logits beyond this are the classifier's certainty about pairs that it has seen too few of.
CLIPPED = 12.0


@register("ForestColumn")
@dataclass(eq=False, repr=False)
class ForestColumn(PairMap):
    """One more column: log p / (1 - p) of "these two belong together", by a forest, clipped at +-12.

    K_ab = <w, psi_ab> + w' clip(mean over trees t of logit_t(psi_ab), -12, 12), explained feature by feature:
    by its weight, and by what the trees make of it (`credits`).

    Cross-fitted: the column of a training pair comes from trees that have not seen it, nor any pair of its
    set's group; inside one or two tables, of the cluster of either item. There each two folds of clusters
    have trees that have seen neither. Without that the column looks perfect where C is chosen. New pairs
    have the mean of all trees. The classifier is scikit-learn's `ExtraTreesClassifier` (Geurts, Ernst and
    Wehenkel 2006): true pairs of one cluster are alike, so that few are independent, and boosting, which fits
    them all, is sure of itself too often (`BoostedColumn`).

    ``folds`` is the number of parts into which the training pairs are cut; the other parameters are those of
    the classifier.

    Examples
    --------
    >>> from clustruct.data import ItemSet
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 8, 40)
    >>> alike = np.equal.outer(y, y)[np.triu_indices(40, 1)]
    >>> x = ItemSet(pairs=np.where(alike, 0.5, rng.random(alike.size))[:, None], feature_names=["words"])
    >>> column = ForestColumn(n_trees=20, min_samples_leaf=5)
    >>> column.fit_transform([x], [y])[0].feature_names
    ('words', 'trees')
    >>> made = column.transform([x])[0].pairs[:, 1]
    >>> bool(made[alike].mean() > 0 > made[~alike].mean())
    True
    """

    title: ClassVar = "trees"
    needs_labels: ClassVar = True
    fitted: ClassVar = {"n_features_in_": int, "trees_": list, "folds_": dict, "held_out_": list | None}

    n_trees: int = 100
    max_leaf_nodes: int = 256
    min_samples_leaf: int = 3
    folds: int = 5
    random_state: int = 0

    def classifier(self) -> Any:
        """The classifier of a fold, not fitted yet."""
        return ExtraTreesClassifier(
            self.n_trees,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
        )

    def names(self) -> list[str]:
        return ["trees"]

    def columns(self, rows: Floats) -> Floats:
        return clip(np.mean([trees.logits(rows) for trees in self.trees_], axis=0))[:, None]

    @property
    def by_feature(self) -> bool:
        """Not by trees of older files."""
        return all(trees.has_means for trees in self.trees_)

    def credits(self, rows: Floats) -> tuple[float, Floats]:
        """What all pairs have in common in the column, and what each feature adds, within the clipping."""
        found = [trees.credits(rows) for trees in self.trees_]
        start = np.full(1, np.mean([base for base, _ in found]))
        steps = np.mean([steps for _, steps in found], axis=0)
        whole = steps.sum(axis=1)
        end = start + whole
        inside = (np.abs(start) <= CLIPPED) & (np.abs(end) <= CLIPPED)
        left = (clip(end) - clip(start)) / np.where(whole == 0.0, 1.0, whole)
        return float(clip(start)[0]), steps * np.where(inside, 1.0, left)[:, None]

    def terms(self, rows: Floats, names: Sequence[str], w: Floats) -> SimilarityTerms:
        """The features with their weights, then what each adds to the column."""
        if not self.by_feature:
            return replace(super().terms(rows, names, w), note=NO_CREDITS)
        of_features = [by_trees(name) for name in names]
        of_trees = SimilarityTerms.of_credits(rows, of_features, float(w[-1]), *self.credits(rows))
        return SimilarityTerms.linear(rows, names, w[:-1]).beside(of_trees)

    def learn(self, parts: Sequence[LabelledPairs], groups: Sequence[Hashable] | None) -> list[Floats]:
        of_set = set_folds(len(parts), groups, self.folds, self.random_state)
        self.folds_ = {part.name: fold for part, fold in zip(parts, of_set, strict=True)}
        sides = [self._sides(part, fold) for part, fold in zip(parts, of_set, strict=True)]
        rows = np.concatenate([part.rows for part in parts])
        same, weight = (np.concatenate([getattr(part, n) for part in parts]) for n in ("same", "weight"))
        if not same.any() or not (weight[~same] > 0).any():
            raise TooFewClusters(
                "trees need pairs that belong together and pairs that do not: use similarity='linear'"
            )
        touched = np.concatenate(sides)
        n_folds = int(touched.max()) + 1
        by_set = of_set[0] >= 0
        every = range(n_folds)
        across = [[f, g] for g in every for f in range(g)] or [[0, 0]]
        self.held_out_ = [[f, f] for f in every] if by_set else across
        seen = [np.asarray(~np.isin(touched, held).any(axis=1)) for held in self.held_out_]
        self.trees_ = [self._trees(rows, same, weight, own, number) for number, own in enumerate(seen)]
        return [self._cross_fit(part.rows, own) for part, own in zip(parts, sides, strict=True)]

    def labelled_columns(self, part: LabelledPairs) -> Floats:
        """Cross-fitted where these very pairs with these labels were learned from."""
        name = part.name
        if name not in self.folds_:
            return self.columns(part.rows)
        return self._cross_fit(part.rows, self._sides(part, self.folds_[name]))

    def _sides(self, part: LabelledPairs, fold: int) -> Ints:
        """The two folds that each pair of a set touches; a set of no fold is cut by clusters."""
        if fold >= 0:
            return np.full((len(part.rows), 2), fold)
        return pair_folds(part, self.folds, self.random_state)

    def _cross_fit(self, rows: Floats, sides: Ints) -> Floats:
        """The columns by trees that have not seen the folds that a pair touches."""
        logits = np.stack([trees.logits(rows) for trees in self.trees_])
        held_out: list[list[int]] | None = getattr(self, "held_out_", None)
        if held_out is None:  # those of an older file have each seen all folds but the one of its number
            return clip(logits[sides, np.arange(len(rows))[:, None]].mean(axis=1))[:, None]
        return clip(logits[unseen_trees(sides, held_out), np.arange(len(rows))])[:, None]

    def _trees(self, rows: Floats, same: Bools, weight: Floats, seen: Bools, fold: int) -> Trees:
        chosen, extra = sample_pairs(np.flatnonzero(seen & (weight > 0)), same, self.random_state + fold)
        if len(np.unique(same[chosen])) < 2:
            raise TooFewClusters(
                "too few labelled clusters to learn trees with some held out: use similarity='linear'"
            )
        counts = weight[chosen] * extra
        made = Trees.of(self.classifier().fit(rows[chosen], same[chosen], sample_weight=counts))
        return made.with_means(rows[chosen], counts)

    def check_attributes(self) -> None:
        if not self.trees_ or not all(isinstance(trees, Trees) for trees in self.trees_):
            raise ValueError("trees_ must be a list of trees")
        for trees in self.trees_:
            trees.check(self.n_features_in_)
        folds = self.folds_.values()
        if not all(isinstance(f, int) and -1 <= f < len(self.trees_) for f in folds):
            raise ValueError("folds_ must be the numbers of trees")
        held = getattr(self, "held_out_", None)
        if held is not None and (len(held) != len(self.trees_) or not _are_pairs(held, len(self.trees_))):
            raise ValueError("held_out_ must be two folds for each of the trees")


@register("BoostedColumn")
@dataclass(eq=False, repr=False)
class BoostedColumn(ForestColumn):
    """The same by scikit-learn's `HistGradientBoostingClassifier`: for very many independent clusters."""

    max_leaf_nodes: int = 15
    min_samples_leaf: int = 20
    learning_rate: float = 0.1

    def classifier(self) -> Any:
        return HistGradientBoostingClassifier(
            max_iter=self.n_trees,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            early_stopping=False,
            random_state=self.random_state,
        )


def clip(logits: Floats) -> Floats:
    return np.clip(logits, -CLIPPED, CLIPPED)


def sample_pairs(numbers: Indices, same: Bools, random_state: int) -> tuple[Indices, Floats]:
    """All true pairs of these and so many false ones, drawn at random, and what each counts."""
    true, false = numbers[same[numbers]], numbers[~same[numbers]]
    room = max(MOST_PAIRS - len(true), MOST_PAIRS // 2)
    if len(false) <= room:
        return numbers, np.ones(len(numbers))
    some = np.sort(np.random.default_rng(random_state).choice(false, room, replace=False))
    return np.concatenate([true, some]), np.repeat([1.0, len(false) / room], [len(true), len(some)])


def set_folds(n: int, groups: Sequence[Hashable] | None, folds: int, random_state: int) -> list[int]:
    """The fold of each of n sets, sets of a group together; -1 where there are too few sets."""
    owners = np.arange(n)
    if groups is not None:
        owners = np.unique([str(g) for g in groups], return_inverse=True)[1]
    few = owners.max(initial=-1) + 1 < FEWEST_SETS
    return [-1] * n if few else [int(f) for f in _folds(owners, folds, random_state)]


def pair_folds(part: LabelledPairs, folds: int, random_state: int) -> Ints:
    """The folds of the clusters of the two items of each pair; an item without a label has the other's."""
    own = part.clusters
    known = np.unique(own[own != UNKNOWN])
    of_cluster = np.append(_folds(np.arange(len(known)), folds, random_state), -1)
    sides = of_cluster[np.where(own == UNKNOWN, len(known), np.searchsorted(known, own))]
    return np.maximum(np.where(sides < 0, sides[:, ::-1], sides), 0)


def unseen_trees(sides: Ints, held_out: Sequence[Sequence[int]]) -> Indices:
    """The trees of each pair, which have seen neither of the folds that it touches.

    One of them for a pair inside a fold, too, in turn: its column is as rough as that of a pair of two folds.

    >>> unseen_trees(np.array([[0, 1], [2, 1], [0, 0], [0, 0]]), [[0, 1], [0, 2], [1, 2]]).tolist()
    [0, 2, 0, 1]
    """
    low, high = np.sort(sides, axis=1).T
    held = np.sort(np.asarray(held_out), axis=1)
    found = np.zeros(len(sides), np.intp)
    for f, g in np.unique(np.stack([low, high], 1), axis=0).tolist():
        mine = np.flatnonzero((low == f) & (high == g))
        both = (held == f).any(axis=1) & (held == g).any(axis=1)
        found[mine] = np.resize(np.flatnonzero(both), len(mine))
    return found


def _are_pairs(held_out: Sequence[object], below: int) -> bool:
    """Whether these are pairs of numbers of folds."""
    return all(
        isinstance(pair, list) and len(pair) == 2 and all(type(f) is int and 0 <= f <= below for f in pair)
        for pair in held_out
    )


def _folds(owners: Ints, folds: int, random_state: int) -> Ints:
    """The fold of each unit; units of one owner share it."""
    n, fold = int(owners.max(initial=-1)) + 1, np.zeros(len(owners), np.int64)
    if n < 2:
        return fold
    cut = GroupKFold(min(folds, n), shuffle=True, random_state=random_state)
    for number, (_, test) in enumerate(cut.split(np.zeros(len(owners)), groups=owners)):
        fold[test] = number
    return fold


@register("TreeColumn")
@dataclass(eq=False, repr=False)
class TreeColumn(PairMap):
    """The mean of the columns of a forest and of boosted trees, in the place of the features.

    K_ab = w (forest_ab + boosted_ab) / 2 + b: the structural SVM finds where zero is for whole clusterings. A
    forest does better with few independent clusters, boosting with many; their mean was as good as the better
    one or better on most tables. Features beside it cost more than they gave (`ForestColumn` and
    `BoostedColumn` keep them).
    """

    title: ClassVar = "trees"
    keeps: ClassVar = False
    needs_labels: ClassVar = True
    fitted: ClassVar = {"n_features_in_": int, "forest_": ForestColumn, "boosted_": BoostedColumn}

    n_trees: int = 100
    folds: int = 5
    random_state: int = 0

    def names(self) -> list[str]:
        return ["trees", "constant"]

    def columns(self, rows: Floats) -> Floats:
        return _mean_column([kind.columns(rows) for kind in (self.forest_, self.boosted_)])

    def labelled_columns(self, part: LabelledPairs) -> Floats:
        return _mean_column([kind.labelled_columns(part) for kind in (self.forest_, self.boosted_)])

    @property
    def by_feature(self) -> bool:
        return self.forest_.by_feature and self.boosted_.by_feature

    def terms(self, rows: Floats, names: Sequence[str], w: Floats) -> SimilarityTerms:
        """What each feature adds to the column; what all pairs have in common is with the constant."""
        if not self.by_feature:
            return replace(super().terms(rows, names, w), note=NO_CREDITS)
        (base, credits), (other, others) = (kind.credits(rows) for kind in (self.forest_, self.boosted_))
        base, credits = (base + other) / 2.0, (credits + others) / 2.0
        return SimilarityTerms.of_credits(rows, names, 1.0, w[0] * base + w[1], w[0] * credits)

    def learn(self, parts: Sequence[LabelledPairs], groups: Sequence[Hashable] | None) -> list[Floats]:
        self.forest_, self.boosted_ = (kind(**self.get_params()) for kind in (ForestColumn, BoostedColumn))
        self.forest_.n_features_in_ = self.boosted_.n_features_in_ = self.n_features_in_
        made = [kind.learn(parts, groups) for kind in (self.forest_, self.boosted_)]
        return [_mean_column(both) for both in zip(*made, strict=True)]

    def check_attributes(self) -> None:
        if {self.forest_.n_features_in_, self.boosted_.n_features_in_} != {self.n_features_in_}:
            raise ValueError("the trees of both kinds must look at the same features")


def _mean_column(logits: Sequence[Floats]) -> Floats:
    mean = np.mean(logits, axis=0)
    return np.hstack([mean, np.ones_like(mean)])
