"""A forest and boosted trees together, in the place of the features."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Floats

from .base import LabelledPairs, PairMap
from .terms import UNTOLD, SimilarityTerms
from .trees import BoostedColumn, ForestColumn


@register("TreeColumn")
@dataclass(eq=False, repr=False)
class TreeColumn(PairMap):
    """The mean of the columns of a forest and of boosted trees, in the place of the features.

    K_ab = w (forest_ab + boosted_ab) / 2 + b: the trees have seen the features, and the structural SVM finds
    where zero is for whole clusterings. A forest does better with few independent clusters, boosting with
    many; their mean was as good as the better one or better on most tables, and needs no choice. Features
    beside it cost more than they gave: their weights are learned from columns of training pairs, in which
    the true pairs of a cluster are alike. `ForestColumn` and `BoostedColumn` keep them.

    Parameters
    ----------
    n_trees, folds, random_state
        As of `ForestColumn`.

    Examples
    --------
    >>> TreeColumn().names()
    ['trees', 'constant']
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

    def known_columns(self, part: LabelledPairs) -> Floats:
        """Cross-fitted where these very pairs with these labels were learned from."""
        return _mean_column([kind.known_columns(part) for kind in (self.forest_, self.boosted_)])

    @property
    def by_feature(self) -> bool:
        """Not by trees of older files."""
        return self.forest_.by_feature and self.boosted_.by_feature

    def terms(self, rows: Floats, names: Sequence[str], w: Floats) -> SimilarityTerms:
        """What each feature adds to what the trees say; what they say of any pair is with the constant."""
        if not self.by_feature:
            return replace(super().terms(rows, names, w), note=UNTOLD)
        (base, credits), (other, others) = (kind.credits(rows) for kind in (self.forest_, self.boosted_))
        base, credits = (base + other) / 2.0, (credits + others) / 2.0
        return SimilarityTerms.of_credits(rows, names, 1.0, w[0] * base + w[1], w[0] * credits)

    def learn(self, parts: Sequence[LabelledPairs], groups: Sequence[Hashable] | None) -> list[Floats]:
        self.forest_, self.boosted_ = (kind(**self.get_params()) for kind in (ForestColumn, BoostedColumn))
        made = []
        for kind in (self.forest_, self.boosted_):
            kind.n_features_in_ = self.n_features_in_
            made.append(kind.learn(parts, groups))
        return [_mean_column(both) for both in zip(*made, strict=True)]

    def check_attributes(self) -> None:
        """Trees over the same features."""
        if {self.forest_.n_features_in_, self.boosted_.n_features_in_} != {self.n_features_in_}:
            raise ValueError("the trees of both kinds must look at the same features")


def _mean_column(logits: Sequence[Floats]) -> Floats:
    """Their mean, and a constant beside it."""
    mean = np.mean(logits, axis=0)
    return np.hstack([mean, np.ones_like(mean)])
