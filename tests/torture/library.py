"""Inputs of the library in every form and on every scale: the same answer as the plain form, or a refusal."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import as_strided
from scipy import sparse

from clustruct import MultiLabelMRF, SupervisedCorrelationClustering, SupervisedKMeans, UniversumClustering
from clustruct.core.partitions import canonical_labels
from clustruct.estimators.baselines import PairKMeans, PairwiseClassifierClustering, UntrainedKMeans

from .tally import FINE, Outcome, Part, fault, refused, thinned

Array = np.ndarray[Any, Any]
MODELS: dict[str, Callable[[], Any]] = {
    "correlation": lambda: SupervisedCorrelationClustering(C=1.0),
    "kmeans": lambda: SupervisedKMeans(C=1.0, random_state=0),
    "pairs": PairwiseClassifierClustering,
    "untrained": lambda: UntrainedKMeans(n_clusters=3),
    "pair k-means": lambda: PairKMeans(n_clusters=3),
    "multilabel": lambda: MultiLabelMRF(C=10.0),
    "universum": lambda: UniversumClustering(n_clusters=3, init="kmeans", random_state=0),
}
# Those that take one table; the others take a list of sets.
ON_TABLES = ("multilabel", "universum")


@cache
def plain() -> tuple[list[Array], list[Array]]:
    """Four sets of twelve items in three clusters far apart; whole numbers, so that every type holds them."""
    rng = np.random.default_rng(0)
    y = [rng.permutation(np.arange(12) % 3) for _ in range(4)]
    return [8 * np.eye(3)[labels] + rng.integers(0, 3, (12, 3)) + 1.0 for labels in y], y


def _strided(X: Array) -> Array:
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    return wide[::2, ::3]


def _read_only(X: Array) -> Array:
    held = X.copy()
    held.setflags(write=False)
    return held


def _with(value: Any, dtype: Any = float) -> Callable[[Array], Any]:
    def change(X: Array) -> Any:
        held = X.astype(dtype)
        held[1, 1] = value
        return held

    return change


class Own(np.ndarray):  # type: ignore[type-arg]
    """A class of arrays of somebody's own."""


# Forms of a table that mean the same: they must give the same answer, or be refused.
SAME: dict[str, Callable[[Array], Any]] = {
    "list of lists": lambda X: X.tolist(),
    "tuple of tuples": lambda X: tuple(map(tuple, X.tolist())),
    "list of arrays": list,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int64": lambda X: X.astype(int),
    "int8": lambda X: X.astype(np.int8),
    "uint8": lambda X: X.astype(np.uint8),
    "uint64": lambda X: X.astype(np.uint64),
    "Fortran order": np.asfortranarray,
    "read-only": _read_only,
    "strided": _strided,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "broadcast view": lambda X: as_strided(X.copy(), X.shape, X.strides),
    "big-endian": lambda X: X.astype(">f8"),
    "masked, nothing hidden": np.ma.asarray,
    "np.matrix": np.asmatrix,
    "own class": lambda X: X.view(Own),
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "COO": sparse.coo_array,
    "LIL": sparse.lil_array,
    "DOK": sparse.dok_array,
    "BSR": sparse.bsr_array,
    "CSR matrix": sparse.csr_matrix,
    "CSR of integers": lambda X: sparse.csr_array(X.astype(int)),
    "CSR unsorted": lambda X: _unsorted(sparse.csr_array(X)),
    "DataFrame": pd.DataFrame,
    "DataFrame of integers": lambda X: pd.DataFrame(X.astype(int)),
    "DataFrame of Int64": lambda X: pd.DataFrame(X.astype(int)).astype("Int64"),
    "DataFrame with named columns": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
    "DataFrame, index shuffled": lambda X: pd.DataFrame(X, index=np.arange(len(X))[::-1]),
    "object array": lambda X: X.astype(object),
    "object array of integers": lambda X: X.astype(int).astype(object),
    "complex without imaginary part": lambda X: X.astype(complex),
    "numbers as text": lambda X: X.astype(str),
    "memoryview": lambda X: memoryview(np.ascontiguousarray(X)),
}
# Forms that mean nothing: they must be refused.
WRONG: dict[str, Callable[[Array], Any]] = {
    "complex": _with(1 + 2j, complex),
    "NaN": _with(np.nan),
    "infinite": _with(np.inf),
    "minus infinite": _with(-np.inf),
    "None inside": _with(None, object),
    "text inside": _with("x", object),
    "NaN in a float32": _with(np.nan, np.float32),
    "NaN in a CSR": lambda X: sparse.csr_array(_with(np.nan)(X)),
    "infinite in a DataFrame": lambda X: pd.DataFrame(_with(np.inf)(X)),
    "missing in Int64": lambda X: pd.DataFrame(_with(np.nan)(X)).astype("Int64"),
    "longdouble beyond a double": lambda X: X.astype(np.longdouble) * np.longdouble("1e4000"),
    "integers of 400 digits": _with(10**400, object),
    "masked": lambda X: np.ma.masked_greater(X, 9.0),
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "one column less in one set": lambda X: X[:, :2],
    "ragged": lambda X: [row[: 1 + i % 3] for i, row in enumerate(X.tolist())],
    "one axis": lambda X: X.ravel(),
    "three axes": lambda X: X[:, :, None],
    "a number": lambda X: 3.0,
    "None": lambda X: None,
    "text": lambda X: "abc",
    "dict": lambda X: {"a": X},
    "generator": lambda X: (row for row in X),
    "dates": lambda X: X.astype("datetime64[D]"),
    "words": lambda X: np.full(X.shape, "word"),
}
# Forms of labels: the same, or meaningless.
SAME_LABELS: dict[str, Callable[[Array], Any]] = {
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "int8": lambda y: y.astype(np.int8),
    "float": lambda y: y.astype(float),
    "text": lambda y: np.array(["a", "b", "c"])[y],
    "objects": lambda y: np.array(["a", ("b", 1), 7], object)[y],
    "Series": pd.Series,
    "Series, index shuffled": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "categorical": lambda y: pd.Categorical(np.array(["a", "b", "c"])[y]),
    "read-only": _read_only,
    "big numbers": lambda y: y + 2**60,
    "dates": lambda y: y.astype("datetime64[D]"),
    "huge integers": lambda y: [10**400 + int(v) for v in y],
}
WRONG_LABELS: dict[str, Callable[[Array], Any]] = {
    "None": lambda y: None,
    "too short": lambda y: y[:-1],
    "too long": lambda y: np.append(y, 0),
    "two axes": lambda y: np.column_stack([y, y]),
    "lists inside": lambda y: [[int(v)] for v in y],
    "a number": lambda y: 3,
    "a word": lambda y: "abc",
    "empty": lambda y: [],
    "masked": lambda y: np.ma.masked_equal(y, 0),
    "dict": lambda y: dict(enumerate(y.tolist())),
}
# Labels that are not known: the same as -1 where items without a label are taken, else refused.
UNKNOWN_LABELS: dict[str, Callable[[Array], Any]] = {
    "NaN": lambda y: np.where(y == 0, np.nan, y),
    "None inside": lambda y: [None if v == 0 else int(v) for v in y],
    "NaN among objects": lambda y: np.where(y == 0, np.nan, y).astype(object),
    "missing in a Series": lambda y: pd.Series(np.where(y == 0, np.nan, y)),
    "missing in Int64": lambda y: pd.Series(np.where(y == 0, np.nan, y)).astype("Int64"),
    "missing category": lambda y: pd.Categorical.from_codes(y - 1, ["b", "c"]),
}
TAKES_UNKNOWN = ("correlation", "pairs")
# C and the constant feature of a multi-label model are in the units of the features, as for scikit-learn's
# linear SVMs: on another scale it is another problem.
UNSCALED = ("multilabel",)
SCALES = [f"1e{e}" for e in range(-100, 101, 10)]


def _unsorted(rows: Any) -> Any:
    for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[a:b], rows.data[a:b] = rows.indices[a:b][::-1].copy(), rows.data[a:b][::-1].copy()
    rows.has_sorted_indices = False
    return rows


class Library(Part):
    name = "library"
    about = "inputs of the library in over 20 forms, and on scales from 1e-100 to 1e100"

    def cases(self, scale: float, seed: int) -> list[str]:
        found = []
        for model in MODELS:
            found += [f"{model}: X {form}" for form in (*SAME, *WRONG)]
            if model in ON_TABLES:
                # They have one table alone, which may have two columns.
                found.remove(f"{model}: X one column less in one set")
            elif model != "untrained":
                found += [f"{model}: y {form}" for form in (*SAME_LABELS, *WRONG_LABELS, *UNKNOWN_LABELS)]
            if model not in UNSCALED:
                found += [f"{model}: scale {scale}" for scale in SCALES]
        return thinned(found, scale)

    def start(self, folder: Path, seed: int) -> None:
        for model in MODELS:
            expected(model)
            expected(model, partial=True)

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        model, _, rest = case.partition(": ")
        what, _, form = rest.partition(" ")
        X, y = plain()
        if what == "scale":
            return _compared(model, [x * float(form) for x in X], y)
        if what == "X":
            wrong = form in WRONG
            change = WRONG[form] if wrong else SAME[form]
            # One set as it should be beside wrong ones; forms that mean the same are given to all sets.
            return _compared(model, [X[0] if wrong else change(X[0]), *(change(x) for x in X[1:])], y, wrong)
        if form in UNKNOWN_LABELS:
            unknown = [y[0], *(UNKNOWN_LABELS[form](v) for v in y[1:])]
            return _compared(model, X, unknown, model not in TAKES_UNKNOWN, expected(model, partial=True))
        wrong = form in WRONG_LABELS
        change = (WRONG_LABELS if wrong else SAME_LABELS)[form]
        return _compared(model, X, [y[0], *(change(v) for v in y[1:])], wrong)


def answer(model: str, X: list[Any], y: list[Any], test: list[Any]) -> list[Any]:
    """The clusters (or label vectors) of a model trained on the sets; one on tables has the last alone."""
    made = MODELS[model]()
    if model == "multilabel":
        return [made.fit(X[-1], np.eye(3, dtype=int)[y[-1]]).predict(test[-1])]
    if model == "universum":
        return [canonical_labels(made.fit(X[-1]).labels_)]
    return [canonical_labels(labels) for labels in made.fit(X, y).predict(test)]


@cache
def expected(model: str, partial: bool = False) -> tuple[list[Any], frozenset[str]]:
    """What the plain form gives, with some labels -1 if ``partial``, and its warnings without numbers."""
    X, y = plain()
    if partial and model not in TAKES_UNKNOWN:
        return [], frozenset()
    labels = [y[0], *(np.where(v == 0, -1, v) for v in y[1:])] if partial else y
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return answer(model, X, labels, X), frozenset(_bare(str(w.message)) for w in said)


def _bare(message: str) -> str:
    return re.sub(r"[\d.e+-]+", "#", message)


def _compared(
    model: str,
    X: list[Any],
    y: list[Any],
    wrong: bool = False,
    plainly: tuple[list[Any], frozenset[str]] | None = None,
) -> Outcome:
    right, usual = plainly or expected(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = answer(model, X, y, X)
        except (ValueError, TypeError) as error:
            return refused(error) if len(str(error)) > 10 else fault("unnamed", repr(error))
    # Warnings that the plain form gives, too, say nothing of this one.
    warned = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    warned = [message for message in warned if _bare(message) not in usual]
    if wrong:
        return fault("silent", "taken without a word") if not warned else refused(warned[0])
    if all(np.array_equal(a, b) for a, b in zip(found, right, strict=True)):
        return FINE
    detail = f"other clusters: {[np.asarray(a).ravel().tolist() for a in found][-1]}"
    return refused(warned[0]) if warned else fault("silent", detail)
