"""Label sets: synthetic ones of the dissertation, SVM-light files, and scores of predictions."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import precision_recall_fscore_support

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import place
from clustruct.core.random import RandomStateLike, as_generator


class MultiLabelData(NamedTuple):
    """Feature rows (CSR or dense) and 0/1 labels, one column per label."""

    X: Any
    Y: NDArray[np.int8]


def make_multilabel_chain(
    n_samples: int = 471,
    n_labels: int = 6,
    n_related: int = 1000,
    n_active: int = 10,
    random_state: RandomStateLike = 0,
) -> MultiLabelData:
    """Synth1 (section 5.5.1): label 0 is always on, label i half the time where label i - 1 is on.

    Each label has ``n_related`` binary features of its own; where it is on, ``n_active`` of them,
    drawn at random, are 1. X is CSR with ``n_labels * n_related`` columns. Learnable without edges,
    but edges know that label i needs label i - 1. The dissertation has 471 training and 5045 test examples.

    Examples
    --------
    >>> X, Y = make_multilabel_chain(5)
    >>> X.shape, Y[:, 0].tolist(), bool((X.sum(axis=1) == 10 * Y.sum(axis=1)).all())
    ((5, 6000), [1, 1, 1, 1, 1], True)
    """
    rng = as_generator(random_state)
    coins = rng.random((n_samples, n_labels)) < 0.5
    coins[:, 0] = True
    Y = np.cumprod(coins, axis=1).astype(np.int8)
    row, label = np.nonzero(Y)
    picked = np.argpartition(rng.random((len(row), n_related)), n_active - 1, axis=1)[:, :n_active]
    columns = (label[:, None] * n_related + picked).ravel()
    rows = np.repeat(row, n_active)
    shape = (n_samples, n_labels * n_related)
    X = sparse.csr_array(sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape))
    return MultiLabelData(X, Y)


def make_multilabel_count(
    n_samples: int = 1000, n_labels: int = 10, per_label: int = 4, random_state: RandomStateLike = 0
) -> MultiLabelData:
    """Synth2 (section 5.5.1): one label is on; label i (from 1) turns on ``4 i`` of 40 features.

    Which features says nothing, only their number does: node potentials are linear in it and cannot
    single out a middle label, edges can. The dissertation has 1000 training and 10,000 test examples.

    Examples
    --------
    >>> X, Y = make_multilabel_count(6)
    >>> X.shape, bool((X.sum(axis=1) == 4 * (Y.argmax(axis=1) + 1)).all()), Y.sum(axis=1).tolist()
    ((6, 40), True, [1, 1, 1, 1, 1, 1])
    """
    rng = as_generator(random_state)
    label = rng.integers(0, n_labels, n_samples)
    rank = np.argsort(np.argsort(rng.random((n_samples, n_labels * per_label)), axis=1), axis=1)
    X = (rank < per_label * (label + 1)[:, None]).astype(float)
    return MultiLabelData(X, (label[:, None] == np.arange(n_labels)).astype(np.int8))


def read_multilabel(
    path: str | os.PathLike[str], n_features: int | None = None, n_labels: int | None = None
) -> MultiLabelData:
    """Read a multi-label SVM-light file, plain or gzipped.

    A line holds label numbers from 0 on, separated by commas (or none at all), then ``index:value`` pairs
    with indices from 1 on. The sizes are taken from the file where they are not given.
    """
    label_rows, label_columns, columns, values, ends = [], [], [], [], [0]
    for number, parts in enumerate(_examples(path)):
        for labels, index, value in parts:
            if index is None:
                label_columns.extend(labels)
                label_rows.extend([number] * len(labels))
            else:
                columns.append(index)
                values.append(value)
        ends.append(len(columns))
    if len(ends) == 1:
        raise DataError(f"{path}: there are no examples")
    d = n_features or max(columns, default=-1) + 1
    V = n_labels or max(label_columns, default=-1) + 1
    if max(columns, default=-1) >= d or max(label_columns, default=-1) >= V:
        raise DataError(f"{path}: holds more than {d} features or {V} labels")
    X = sparse.csr_array((np.array(values), np.array(columns, np.int32), np.array(ends)), (len(ends) - 1, d))
    Y = np.zeros((len(ends) - 1, V), np.int8)
    Y[label_rows, label_columns] = 1
    return MultiLabelData(X, Y)


# The labels of an example, or the column and the value of one of its features.
Part: TypeAlias = tuple[list[int], int | None, float]


def _examples(path: str | os.PathLike[str]) -> Iterator[list[Part]]:
    """The parts of each line; what cannot be one is a DataError that names it."""
    done = 0
    try:
        with gzip.open(path, "rb") if str(path).endswith(".gz") else open(path, "rb") as lines:
            for line in lines:
                yield [_part(part) for part in line.decode().split("#", 1)[0].split()]
                done += 1
    except (ValueError, EOFError, zlib.error) as error:
        raise DataError(f"{place(path, done + 1)}: {error}") from None


def _part(text: str) -> Part:
    index, colon, value = text.partition(":")
    if not colon:
        # Labels are held as a dense table.
        return [_whole(label, "label numbers", 0, 999_999) for label in text.split(",") if label], None, 0.0
    column = _whole(index, "feature indices", 1, 999_999_999) - 1
    if not math.isfinite(number := float(value.replace("_", "?"))):
        raise ValueError(f"the value of feature {index} is not finite")
    return [], column, number


def _whole(text: str, what: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and least <= int(text) <= most):
        raise ValueError(f"{what} count from {least} to {most} at most; here is {text[:40]!r}")
    return int(text)


def label_set_scores(Y_true: ArrayLike, Y_pred: ArrayLike) -> dict[str, float]:
    """Hamming loss (percent), subset accuracy, and F over all decisions, labels and rows.

    ``hamming_loss`` is 100 (wrong labels) / (n V), the loss of chapter 5; ``subset_accuracy`` the share of
    rows of which every label is right. ``f1_micro`` counts the decisions of all rows and labels together,
    ``f1_macro`` is the mean over labels, ``f1_rows`` that over rows; F is 1 where there is nothing to be
    found and nothing was.

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
