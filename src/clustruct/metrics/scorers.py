"""Scores by name, as scikit-learn's searches and cross-validation take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from clustruct._typing import LabelsLike

from .evaluation import CONLL, FRACTIONS, SINGLE
from .fractions import Scores

__all__ = ["Scorer", "get_scorer"]

_NEGATED = "variation_of_information"


class Clusterer(Protocol):
    """An estimator that gives one label vector per set."""

    def predict(self, X: Sequence[object]) -> Sequence[LabelsLike]: ...


@dataclass(frozen=True)
class Scorer:
    """``scorer(estimator, X, y)``: the mean over the sets of a score, the higher the better."""

    name: str

    def __call__(self, estimator: Clusterer, X: Sequence[object], y: Sequence[LabelsLike]) -> float:
        pairs = zip(y, estimator.predict(X), strict=True)
        return float(np.mean([score(self.name, truth, found) for truth, found in pairs]))


def get_scorer(name: str) -> Scorer:
    """A scorer for ``scoring=`` of scikit-learn's `GridSearchCV`, `cross_val_score` and the like.

    A family of precision and recall ("pairwise", "muc", "b_cubed", "ceaf_mention", "ceaf_entity", "lea")
    means its F; "b_cubed_precision" and "b_cubed_recall" are the others. "conll" is the mean F of three.
    Further "rand", "adjusted_rand", "normalized_mutual_information", "matched_accuracy" and
    "neg_variation_of_information".

    >>> class Alike:
    ...     def predict(self, X): return [[0] * len(x) for x in X]
    >>> get_scorer("b_cubed")(Alike(), ["ab", "abcd"], [[0, 0], [0, 0, 1, 1]])
    0.8333333333333333
    """
    score(name, [0], [0])
    return Scorer(name)


def score(name: str, y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """One score of one set; ValueError for a name that is none."""
    if name == "conll":
        return float(np.mean([score(family, y_true, y_pred) for family in CONLL]))
    if name == f"neg_{_NEGATED}":
        return -SINGLE[_NEGATED](y_true, y_pred)
    if name in SINGLE and name != _NEGATED:
        return SINGLE[name](y_true, y_pred)
    for family, (fractions, zero_division) in FRACTIONS.items():
        for field in Scores._fields:
            if name in (f"{family}_{field}", family if field == "f1" else None):
                return float(getattr(fractions(y_true, y_pred).scores(zero_division), field))
    known = [*FRACTIONS, "conll", *(n for n in SINGLE if n != _NEGATED), f"neg_{_NEGATED}"]
    raise ValueError(f"unknown score {name!r}; known are {', '.join(known)}")
