"""Scores that count pairs of items."""

import numpy as np
from sklearn.metrics import adjusted_rand_score, rand_score

from clustruct._typing import Ints, LabelsLike
from clustruct.partitions import canonical_labels, contingency

from .fractions import Fractions, Scores


def pairwise_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Pairs together in both, over pairs together in the prediction and in the truth."""
    table = contingency(y_true, y_pred)
    both = _pairs(np.asarray(table.data))
    return Fractions(both, _pairs(np.asarray(table.sum(axis=0))), both, _pairs(np.asarray(table.sum(axis=1))))


def _pairs(counts: Ints) -> float:
    return float((counts * (counts - 1) // 2).sum())


def pairwise_scores(y_true: LabelsLike, y_pred: LabelsLike, *, zero_division: float = 1.0) -> Scores:
    """P = |together in both| / |together in y_pred|, R = |together in both| / |together in y_true|.

    Pairs a < b. Where no pair is together P (or R) is 0/0 and counts as `zero_division`: 1, so that
    all singletons predicted for all singletons score 1. Cost O(m log m).

    >>> pairwise_scores([0, 0, 0, 1], [0, 0, 1, 1])
    Scores(precision=0.5, recall=0.3333333333333333, f1=0.4)
    """
    return pairwise_fractions(y_true, y_pred).scores(zero_division)


def rand_index(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Share of pairs on which the two partitions agree (scikit-learn's `rand_score`); 1 for one item.

    >>> rand_index([0, 0, 1], [0, 0, 0]) == 1 / 3
    True
    """
    truth = canonical_labels(y_true, name="y_true")
    return float(rand_score(truth, canonical_labels(y_pred, n_items=truth.size, name="y_pred")))


def adjusted_rand_index(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Rand index corrected for chance (Hubert and Arabie 1985; scikit-learn's `adjusted_rand_score`).

    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    truth = canonical_labels(y_true, name="y_true")
    return float(adjusted_rand_score(truth, canonical_labels(y_pred, n_items=truth.size, name="y_pred")))
