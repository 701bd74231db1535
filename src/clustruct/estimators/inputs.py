"""Input settled once: item sets, labels, weights, and the shape of the answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Floats, Indices, Labels
from clustruct.data import ItemSet, as_item_set
from clustruct.data.matrices import check_plain, check_real

T = TypeVar("T")
# Names of features that an error lists.
MOST_NAMES = 5
# A list of item sets or of tables, one item set, or one table: an array, a sparse matrix or a data frame.
SetsLike: TypeAlias = Any
Groups: TypeAlias = Sequence[Hashable] | None


@dataclass(frozen=True)
class Sets:
    """Item sets, and how a list of answers is given back in the form of the input."""

    sets: list[ItemSet]
    rows: list[Indices] | None
    single: bool

    def restore(self, answers: Sequence[Any]) -> Any:
        """One answer per set: a list; for one stacked table one vector, clusters numbered through."""
        if self.rows is None:
            return answers[0] if self.single else list(answers)
        total = sum(len(r) for r in self.rows)
        out = np.empty(total, np.int64)
        first = 0
        for rows, labels in zip(self.rows, answers, strict=True):
            out[rows] = labels + first
            first += int(labels.max()) + 1
        return out


def is_table(X: object) -> bool:
    """Whether X is one 2-D table of items (not a list of sets)."""
    return sparse.issparse(X) or len(getattr(X, "shape", ())) == 2


def read_sets(estimator: Any, X: SetsLike, set_ids: ArrayLike | None = None, *, reset: bool) -> Sets:
    """Item sets from a list of sets, one item set, or one table (cut into sets by ``set_ids``)."""
    if set_ids is not None and (isinstance(X, ItemSet) or _is_list_of_sets(X)):
        raise ValueError("set_ids cuts one table into sets, but X is a list of sets already")
    if isinstance(X, ItemSet):
        found = Sets([X], None, True)
    elif _is_list_of_sets(X):
        found = Sets([_of_set(i, as_item_set, x) for i, x in enumerate(X)], None, False)
    else:
        found = _read_table(estimator, X, set_ids, reset)
    if reset:
        _set_features(estimator, found.sets)
    _check_features(estimator, found.sets)
    return found


def _is_list_of_sets(X: object) -> bool:
    """A list whose members are sets or tables; an array of objects counts as a list."""
    if isinstance(X, np.ndarray) and X.dtype != object:
        return False
    if not isinstance(X, list | tuple | np.ndarray):
        return False
    return len(X) > 0 and (isinstance(X[0], ItemSet) or is_table(X[0]))


def _of_set(i: int, made: Callable[[Any], T], given: object) -> T:
    """What is made of a set, or of its labels; an error names the set."""
    try:
        return made(given)
    except (ValueError, TypeError) as error:
        raise type(error)(f"set {i}: {error}") from None


def checked_rows(estimator: BaseEstimator, X: SetsLike, *y: ArrayLike, **options: Any) -> Any:
    """X (and y) by scikit-learn's `validate_data`; masks, dates and numbers beyond float64 are refused."""
    check_plain(X, "X")
    try:
        return validate_data(estimator, X, *y, dtype=np.float64, **options)
    except OverflowError as error:
        raise ValueError(f"X must be numbers that float64 can hold: {error}") from None


def _read_table(estimator: BaseEstimator, X: SetsLike, set_ids: ArrayLike | None, reset: bool) -> Sets:
    names = [str(c) for c in X.columns] if hasattr(X, "columns") else None
    table = checked_rows(estimator, X, accept_sparse="csr", reset=reset)
    if set_ids is None:
        return Sets([ItemSet(nodes=table, feature_names=names)], None, True)
    ids = np.asarray(set_ids)
    if ids.shape != (table.shape[0],):
        raise ValueError(f"set_ids has shape {ids.shape}, X has {table.shape[0]} rows")
    _, first, owner = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = [np.flatnonzero(owner == g) for g in order]
    return Sets([ItemSet(nodes=table[r], feature_names=names) for r in rows], rows, False)


def _set_features(estimator: Any, sets: list[ItemSet]) -> None:
    estimator.n_features_in_ = sets[0].n_features
    names = sets[0].feature_names
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _check_features(estimator: Any, sets: list[ItemSet]) -> None:
    """Every set must have the features of the first training set, by their names where both have names."""
    names = getattr(estimator, "feature_names_in_", None)
    known = None if names is None else tuple(map(str, names))
    for i, x in enumerate(sets):
        if x.feature_names is not None and known is not None and tuple(x.feature_names) != known:
            raise ValueError(f"set {i}: {_name_difference(known, x.feature_names)}")
        if x.n_features != estimator.n_features_in_:
            raise ValueError(
                f"set {i} has {x.n_features} features, but {type(estimator).__name__} "
                f"is expecting {estimator.n_features_in_} features"
            )


def _name_difference(known: Sequence[str], given: Sequence[str]) -> str:
    """What is wrong with the names of a set, in the words that scikit-learn has for one frame."""
    lines = ["The feature names should match those that were passed during fit."]
    unseen, absent = sorted({*given} - {*known}), sorted({*known} - {*given})
    for title, names in (
        ("Feature names unseen at fit time:", unseen),
        ("Feature names seen at fit time, yet now missing:", absent),
    ):
        lines += [title, *(f"- {name}" for name in names[:MOST_NAMES])] if names else []
        lines += ["- ..."] if len(names) > MOST_NAMES else []
    if not unseen and not absent:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines)


def read_labels(y: object, given: Sets, needed_by: object = None) -> list[Labels]:
    """One label vector per set: canonical where known, -1 where not (None, NaN or -1). ``needed_by`` is an
    estimator that refuses items without a label.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: the right labels of each set")
    if given.rows is not None:
        rows = np.asarray(y)
        if rows.shape != (sum(len(r) for r in given.rows),):
            raise ValueError(f"y has shape {rows.shape}, one label per row of X was expected")
        listed: list[object] = [rows[r] for r in given.rows]
    elif given.single:
        listed = [_only(y)]
    else:
        listed = list(y)  # type: ignore[call-overload]
    if len(listed) != len(given.sets):
        raise ValueError(f"{len(given.sets)} sets but {len(listed)} label vectors")
    checks = [partial(partial_labels, n_items=x.n_items) for x in given.sets]
    found = [_of_set(i, check, v) for i, (check, v) in enumerate(zip(checks, listed, strict=True))]
    if needed_by is not None:
        _refuse_unknown(found, type(needed_by).__name__)
    return found


def _refuse_unknown(labels: Sequence[Labels], name: str) -> None:
    for i, y in enumerate(labels):
        if (y == UNKNOWN).any():
            raise ValueError(
                f"set {i}: item {int(np.argmin(y))} has no label (None, NaN and -1 mean that its cluster is "
                f"not known), and {name} needs the labels of all items: leave such items out"
            )


def check_labels(labels: Sequence[Labels]) -> None:
    """Refuse a set of which nothing is known."""
    for i, y in enumerate(labels):
        if (y == UNKNOWN).all():
            raise ValueError(
                f"set {i}: no item has a label (None, NaN and -1 mean that its cluster is not known), so "
                "there is nothing to learn from it: leave the set out"
            )


def set_groups(groups: Groups, given: Sets) -> list[Hashable] | None:
    if groups is None:
        return None
    if len(groups) != len(given.sets):
        hint = " (rows of one table are cut into sets by set_ids)" if given.single else ""
        raise ValueError(f"groups has {len(groups)} entries for {len(given.sets)} sets{hint}")
    return list(groups)


def read_weights(sample_weight: ArrayLike | None, given: Sets) -> Floats | None:
    if sample_weight is None:
        return None
    check_real(sample_weight, "sample_weight")
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (len(given.sets),):
        raise ValueError(
            f"sample_weight has one number per set, shape {(len(given.sets),)}, not {weights.shape}"
        )
    return weights


def _only(y: object) -> object:
    """The labels of the one set; a column is taken as scikit-learn takes it, with a warning."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return column_or_1d(y, warn=True) if len(shape) == 2 and shape[1] == 1 else y
