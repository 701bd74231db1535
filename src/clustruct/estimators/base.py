"""What the estimators share: input settled once (item sets, labels, the shape of the answer), clusters of
whole sets, and weights of a pair similarity learned from them.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from clustruct._typing import Floats, Indices, Labels
from clustruct.itemsets import ItemSet, as_item_set
from clustruct.losses import Loss, as_loss
from clustruct.losses.function import LabelFunction
from clustruct.model_selection.choose_c import choose_C
from clustruct.oracles import Oracle, Predictor, make_predictor
from clustruct.oracles.base import Objective
from clustruct.partitions import canonical_labels
from clustruct.problems import SimilarityTask
from clustruct.slack_rule import Scaling, SlackRule
from clustruct.ssvm import FitResult, Formulation
from clustruct.storage import FEATURES, EstimatorState, Shape

T = TypeVar("T")
AnyLoss: TypeAlias = Loss | str | LabelFunction
# A list of item sets or of tables, one item set, or one table: an array, a sparse matrix or a data frame.
Table: TypeAlias = Any
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


def read_sets(estimator: Any, X: Table, set_ids: ArrayLike | None = None, *, reset: bool) -> Sets:
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
        _remember(estimator, found.sets)
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


def _read_table(estimator: BaseEstimator, X: Table, set_ids: ArrayLike | None, reset: bool) -> Sets:
    names = [str(c) for c in X.columns] if hasattr(X, "columns") else None
    table = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset)
    if set_ids is None:
        return Sets([ItemSet(nodes=table, feature_names=names)], None, True)
    ids = np.asarray(set_ids)
    if ids.shape != (table.shape[0],):
        raise ValueError(f"set_ids has shape {ids.shape}, X has {table.shape[0]} rows")
    _, first, owner = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = [np.flatnonzero(owner == g) for g in order]
    return Sets([ItemSet(nodes=table[r], feature_names=names) for r in rows], rows, False)


def _remember(estimator: Any, sets: list[ItemSet]) -> None:
    estimator.n_features_in_ = sets[0].n_features
    names = sets[0].feature_names
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _check_features(estimator: Any, sets: list[ItemSet]) -> None:
    for i, x in enumerate(sets):
        if x.n_features != estimator.n_features_in_:
            raise ValueError(
                f"set {i} has {x.n_features} features, but {type(estimator).__name__} "
                f"is expecting {estimator.n_features_in_} features"
            )


def read_labels(y: object, given: Sets) -> list[Labels]:
    """One canonical label vector per set."""
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
    checks = [partial(canonical_labels, n_items=x.n_items) for x in given.sets]
    return [_of_set(i, check, v) for i, (check, v) in enumerate(zip(checks, listed, strict=True))]


def set_groups(groups: Groups, given: Sets) -> list[Hashable] | None:
    """The group of each set: what is held out together."""
    if groups is None:
        return None
    if len(groups) != len(given.sets):
        hint = " (rows of one table are cut into sets by set_ids)" if given.single else ""
        raise ValueError(f"groups has {len(groups)} entries for {len(given.sets)} sets{hint}")
    return list(groups)


def read_weights(sample_weight: ArrayLike | None, given: Sets) -> Floats | None:
    """One weight per set."""
    if sample_weight is None:
        return None
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


class SetClusterer(EstimatorState, BaseEstimator):
    """`predict`, `score` and scikit-learn's tags for estimators whose sample is a set.

    clustering_objective : what a prediction maximises, the sum of K inside clusters ("correlation"), or
        trace(Y'KY) for a given number of clusters ("kmeans"), which needs the similarity of every pair
    """

    clustering_objective: ClassVar[Objective] = "correlation"
    needs_labels: ClassVar[bool] = True
    loss: AnyLoss
    predictor: str
    random_state: int
    n_features_in_: int
    w_: Floats

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        as_loss(self.loss)

    def linear_similarity(self) -> tuple[Floats, float] | None:
        """w and b of K_ab = <w, psi_ab> + b, in the units of the features; None for any other similarity."""
        w = getattr(self, "w_", None)
        return None if w is None else (np.asarray(w, np.float64), float(getattr(self, "intercept_", 0.0)))

    def predict(self, X: Table, set_ids: ArrayLike | None = None) -> Any:
        """Cluster new sets: a list of label vectors for a list of sets, one vector for one table."""
        given = self._read(X, set_ids)
        return given.restore(self._clusters(given.sets))

    def score(self, X: Table, y: object, set_ids: ArrayLike | None = None) -> float:
        """100 minus the mean loss over the sets, divided by 100: 1 is perfect."""
        return 1.0 - float(np.mean(self.set_losses(X, y, set_ids))) / 100.0

    def set_losses(self, X: Table, y: object, set_ids: ArrayLike | None = None) -> Floats:
        """The loss of the prediction for each set, on a 0..100 scale."""
        given = self._read(X, set_ids)
        truth, loss = read_labels(y, given), as_loss(self.loss)
        predicted = self._clusters(given.sets, truth)
        return np.array([loss(t, p) for t, p in zip(truth, predicted, strict=True)])

    @abstractmethod
    def _clusters(self, sets: list[ItemSet], truth: list[Labels] | None = None) -> list[Any]:
        """The prediction for each set. ``truth``, where it is known, may say how many clusters there are."""

    def _read(self, X: Table, set_ids: ArrayLike | None) -> Sets:
        check_is_fitted(self)
        return read_sets(self, X, set_ids, reset=False)

    def _predictor(self) -> Predictor:
        return make_predictor(self.predictor, self.clustering_objective, random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_labels
        tags.input_tags.sparse = True
        return tags


class PairSimilarity(SetClusterer):
    """A clusterer by the similarity of pairs."""

    def decision_function(self, X: Table, set_ids: ArrayLike | None = None) -> Any:
        """The similarity of every pair: one symmetric matrix per set (positive: together).

        A sparse matrix for a set that lists its pairs (`pair_index`) and has no node features, where
        clusters may be of any number; the diagonal means something for k-means only.
        """
        given = self._read(X, set_ids)
        answers = [self._similarity(x) for x in given.sets]
        return answers[0] if given.single else answers

    @abstractmethod
    def _similarity(self, x: ItemSet) -> Any:
        """K of one set."""


class ResultState(EstimatorState):
    """Trained by a structural SVM. ``w_`` are the weights of ``result_``, in the same unit: a file has them
    once.
    """

    w_: Floats
    result_: FitResult

    def state(self) -> dict[str, Any]:
        """Parameters and what was learned."""
        held = super().state()
        held["learned"]["result_"] = replace(self.result_, w=None)
        return held

    def check_fitted(self) -> None:
        """Put the weights back."""
        self.result_ = replace(self.result_, w=self.w_)


@dataclass(eq=False, repr=False)
class SimilarityLearning(ResultState, PairSimilarity, ABC):
    """`fit`: read the sets, choose C, train, and give the weights in the user's units.

    A subclass says what it clusters by (``clustering_objective``), how it searches for violated clusterings,
    and whether weights must not be negative.
    """

    C: float | str = "cv"
    loss: AnyLoss = "pairwise"
    oracle: str = "greedy"
    predictor: str = "local_search"
    scaling: Scaling = "margin"
    formulation: Formulation = "n_slack"
    slack_norm: Literal[1, 2] = 1
    rescale: bool = True
    C_grid: Sequence[float] | None = None
    cv: int = 5
    rtol: float = 1e-3
    max_iter: int = 1000
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0
    checkpoint: str | os.PathLike[str] | None = None
    fitted: ClassVar = {
        **FEATURES,
        "w_": Shape(("n_features_in_",)),
        "feature_scale_": Shape(("n_features_in_",)),
        "C_": float,
        "cv_results_": dict | None,
        "result_": FitResult,
    }

    @abstractmethod
    def _nonnegative(self) -> bool:
        """Whether weights must not be negative."""

    @abstractmethod
    def _oracle(self) -> Oracle:
        """The search for violated clusterings."""

    def _look_at(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        """Anything to be checked or remembered of the training sets."""
        return

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        super().check_parameters()
        if self.C != "cv" and (isinstance(self.C, str) or not self.C > 0):
            raise ValueError(f"C must be a positive number or 'cv', not {self.C!r}")
        refused = self._oracle().refusal(SlackRule(self.scaling, self.slack_norm), as_loss(self.loss))
        if refused is not None:
            raise ValueError(refused)
        self._predictor()

    def fit(
        self,
        X: Table,
        y: object = None,
        set_ids: ArrayLike | None = None,
        groups: Groups = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the similarity.

        X is a list of item sets (or of tables, taken as node features), with y a list of label vectors; or
        one table with one label per row, cut into sets by ``set_ids`` (one set without). ``groups`` and
        ``sample_weight`` have one entry per set, in the order of the sets: in the cross-validation of C,
        sets of one group are held out together; a set of weight 2 counts as if it were there twice. Ctrl-C
        ends the training and keeps what was learned so far (``result_.stop_reason`` is "interrupted").
        """
        self.check_parameters()
        given = read_sets(self, X, set_ids, reset=True)
        labels = read_labels(y, given)
        weights = read_weights(sample_weight, given)
        held_together = set_groups(groups, given)
        self._look_at(given.sets, labels)
        task = self._task(given.sets, labels, weights)
        trained = None
        if self.C == "cv":
            chosen = choose_C(
                task.train,
                task.held_out_loss,
                len(given.sets),
                grid=self.C_grid,
                folds=self.cv,
                groups=held_together,
                sample_weight=weights,
                random_state=self.random_state,
                listed=given.sets[0].is_sparse,
                kept=task.kept,
            )
            self.C_, self.cv_results_, trained = chosen.C, chosen.results, chosen.stopped
        else:
            self.C_ = float(self.C)
        if trained is None:
            trained = task.train(self.C_)
        self.result_, self.w_ = trained.result, trained.result.w
        self.feature_scale_ = trained.feature_scale
        if task.kept is not None and trained.result.converged:
            task.kept.remove()
        return self

    def _task(self, sets: list[ItemSet], labels: list[Labels], weights: Floats | None) -> SimilarityTask:
        names = ("formulation", "scaling", "slack_norm", "rtol", "max_iter", "n_jobs", "random_state")
        options = {name: getattr(self, name) for name in names}
        options["constraints"] = "nonnegative" if self._nonnegative() else None
        return SimilarityTask(
            sets,
            labels,
            as_loss(self.loss),
            self._oracle(),
            self._predictor(),
            options,
            self.rescale,
            weights,
            self.verbose,
            self.checkpoint,
        )
