"""SVM^light files: ``target qid:set index:value ... # comment``, for the classical learners and as sets."""

from __future__ import annotations

import io
import re
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from clustruct.exceptions import DataError
from clustruct.itemsets import ItemSet
from clustruct.text import place

from .files import text_lines

__all__ = ["SvmLight", "read_svmlight", "sets_from_svmlight"]

ENTRY = re.compile(r"([0-9]+):(\S+)$")


class SvmLight(NamedTuple):
    """Rows (CSR), the target of each, and the set (qid) of each; None where no line has one."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None


def read_svmlight(path: str | PathLike[str], n_features: int | None = None) -> SvmLight:
    """Read a file of examples, packed or not; `DataError` names the line at fault.

    Feature numbers count from 1. ``n_features`` makes files of a pair, train and test, equally wide.
    The rows are checked line by line and then read by scikit-learn.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     where = os.path.join(folder, "a.svm")
    ...     with open(where, "w") as f:
    ...         _ = f.write("1 qid:7 1:0.5 3:2 # first\\n-1 qid:7 2:1\\n")
    ...     found = read_svmlight(where)
    >>> found.X.toarray().tolist(), found.y.tolist(), found.qid.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0], [7, 7])
    """
    where = Path(path)
    kept, queries = [], []
    for line, text in text_lines(where):
        bare = text.split("#", 1)[0]
        if bare.strip():
            queries.append(_check(bare, where, line, n_features))
            kept.append(bare.strip())
    if not kept:
        raise DataError(f"{where}: there are no examples")
    named = [q is not None for q in queries]
    if any(named) and not all(named):
        raise DataError(f"{where}: some examples have a qid, example {named.index(False) + 1} has none")
    X, y = load_svmlight_file(io.BytesIO("\n".join(kept).encode()), n_features=n_features, zero_based=False)
    return SvmLight(X, y, np.array(queries, dtype=np.int64) if all(named) else None)


def _check(text: str, path: Path, line: int, n_features: int | None) -> int | None:
    """Refuse a line that is no example; gives its qid."""
    target, *entries = text.split()
    _number(target, "the target", path, line)
    query = None
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
    """
    X, y, qid = read_svmlight(path, n_features)
    owner = np.zeros(len(y), np.int64) if qid is None else qid
    _, first = np.unique(owner, return_index=True)
    rows = [np.flatnonzero(owner == owner[a]) for a in np.sort(first)]
    return [ItemSet(nodes=X[r]) for r in rows], [np.unique(y[r], return_inverse=True)[1] for r in rows]
