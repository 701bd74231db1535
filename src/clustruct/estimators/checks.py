"""Checks that every estimator which clusters whole sets must pass, ours and yours.

scikit-learn's own checks look at one table; an estimator whose sample is a set has invariances of its own:
the order of items and of sets, the names of clusters, how numbers are held. Each check is a function of an
unfitted estimator that raises AssertionError where a promise is broken.

>>> from clustruct.estimators.baselines import DefaultClustering
>>> check_set_clusterer(DefaultClustering())
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from clustruct.core import storage
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Labels
from clustruct.data import ItemSet

__all__ = ["SET_CHECKS", "TABLE_CHECKS", "check_set_clusterer", "check_table_estimator"]


SetCheck = Callable[[BaseEstimator], None]


@dataclass(frozen=True)
class _ExampleSet:
    """One set by its arrays. All numbers are multiples of 1/64, which float32 holds exactly."""

    nodes: Floats
    pairs: Floats
    labels: Labels

    def item_set(self) -> ItemSet:
        return ItemSet(nodes=self.nodes, pairs=self.pairs)

    def permute(self, order: Labels) -> _ExampleSet:
        a, b = np.triu_indices(len(order), 1)
        place = np.zeros((len(order), len(order)), np.intp)
        place[a, b] = place[b, a] = np.arange(len(a))
        rows = place[order[a], order[b]]
        return _ExampleSet(self.nodes[order], self.pairs[rows], self.labels[order])


def _example(rng: np.random.Generator, sizes: Sequence[int]) -> _ExampleSet:
    """Clusters that are well apart, so that no search has a hard choice."""
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    nodes = np.eye(len(sizes), 4)[y] + 0.1 * rng.normal(size=(len(y), 4))
    a, b = np.triu_indices(len(y), 1)
    together = np.where(y[a] == y[b], 1.0, -1.0) + 0.2 * rng.normal(size=len(a))
    pairs = np.column_stack([together, np.ones(len(a))])
    return _ExampleSet(np.round(64 * nodes) / 64, np.round(64 * pairs) / 64, y)


def _training() -> list[_ExampleSet]:
    rng = np.random.default_rng(0)
    return [_example(rng, sizes) for sizes in ((4, 3, 2), (3, 3), (2, 4, 3), (5, 2))]


def _new() -> list[_ExampleSet]:
    rng = np.random.default_rng(1)
    return [_example(rng, sizes) for sizes in ((3, 4, 2), (4, 4))]


def _fit_clone(estimator: BaseEstimator, examples: Iterable[_ExampleSet]) -> BaseEstimator:
    examples = list(examples)
    model: BaseEstimator = clone(estimator)
    return model.fit([e.item_set() for e in examples], [e.labels for e in examples])


def _predict_labels(model: BaseEstimator, examples: Iterable[_ExampleSet]) -> list[Labels]:
    return [canonical_labels(labels) for labels in model.predict([e.item_set() for e in examples])]


def _assert_same(found: Sequence[Labels], wanted: Sequence[Labels], what: str) -> None:
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if not np.array_equal(canonical_labels(a), canonical_labels(b)):
            raise AssertionError(f"{what} changes the clusters of set {i}: {b.tolist()} become {a.tolist()}")


def _assert_same_as(estimator: BaseEstimator, convert: Callable[[ItemSet], ItemSet], what: str) -> None:
    """Training and prediction do not depend on how the numbers are held."""
    train, new = _training(), _new()
    model: BaseEstimator = clone(estimator)
    model.fit([convert(e.item_set()) for e in train], [e.labels for e in train])
    found = model.predict([convert(e.item_set()) for e in new])
    _assert_same(found, _predict_labels(_fit_clone(estimator, train), new), what)


def check_item_order(estimator: BaseEstimator) -> None:
    """Another order of the items, in training and in prediction: the same clusters."""
    rng = np.random.default_rng(2)
    mixed = [e.permute(rng.permutation(len(e.labels))) for e in _training()]
    orders = [rng.permutation(len(e.labels)) for e in _new()]
    new = [e.permute(order) for e, order in zip(_new(), orders, strict=True)]
    wanted = _predict_labels(_fit_clone(estimator, _training()), _new())
    found = _predict_labels(_fit_clone(estimator, mixed), new)
    _assert_same(found, [y[order] for y, order in zip(wanted, orders, strict=True)], "the order of the items")


def check_set_order(estimator: BaseEstimator) -> None:
    """Another order of the training sets: the same clusters."""
    wanted = _predict_labels(_fit_clone(estimator, _training()), _new())
    found = _predict_labels(_fit_clone(estimator, _training()[::-1]), _new())
    _assert_same(found, wanted, "the order of the sets")


def check_cluster_names(estimator: BaseEstimator) -> None:
    """Clusters called by other names, strings among them: the same clusters."""
    wanted = _predict_labels(_fit_clone(estimator, _training()), _new())
    names = np.array(["oak", "elm", "ash", "fir"])
    for renamed in ([7 - e.labels for e in _training()], [names[e.labels] for e in _training()]):
        examples = [replace(e, labels=y) for e, y in zip(_training(), renamed, strict=True)]
        _assert_same(
            _predict_labels(_fit_clone(estimator, examples), _new()), wanted, "the names of the clusters"
        )


def check_sparse_equals_dense(estimator: BaseEstimator) -> None:
    """The same numbers as sparse matrices: the same clusters."""

    def convert(x: ItemSet) -> ItemSet:
        return ItemSet(nodes=sparse.csr_array(x.nodes), pairs=sparse.csr_array(x.pairs))

    _assert_same_as(estimator, convert, "sparse storage")


def check_float32(estimator: BaseEstimator) -> None:
    """The same numbers in single precision: the same clusters."""

    def convert(x: ItemSet) -> ItemSet:
        return ItemSet(nodes=np.asarray(x.nodes, np.float32), pairs=np.asarray(x.pairs, np.float32))

    _assert_same_as(estimator, convert, "single precision")


def check_memory_layout(estimator: BaseEstimator) -> None:
    """Read-only arrays, and views that are not contiguous: the same clusters."""

    def convert(x: ItemSet) -> ItemSet:
        wide = np.zeros((x.n_items, 2 * x.n_node_features))
        wide[:, ::2] = x.nodes
        nodes, pairs = wide[:, ::2], np.asfortranarray(x.pairs)
        nodes.setflags(write=False)
        pairs.setflags(write=False)
        return ItemSet(nodes=nodes, pairs=pairs)

    _assert_same_as(estimator, convert, "the layout of the arrays")


def check_no_writes(estimator: BaseEstimator) -> None:
    """Neither training nor prediction writes to what it was given."""
    train, copies = _training(), _training()
    _predict_labels(_fit_clone(estimator, train), train)
    for e, copy in zip(train, copies, strict=True):
        for name in ("nodes", "pairs", "labels"):
            if not np.array_equal(getattr(e, name), getattr(copy, name)):
                raise AssertionError(f"the {name} of a set were written to")


def check_refit(estimator: BaseEstimator) -> None:
    """A second fit of the same object forgets the first."""
    wanted = _predict_labels(_fit_clone(estimator, _training()), _new())
    model = _fit_clone(estimator, _new())
    model.fit([e.item_set() for e in _training()], [e.labels for e in _training()])
    _assert_same(_predict_labels(model, _new()), wanted, "an earlier fit")


def check_saving(estimator: BaseEstimator) -> None:
    """What comes back from a file predicts the same."""
    model = _fit_clone(estimator, _training())
    _assert_same(
        _predict_labels(_through_file(model), _new()), _predict_labels(model, _new()), "saving and loading"
    )


def check_n_jobs(estimator: BaseEstimator) -> None:
    """Two workers find what one finds (where the estimator has n_jobs)."""
    parameters: Mapping[str, object] = estimator.get_params()
    if "n_jobs" not in parameters:
        return
    two = clone(estimator).set_params(n_jobs=2)
    wanted = _predict_labels(_fit_clone(estimator, _training()), _new())
    _assert_same(_predict_labels(_fit_clone(two, _training()), _new()), wanted, "n_jobs")


def check_one_item(estimator: BaseEstimator) -> None:
    """A set of one item is allowed in training and in prediction: it is one cluster."""
    alone = _ExampleSet(np.ones((1, 4)), np.zeros((0, 2)), np.zeros(1, np.int64))
    model = _fit_clone(estimator, [*_training(), alone])
    _assert_same(_predict_labels(model, [alone]), [np.zeros(1, np.int64)], "one item alone")


def check_one_cluster(estimator: BaseEstimator) -> None:
    """A training set that is one cluster is a right clustering like any other."""
    together = _example(np.random.default_rng(3), (5,))
    found = _predict_labels(_fit_clone(estimator, [*_training(), together]), _new())
    for labels, e in zip(found, _new(), strict=True):
        if labels.shape != e.labels.shape:
            raise AssertionError(f"{len(labels)} labels for {len(e.labels)} items")


def check_one_table(estimator: BaseEstimator) -> None:
    """One table cut by ``set_ids`` is the list of its sets."""
    train, new = _training(), _new()
    listed = clone(estimator).fit([e.nodes for e in train], [e.labels for e in train])
    stacked = clone(estimator).fit(
        np.vstack([e.nodes for e in train]),
        np.concatenate([e.labels for e in train]),
        set_ids=_set_ids(train),
    )
    wanted = listed.predict([e.nodes for e in new])
    found = stacked.predict(np.vstack([e.nodes for e in new]), set_ids=_set_ids(new))
    parts = np.split(found, np.cumsum([len(e.labels) for e in new])[:-1])
    _assert_same(parts, wanted, "one table in place of a list")


def _set_ids(examples: Sequence[_ExampleSet]) -> Labels:
    return np.repeat(np.arange(len(examples)), [len(e.labels) for e in examples])


def _through_file(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        storage.save(path, model)
        return storage.load(path)


def check_set_clusterer(estimator: BaseEstimator, *, skip: Iterable[str] = ()) -> None:
    """Run every check on clones of the estimator; AssertionError names the first that fails.

    ``skip`` names checks that cannot hold for it, such as "check_item_order" for learners of ordered items.
    """
    for name, check in SET_CHECKS.items():
        if name not in set(skip):
            _run(name, lambda check=check: check(estimator))  # type: ignore[misc]


SET_CHECKS: dict[str, SetCheck] = {
    check.__name__: check
    for check in (
        check_item_order,
        check_set_order,
        check_cluster_names,
        check_sparse_equals_dense,
        check_float32,
        check_memory_layout,
        check_no_writes,
        check_refit,
        check_saving,
        check_n_jobs,
        check_one_item,
        check_one_cluster,
        check_one_table,
    )
}


def _run(name: str, check: Callable[[], None]) -> None:
    try:
        check()
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{name} ends with {type(error).__name__}: {error}") from error


# Estimators whose sample is a row of a table, the usual thing in scikit-learn.

TableCheck = Callable[[Any, Floats, Any], None]


def _answers(model: Any, X: Any) -> Any:
    """What a fitted estimator says of rows; clusters in canonical numbering."""
    found = np.asarray(model.predict(X) if hasattr(model, "predict") else model.labels_)
    return canonical_labels(found) if found.ndim == 1 and hasattr(model, "labels_") else found


def _assert_table(estimator: Any, X: Floats, y: Any, other: Any, what: str) -> None:
    """The same answers for the same numbers in another form."""
    wanted = _answers(clone(estimator).fit(X, y), X)
    found = _answers(clone(estimator).fit(other, y), other)
    if not np.array_equal(wanted, found):
        raise AssertionError(f"{what} changes {int((wanted != found).sum())} answers of {wanted.size}")


def check_table_sparse(estimator: Any, X: Floats, y: Any) -> None:
    """The same numbers as a sparse matrix: the same answers."""
    _assert_table(estimator, X, y, sparse.csr_array(X), "sparse storage")


def check_table_float32(estimator: Any, X: Floats, y: Any) -> None:
    """The same numbers in single precision: the same answers."""
    _assert_table(
        estimator, np.round(64 * X) / 64, y, np.asarray(np.round(64 * X) / 64, np.float32), "float32"
    )


def check_table_layout(estimator: Any, X: Floats, y: Any) -> None:
    """A read-only view that is not contiguous: the same answers."""
    wide = np.zeros((X.shape[0], 2 * X.shape[1]))
    wide[:, ::2] = X
    view = wide[:, ::2]
    view.setflags(write=False)
    _assert_table(estimator, X, y, view, "the layout of the array")


def check_table_saving(estimator: Any, X: Floats, y: Any) -> None:
    """What comes back from a file answers the same."""
    model = clone(estimator).fit(X, y)
    if not np.array_equal(_answers(model, X), _answers(_through_file(model), X)):
        raise AssertionError("saving and loading changes the answers")


TABLE_CHECKS: dict[str, TableCheck] = {
    check.__name__: check
    for check in (check_table_sparse, check_table_float32, check_table_layout, check_table_saving)
}


def check_table_estimator(estimator: Any, X: Floats, y: Any = None, *, skip: Iterable[str] = ()) -> None:
    """Run every check of table estimators on these rows; AssertionError names the first that fails."""
    for name, check in TABLE_CHECKS.items():
        if name not in set(skip):
            _run(name, lambda check=check: check(estimator, X, y))  # type: ignore[misc]
