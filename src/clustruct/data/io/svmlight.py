"""SVM^light files: ``target qid:set index:value ... # comment``, for the classical learners and as sets."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from clustruct.core.exceptions import DataError
from clustruct.core.text import place
from clustruct.data.itemsets import ItemSet

from .files import text_lines

__all__ = ["SvmLight", "SvmLightLabels", "read_svmlight", "read_svmlight_labels", "sets_from_svmlight"]

ENTRY = re.compile(r"([0-9]+):(\S+)$")
LABEL = re.compile(r"-?[0-9]{1,18}")
# Refuses a target that is none; path and line are where it stands.
CheckTarget: TypeAlias = Callable[[str, Path, int], object]


class SvmLight(NamedTuple):
    """Rows (CSR), the target of each, and the set (qid) of each; None where no line has one."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None


def read_svmlight(path: str | PathLike[str], n_features: int | None = None) -> SvmLight:
    """Read a file of examples, packed or not; `DataError` names the line at fault.

    Feature numbers count from 1. ``n_features`` makes files of a pair, train and test, equally wide.
    The rows are checked line by line and then read by scikit-learn.

    Parameters
    ----------
    path : path
        The file.
    n_features : int, optional
        How many features rows have; by default as many as the largest number tells.

    Returns
    -------
    SvmLight
        The rows ``X``, the targets ``y`` and the ``qid`` of each.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     where = os.path.join(folder, "a.svm")
    ...     with open(where, "w") as f:
    ...         _ = f.write("1 qid:7 1:0.5 3:2 # first\\n-1 qid:7 2:1\\n")
    ...     found = read_svmlight(where)
    >>> found.X.toarray().tolist(), found.y.tolist(), found.qid.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0], [7, 7])
    """
    found = examples(Path(path), n_features, check_number)
    return SvmLight(found.X, np.array([float(target) for target in found.targets]), found.qid)


class SvmLightLabels(NamedTuple):
    """Rows (CSR), and the labels of each, which may be none."""

    X: Any
    labels: list[tuple[int, ...]]


def read_svmlight_labels(path: str | PathLike[str], n_features: int | None = None) -> SvmLightLabels:
    """Read a file of examples with any number of labels each: ``1,3 4:0.5 7:1``, or ``4:0.5`` for none.

    Parameters
    ----------
    path : path
        The file.
    n_features : int, optional
        How many features rows have; by default as many as the largest number tells.

    Returns
    -------
    SvmLightLabels
        The rows ``X`` and the ``labels`` of each.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     where = os.path.join(folder, "a.svm")
    ...     with open(where, "w") as f:
    ...         _ = f.write("1,3 1:0.5\\n2:1 # no label\\n3 3:2\\n")
    ...     found = read_svmlight_labels(where)
    >>> found.labels, found.X.shape
    ([(1, 3), (), (3,)], (3, 3))
    """
    found = examples(Path(path), n_features, check_labels)
    return SvmLightLabels(found.X, [labels_of(target) for target in found.targets])


class Examples(NamedTuple):
    """Rows, targets as they are written ("" where there is none), sets, and the line of each."""

    X: Any
    targets: list[str]
    qid: NDArray[np.int64] | None
    lines: list[int]


def examples(path: Path, n_features: int | None, check: CheckTarget) -> Examples:
    """All lines of a file, each of which was looked at."""
    kept, targets, queries, lines = [], [], [], []
    for line, text in text_lines(path):
        words = text.split("#", 1)[0].split()
        if words:
            targets.append("" if ":" in words[0] else words.pop(0))
            check(targets[-1], path, line)
            queries.append(_check(words, path, line, n_features))
            kept.append(" ".join(["0", *words]))
            lines.append(line)
    if not kept:
        raise DataError(f"{path}: there are no examples")
    named = [q is not None for q in queries]
    if any(named) and not all(named):
        raise DataError(f"{path}: some examples have a qid, example {named.index(False) + 1} has none")
    X, _ = load_svmlight_file(io.BytesIO("\n".join(kept).encode()), n_features=n_features, zero_based=False)
    return Examples(X, targets, np.array(queries, dtype=np.int64) if all(named) else None, lines)


def labels_of(target: str) -> tuple[int, ...]:
    """The labels of a target, each once and in order.

    >>> labels_of("3,1,3"), labels_of("")
    ((1, 3), ())
    """
    return tuple(sorted({int(label) for label in target.split(",")})) if target else ()


def check_labels(target: str, path: Path, line: int) -> None:
    """Refuse a target that is no list of labels."""
    for label in target.split(",") if target else ():
        if not LABEL.fullmatch(label):
            raise DataError(f"{place(path, line)}: labels are whole numbers, as in 1,3; not {target[:40]!r}")


def check_number(target: str, path: Path, line: int) -> None:
    """Refuse a target that is no number."""
    if not target:
        raise DataError(f"{place(path, line)}: there is no target before the features")
    _number(target, "the target", path, line)


def _check(entries: list[str], path: Path, line: int, n_features: int | None) -> int | None:
    """Refuse a line that is no example; gives its qid, which is taken from the entries that are read."""
    entries, query = list(entries), None
    if entries and entries[0].startswith("qid:"):
        given = entries.pop(0)[4:]
        if not given.isascii() or not given.isdigit() or len(given) > 18:
            raise DataError(f"{place(path, line)}: the qid must be a whole number, not {given!r}")
        query = int(given)
    before = 0
    for entry in entries:
        found = ENTRY.match(entry)
        if found is None:
            raise DataError(f"{place(path, line)}: expected index:value, not {entry[:40]!r}")
        index = int(found[1]) if len(found[1]) <= 10 else 2**31
        _number(found[2], f"the value of feature {found[1]}", path, line)
        if not before < index < 2**31 or (n_features is not None and index > n_features):
            what = "feature numbers count from 1 and rise" + (
                f" to {n_features} at most" if n_features else ""
            )
            raise DataError(f"{place(path, line)}: {what}; here is {found[1]} after {before}")
        before = index
    return query


def _number(text: str, what: str, path: Path, line: int) -> None:
    try:
        value = float(text if text.isascii() and "_" not in text else "no number")
    except ValueError:
        raise DataError(f"{place(path, line)}: {what} is no number: {text[:40]!r}") from None
    if not np.isfinite(value):
        raise DataError(f"{place(path, line)}: {what} is not finite")


def sets_from_svmlight(
    path: str | PathLike[str], n_features: int | None = None
) -> tuple[list[ItemSet], list[NDArray[np.int64]]]:
    """Item sets with node features, one per qid, and the targets as labels of their items.

    For `SupervisedKMeans` and others that take node features: ``model.fit(*sets_from_svmlight(file))``.

    Parameters
    ----------
    path : path
        The file.
    n_features : int, optional
        How many features rows have; by default as many as the largest number tells.

    Returns
    -------
    tuple of list of ItemSet, list of array
        The sets, and the labels of each.
    """
    X, y, qid = read_svmlight(path, n_features)
    owner = np.zeros(len(y), np.int64) if qid is None else qid
    _, first = np.unique(owner, return_index=True)
    rows = [np.flatnonzero(owner == owner[a]) for a in np.sort(first)]
    return [ItemSet(nodes=X[r]) for r in rows], [np.unique(y[r], return_inverse=True)[1] for r in rows]
