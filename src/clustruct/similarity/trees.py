"""Trees as a column: the logit of a pair classifier, cross-fitted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold

from clustruct._typing import Bools, Floats, Indices, Ints
from clustruct.exceptions import TooFewClusters
from clustruct.partitions import UNKNOWN
from clustruct.storage import DataclassState, register

from .base import LabelledPairs, PairMap

# From so many sets (or groups of them) on these are cut into folds; fewer are cut by whole clusters.
FEWEST_SETS = 3
# Trees learn from so many pairs at most: true ones, and false ones drawn at random that count the more.
MOST_PAIRS = 200_000
# Logits beyond this are the classifier's certainty about pairs that it has seen too few of.
CLIPPED = 12.0


@register("Trees")
@dataclass(frozen=True)
class Trees(DataclassState):
    """Decision trees in plain arrays: what a file keeps of a classifier of two classes.

    A node n with feature[n] >= 0 sends a row to left[n] where its feature is at most threshold[n], else to
    right[n]; the others are leaves of value[n]. Children come after their parents. The logit of a row is the
    sum of baseline and the values of its leaves; where ``averaged`` is set, values are shares of true pairs
    in leaves, whose mean over the n trees is p, and the logit is that of (n p + 1/2) / (n + 1).

    Attributes
    ----------
    baseline : float
        What is added to every sum.
    roots : array of int
        The root node of each tree.
    feature : array of int
        The feature that each node looks at, -1 in leaves.
    threshold : array of float
        Rows of at most this value go to the left.
    left : array of int
        The left child of each node.
    right : array of int
        The right child of each node.
    value : array of float
        The value of each leaf.
    averaged : bool, default=False
        Whether values are shares whose mean counts, not logits that are summed.
    """

    baseline: float
    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    averaged: bool = False

    @classmethod
    def of(cls, classifier: HistGradientBoostingClassifier | ExtraTreesClassifier) -> Trees:
        """Those of scikit-learn's classifiers of two classes: boosted trees, or a forest."""
        if isinstance(classifier, HistGradientBoostingClassifier):
            parts = [_boosted(stage[0].nodes) for stage in classifier._predictors]
            baseline = float(np.ravel(classifier._baseline_prediction)[0])
            return cls(baseline, *_joined(parts))
        return cls(0.0, *_joined([_grown(one.tree_) for one in classifier.estimators_]), averaged=True)

    def check(self, n_features: int) -> None:
        """ValueError where these are no trees over so many features: a file may come from anyone."""
        n, inner = len(self.feature), np.flatnonzero(self.feature >= 0)
        columns = (self.feature, self.threshold, self.left, self.right, self.value)
        fit = all(column.shape == (n,) for column in columns) and self.roots.ndim == 1
        if not fit or not ((self.roots >= 0) & (self.roots < n)).all():
            raise ValueError("the parts of trees do not fit")
        for child in (self.left[inner], self.right[inner]):
            if not ((child > inner) & (child < n)).all():
                raise ValueError("the branches of trees do not fit")
        if n and self.feature.max() >= n_features:
            raise ValueError(f"trees look at feature {self.feature.max()} of {n_features}")

    def logits(self, rows: Floats) -> Floats:
        """The logit of each row."""
        from ._kernels import add_trees

        arrays = (self.roots, self.feature, self.threshold, self.left, self.right, self.value)
        if not self.averaged:
            return self.baseline + np.asarray(add_trees(np.ascontiguousarray(rows), *arrays))
        # scikit-learn's forests look at single precision.
        single = np.ascontiguousarray(rows.astype(np.float32).astype(np.float64))
        total, n = np.asarray(add_trees(single, *arrays)), len(self.roots)
        return np.log((total + 0.5) / (n - total + 0.5))


# Feature (-1: a leaf), threshold, left, right and value of the nodes of one tree.
Nodes = tuple[Ints, Floats, Ints, Ints, Floats]


def _boosted(nodes: np.ndarray) -> Nodes:
    leaf = nodes["is_leaf"].astype(bool)
    return (
        np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
        np.where(leaf, 0.0, np.nan_to_num(nodes["num_threshold"].astype(np.float64))),
        np.where(leaf, 0, nodes["left"].astype(np.int64)),
        np.where(leaf, 0, nodes["right"].astype(np.int64)),
        np.where(leaf, nodes["value"].astype(np.float64), 0.0),
    )


def _grown(tree: Any) -> Nodes:
    """Of a tree of a forest, whose nodes know the shares of both classes; the second is "together"."""
    leaf = tree.children_left < 0
    return (
        np.where(leaf, -1, tree.feature.astype(np.int64)),
        np.where(leaf, 0.0, tree.threshold),
        np.where(leaf, 0, tree.children_left.astype(np.int64)),
        np.where(leaf, 0, tree.children_right.astype(np.int64)),
        np.where(leaf, tree.value[:, 0, 1], 0.0),
    )


def _joined(trees: Sequence[Nodes]) -> tuple[Ints, Ints, Floats, Ints, Ints, Floats]:
    """Roots, and the nodes of all trees one after another."""
    sizes = [len(nodes[0]) for nodes in trees]
    roots = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    feature, threshold, left, right, value = (np.concatenate(part) for part in zip(*trees, strict=True))
    shift = np.where(feature < 0, 0, np.repeat(roots, sizes))
    return roots, feature, threshold, left + shift, right + shift, value


@register("ForestColumn")
@dataclass(eq=False, repr=False)
class ForestColumn(PairMap):
    """One more column: log p / (1 - p) of "these two belong together", by a forest, clipped at +-12.

    K_ab = <w, psi_ab> + w' clip(mean over folds f of logit_f(psi_ab), -12, 12): the trees see what features
    mean together, the structural SVM what the columns are worth for whole clusterings, and their sum is
    explained column by column.

    Cross-fitted: the column of a training pair comes from trees that have not seen it, nor any pair of its
    set's group; inside one or two tables, of the cluster of either item (of two clusters of different folds:
    the mean of both folds). Without that the column looks perfect where C is chosen. New pairs have the mean
    of all folds. The classifier is scikit-learn's `ExtraTreesClassifier` (Geurts, Ernst and Wehenkel 2006):
    the true pairs of one cluster are alike, so that a table has far fewer independent ones than it has pairs,
    and boosting, which goes on until it has fitted them, is sure of itself too often (`BoostedColumn`).

    Parameters
    ----------
    n_trees, max_leaf_nodes, min_samples_leaf
        As of the classifier.
    folds : int, default=5
        Into how many parts the training pairs are cut.
    random_state : int, default=0
        Seed, or a generator, of whatever is drawn.

    Examples
    --------
    >>> from clustruct.itemsets import ItemSet
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
    fitted: ClassVar = {"n_features_in_": int, "trees_": list, "folds_": dict}

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
        return clipped(np.mean([trees.logits(rows) for trees in self.trees_], axis=0))[:, None]

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
        self.trees_ = [self._trees(rows, same, weight, (touched != f).all(axis=1), f) for f in range(n_folds)]
        return [self._crossed(part.rows, own) for part, own in zip(parts, sides, strict=True)]

    def known_columns(self, part: LabelledPairs) -> Floats:
        """Cross-fitted where these very pairs with these labels were learned from."""
        name = part.name
        if name not in self.folds_:
            return self.columns(part.rows)
        return self._crossed(part.rows, self._sides(part, self.folds_[name]))

    def _sides(self, part: LabelledPairs, fold: int) -> Ints:
        """The two folds that each pair of a set touches; a set of no fold is cut by clusters."""
        return (
            pair_folds(part, self.folds, self.random_state)
            if fold < 0
            else np.full((len(part.rows), 2), fold)
        )

    def _crossed(self, rows: Floats, sides: Ints) -> Floats:
        """The columns by trees that have not seen the folds that a pair touches."""
        logits = np.stack([trees.logits(rows) for trees in self.trees_])
        return clipped(logits[sides, np.arange(len(rows))[:, None]].mean(axis=1))[:, None]

    def _trees(self, rows: Floats, same: Bools, weight: Floats, seen: Bools, fold: int) -> Trees:
        """Learned from the pairs that were seen."""
        chosen, extra = drawn(np.flatnonzero(seen & (weight > 0)), same, self.random_state + fold)
        if len(np.unique(same[chosen])) < 2:
            raise TooFewClusters(
                "too few labelled clusters to learn trees with some held out: use similarity='linear'"
            )
        counts = weight[chosen] * extra
        return Trees.of(self.classifier().fit(rows[chosen], same[chosen], sample_weight=counts))

    def check_fitted(self) -> None:
        """Trees over the features there are."""
        if not self.trees_ or not all(isinstance(trees, Trees) for trees in self.trees_):
            raise ValueError("trees_ must be a list of trees")
        for trees in self.trees_:
            trees.check(self.n_features_in_)
        folds = self.folds_.values()
        if not all(isinstance(f, int) and -1 <= f < len(self.trees_) for f in folds):
            raise ValueError("folds_ must be the numbers of trees")


@register("BoostedColumn")
@dataclass(eq=False, repr=False)
class BoostedColumn(ForestColumn):
    """The same by scikit-learn's `HistGradientBoostingClassifier`: for very many independent clusters.

    Parameters
    ----------
    n_trees : int, default=100
        How many trees.
    max_leaf_nodes : int, default=15
        How many leaves a tree may have.
    min_samples_leaf : int, default=20
        How many pairs a leaf has at least.
    folds : int, default=5
        Into how many parts the clusters are cut: the column of a training pair comes from trees that have
        not seen it.
    random_state : int, default=0
        Seed of the cut and of the trees.
    learning_rate : float, default=0.1
        How much each tree counts.

    Examples
    --------
    >>> BoostedColumn().classifier().max_iter
    100
    """

    max_leaf_nodes: int = 15
    min_samples_leaf: int = 20
    learning_rate: float = 0.1

    def classifier(self) -> Any:
        """The classifier of a fold, not fitted yet."""
        return HistGradientBoostingClassifier(
            max_iter=self.n_trees,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            early_stopping=False,
            random_state=self.random_state,
        )


def clipped(logits: Floats) -> Floats:
    """Within +-12."""
    return np.clip(logits, -CLIPPED, CLIPPED)


def drawn(numbers: Indices, same: Bools, random_state: int) -> tuple[Indices, Floats]:
    """All true pairs of these and so many false ones, drawn at random, and what each counts."""
    true, false = numbers[same[numbers]], numbers[~same[numbers]]
    room = max(MOST_PAIRS - len(true), MOST_PAIRS // 2)
    if len(false) <= room:
        return numbers, np.ones(len(numbers))
    some = np.sort(np.random.default_rng(random_state).choice(false, room, replace=False))
    return np.concatenate([true, some]), np.repeat([1.0, len(false) / room], [len(true), len(some)])


def set_folds(n: int, groups: Sequence[Hashable] | None, folds: int, random_state: int) -> list[int]:
    """The fold of each of n sets, sets of a group together; -1 where there are too few: cut by clusters."""
    owners = np.arange(n)
    if groups is not None:
        owners = np.unique([str(g) for g in groups], return_inverse=True)[1]
    few = owners.max(initial=-1) + 1 < FEWEST_SETS
    return [-1] * n if few else [int(f) for f in _folds(owners, folds, random_state)]


def pair_folds(part: LabelledPairs, folds: int, random_state: int) -> Ints:
    """The folds of the clusters of the two items of each pair (p x 2).

    An item without a label has the fold of the other one.
    """
    own = part.clusters
    known = np.unique(own[own != UNKNOWN])
    of_cluster = np.append(_folds(np.arange(len(known)), folds, random_state), -1)
    sides = of_cluster[np.where(own == UNKNOWN, len(known), np.searchsorted(known, own))]
    return np.maximum(np.where(sides < 0, sides[:, ::-1], sides), 0)


def _folds(owners: Ints, folds: int, random_state: int) -> Ints:
    """The fold of each unit; units of one owner share it."""
    n, fold = int(owners.max(initial=-1)) + 1, np.zeros(len(owners), np.int64)
    if n < 2:
        return fold
    cut = GroupKFold(min(folds, n), shuffle=True, random_state=random_state)
    for number, (_, test) in enumerate(cut.split(np.zeros(len(owners)), groups=owners)):
        fold[test] = number
    return fold
