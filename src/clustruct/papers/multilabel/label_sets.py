"""Scores of predicted sets of labels: of each label, of each row, and of all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import precision_recall_fscore_support


def label_set_scores(Y_true: ArrayLike, Y_pred: ArrayLike) -> dict[str, float]:
    """Hamming loss (percent), subset accuracy, and F over all decisions, labels and rows.

    ``hamming_loss`` is 100 (wrong labels) / (n V), the loss of chapter 5; ``subset_accuracy`` the share of
    rows of which every label is right. ``f1_micro`` counts the decisions of all rows and labels together,
    ``f1_macro`` is the mean over labels, ``f1_rows`` that over rows; F is 1 where there is nothing to be
    found and nothing was.

    Parameters
    ----------
    Y_true : array-like
        One column of 0 and 1 for each label.
    Y_pred : array-like
        The same for the prediction.

    Returns
    -------
    dict
        The scores by name.

    Examples
    --------
    >>> {name: round(v, 3) for name, v in label_set_scores([[1, 0], [1, 1]], [[1, 0], [1, 0]]).items()}
    {'hamming_loss': 25.0, 'subset_accuracy': 0.5, 'f1_micro': 0.8, 'f1_macro': 0.5, 'f1_rows': 0.833}
    """
    truth, found = np.asarray(Y_true, dtype=bool), np.asarray(Y_pred, dtype=bool)
    if truth.ndim != 2 or truth.shape != found.shape:
        raise ValueError(f"labels are 0/1 arrays of one shape, not {truth.shape} and {found.shape}")
    wrong = truth != found
    return {
        "hamming_loss": 100.0 * float(wrong.mean()),
        "subset_accuracy": float((~wrong.any(axis=1)).mean()),
        "f1_micro": _mean_f(truth.ravel()[None], found.ravel()[None]),
        "f1_macro": _mean_f(truth.T, found.T),
        "f1_rows": _mean_f(truth, found),
    }


def label_rows(Y_true: ArrayLike, Y_pred: ArrayLike, names: Sequence[str]) -> list[list[Any]]:
    """Of each label: its name, precision, recall, F, and how many rows have it.

    None is a share of nothing: the precision of a label that is never given, the recall of one no row has.

    Parameters
    ----------
    Y_true : array-like
        One column of 0 and 1 for each label.
    Y_pred : array-like
        The same for the prediction.
    names : sequence of str
        The names of the labels.

    Returns
    -------
    list of list of object
        One row for each label.

    Examples
    --------
    >>> label_rows([[1, 0], [1, 1]], [[1, 0], [1, 0]], ["a", "b"])
    [['a', 1.0, 1.0, 1.0, 2], ['b', None, 0.0, 0.0, 1]]
    """
    found = precision_recall_fscore_support(
        np.asarray(Y_true),
        np.asarray(Y_pred),
        labels=np.arange(len(names)),
        zero_division=np.nan,
        average=None,
    )
    columns = [[None if v != v else v for v in part.tolist()] for part in found]
    return [list(row) for row in zip(names, *columns, strict=True)]


def _mean_f(truth: Any, found: Any) -> float:
    """The mean of 2 |both| / (|truth| + |found|) over rows."""
    both, sizes = (truth & found).sum(axis=1), truth.sum(axis=1) + found.sum(axis=1)
    return float(np.where(sizes > 0, 2.0 * both / np.maximum(sizes, 1), 1.0).mean())
