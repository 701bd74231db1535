"""Decision trees in plain arrays: logits, and what each feature adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Floats, Ints

# Over a smaller step of a sum of shares the slope of its logit is that in the middle: no ratio of roundings.
SMALL_STEP = 1e-4


@register("Trees")
@dataclass(frozen=True)
class Trees(DataclassState):
    """Decision trees in plain arrays: what a file keeps of a classifier of two classes.

    A node n with feature[n] >= 0 sends a row to left[n] where its feature is at most threshold[n], else to
    right[n]; the others are leaves of value[n]. Children come after their parents. The logit of a row is the
    sum of baseline and the values of its leaves; where ``averaged`` is set, values are shares of true pairs
    in leaves, whose mean over the n trees is p, and the logit is that of (n p + 1/2) / (n + 1).

    Inner nodes have the mean of the leaves below them, by training weight. `credits` needs that, `logits`
    does not; files of an older form have 0 there.
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
            parts = [_boosting_nodes(stage[0].nodes) for stage in classifier._predictors]
            baseline = float(np.ravel(classifier._baseline_prediction)[0])
            return cls(baseline, *_join_trees(parts))
        return cls(
            0.0, *_join_trees([_forest_nodes(one.tree_) for one in classifier.estimators_]), averaged=True
        )

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
        from ._kernels import add_trees

        return self._logit(np.asarray(add_trees(self._as_read(rows), *self._arrays)))

    def with_means(self, rows: Floats, weight: Floats) -> Trees:
        """These with the means of inner nodes, by the rows that they were learned from and their weights."""
        from ._kernels import node_means

        seen, counts = self._as_read(rows), np.ascontiguousarray(weight, dtype=np.float64)
        return replace(self, value=np.asarray(node_means(seen, counts, *self._arrays)))

    @property
    def has_means(self) -> bool:
        """Whether inner nodes can be means of what is below them, as `credits` needs."""
        inner = self.feature >= 0
        below = np.stack([self.value[self.left[inner]], self.value[self.right[inner]]])
        near = 1e-9 * np.abs(self.value).max(initial=0.0)
        own = self.value[inner]
        return bool(((below.min(axis=0) - near <= own) & (own <= below.max(axis=0) + near)).all())

    def credits(self, rows: Floats) -> tuple[float, Floats]:
        """A logit that all rows have in common, and what each feature of each row adds to it (Saabas 2014).

        A split on the path of a row has the step from its own value to that of the child. Those of a forest
        are steps of the mean share p: logit(p) less that of the roots is divided in proportion to them.
        """
        from ._kernels import credit_trees

        steps = np.asarray(credit_trees(self._as_read(rows), *self._arrays))
        start = np.full(1, self.value[self.roots].sum())
        if self.averaged:
            steps *= self._slope(start, start + steps.sum(axis=1))[:, None]
        return float(self._logit(start)[0]), steps

    @property
    def _arrays(self) -> tuple[Ints, Ints, Floats, Ints, Ints, Floats]:
        return self.roots, self.feature, self.threshold, self.left, self.right, self.value

    def _as_read(self, rows: Floats) -> Floats:
        """Rows as the trees read them: scikit-learn's forests at single precision."""
        return np.ascontiguousarray(rows.astype(np.float32).astype(np.float64) if self.averaged else rows)

    def _logit(self, total: Floats) -> Floats:
        if not self.averaged:
            return self.baseline + total
        return np.log((total + 0.5) / (len(self.roots) - total + 0.5))

    def _slope(self, start: Floats, end: Floats) -> Floats:
        """The change of the logit for each unit of change of the sum of shares, from start to end."""
        step, middle = end - start, (start + end) / 2.0
        near = np.abs(step) < SMALL_STEP
        between = (self._logit(end) - self._logit(start)) / np.where(near, 1.0, step)
        return np.where(near, 1.0 / (middle + 0.5) + 1.0 / (len(self.roots) - middle + 0.5), between)


# Feature (-1: a leaf), threshold, left, right and value of the nodes of one tree.
Nodes = tuple[Ints, Floats, Ints, Ints, Floats]


def _boosting_nodes(nodes: np.ndarray) -> Nodes:
    leaf = nodes["is_leaf"].astype(bool)
    return (
        np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
        np.where(leaf, 0.0, np.nan_to_num(nodes["num_threshold"].astype(np.float64))),
        np.where(leaf, 0, nodes["left"].astype(np.int64)),
        np.where(leaf, 0, nodes["right"].astype(np.int64)),
        np.where(leaf, nodes["value"].astype(np.float64), 0.0),
    )


def _forest_nodes(tree: Any) -> Nodes:
    """Of a tree of a forest, whose nodes know the shares of both classes; the second is "together"."""
    leaf = tree.children_left < 0
    return (
        np.where(leaf, -1, tree.feature.astype(np.int64)),
        np.where(leaf, 0.0, tree.threshold),
        np.where(leaf, 0, tree.children_left.astype(np.int64)),
        np.where(leaf, 0, tree.children_right.astype(np.int64)),
        np.where(leaf, tree.value[:, 0, 1], 0.0),
    )


def _join_trees(trees: Sequence[Nodes]) -> tuple[Ints, Ints, Floats, Ints, Ints, Floats]:
    sizes = [len(nodes[0]) for nodes in trees]
    roots = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    feature, threshold, left, right, value = (np.concatenate(part) for part in zip(*trees, strict=True))
    shift = np.where(feature < 0, 0, np.repeat(roots, sizes))
    return roots, feature, threshold, left + shift, right + shift, value
