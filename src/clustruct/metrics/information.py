"""Scores from information theory, and accuracy under the best matching."""

from typing import Literal

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from clustruct._typing import LabelsLike
from clustruct.partitions import canonical_labels, contingency

from .coreference import best_matching

Average = Literal["arithmetic", "geometric", "min", "max"]


def variation_of_information(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """VI = H(y | ybar) + H(ybar | y) = -1/m sum_tc n_tc (log n_tc/|t| + log n_tc/|c|), in nats.

    A metric on partitions, 0 where they are equal, at most log m (Meila 2007). Cost O(m log m).

    >>> round(variation_of_information([0, 0, 1, 1], [0, 0, 0, 0]), 4)
    0.6931
    """
    table = contingency(y_true, y_pred).tocoo()
    n = np.asarray(table.data, dtype=np.float64)
    if n.size == 0:
        return 0.0
    true_sizes, pred_sizes = np.bincount(table.row, weights=n), np.bincount(table.col, weights=n)
    logs = np.log(n / true_sizes[table.row]) + np.log(n / pred_sizes[table.col])
    return max(0.0, -float((n * logs).sum()) / float(n.sum()))


def normalized_mutual_information(
    y_true: LabelsLike, y_pred: LabelsLike, *, average: Average = "arithmetic"
) -> float:
    """NMI = I(y; ybar) / mean(H(y), H(ybar)), the mean being arithmetic unless `average` says otherwise.

    scikit-learn's `normalized_mutual_info_score`. Strehl and Ghosh 2002 and the Universum paper use
    the geometric mean: pass `average="geometric"`. 1 where both partitions have a single cluster.

    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    """
    truth = canonical_labels(y_true, name="y_true")
    pred = canonical_labels(y_pred, n_items=truth.size, name="y_pred")
    return float(normalized_mutual_info_score(truth, pred, average_method=average))


def matched_accuracy(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """1/m max over one-to-one maps g of sum_t n_{t,g(t)} (Hungarian method). O(k^3).

    >>> matched_accuracy([0, 0, 1, 1], [1, 1, 1, 0])
    0.75
    """
    table = contingency(y_true, y_pred)
    if table.shape[0] == 0:
        raise ValueError("y_true is empty; accuracy needs at least one item")
    return best_matching(table) / float(table.sum())
