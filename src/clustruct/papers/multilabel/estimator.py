"""Multi-label classification in the scikit-learn manner."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from clustruct import ssvm
from clustruct.core.callbacks import training_listener
from clustruct.core.storage import FEATURES, Shape, register
from clustruct.core.typing import Floats, Indices
from clustruct.estimators.base import ResultState
from clustruct.estimators.inputs import checked_rows
from clustruct.learning.model_selection.choose_c import choose_C
from clustruct.learning.problems import FoldLoss, Trained
from clustruct.learning.problems.fold_losses import LOOSE

from . import mrf
from .multilabel_problem import MultiLabelProblem, check_predictor, search

# Losses are in percent: 1,000 to 30,000 were chosen on the sets of chapter 5 (docs/studies).
USUAL_C = 1000.0


@register("MultiLabelMRF")
@dataclass(eq=False, repr=False)
class MultiLabelMRF(ResultState, ClassifierMixin, BaseEstimator):
    """Multi-label classifier with a weight for every pair of labels: a structural SVM on a random field.

    Prediction solves ``max over y in {0,1}^V of sum_u y_u (<w_u, x> + b_u) + sum over edges of
    y_u y_v w_uv``; training minimises ``1/2 |w|^2 + C mean_i xi_i`` with the slacks of
    loss 100 * (wrong labels) / V
    (dissertation, chapter 5; OP 4). An answer costs one inference: 2^V additions for "exact", a maximum
    flow for "graph_cut", O(V^2) for "greedy".

    Parameters
    ----------
    C : float or "cv"
        Weight of the mean slack. Losses go to 100, so that useful values are often 10 to 10,000. Features
        count as they are: bring them to a size of about 1. "cv" chooses by ``cv`` folds of the rows, from
        ``C_grid`` or, without one, from 1,000 on by steps of ten as long as that helps.
    oracle : str
        How the most violated labeling is searched in training: "exact" (V up to 20, or edges that form a
        forest), "graph_cut", "linear_program" (overgenerating), "greedy", "loopy_bp", "combine"
        (undergenerating). With relaxed oracles models learn to leave few labels undecided.
    predictor : str, optional
        The search used by `predict`; the oracle's own if None.
    edges : "full", "none", "tree" or list of pairs
        Which pairs of labels have a weight. "tree" is the Chow-Liu tree of the training labels.
    fit_intercept : bool
        Add a constant feature, regularised like the others: the default, since it is better on most data.
        The dissertation does not name one; False leaves it out.
    undecided : "greedy" or "random"
        How `predict` settles labels that a relaxed predictor leaves undecided.
    formulation, scaling, slack_norm, rtol, max_iter, n_jobs, random_state
        See `clustruct.ssvm.fit`. Scalings other than "margin" and slack_norm=2 need the exact oracle.
    verbose : int
        1 prints some rounds of the training, 2 all of them.
    checkpoint : path, optional
        A training that was cut short goes on from this file, see `clustruct.ssvm.fit`.
    C_grid : sequence of float, optional
        The values of C that "cv" tries, instead of steps of ten from 1,000 on.
    cv : int, default=3
        Into how many folds the rows are cut to choose C.

    Attributes
    ----------
    coef_ : array of shape (V, d)
        The weight of each feature for each label.
    intercept_ : array of shape (V,)
        The weight of the constant feature for each label.
    edge_weights_ : array of shape (V, V)
        The weight of each pair of labels, symmetric.
    edges_ : array of shape (e, 2)
        The pairs u < v that have a weight.
    w_ : array
        All weights in one vector.
    result_ : FitResult
        The training, with history and certificate.
    undecided_share_ : float
        Share of training labels that the relaxation leaves undecided (Table 5.4).
    classes_ : array
        Label numbers, or the classes where y has one dimension.
    y_form_ : str
        What y was: "labels", or classes as a "vector" or "column".
    y_dtype_ : dtype
        The type of y.
    predictor_ : str
        The search that `predict` uses.
    C_ : float
        The C trained with.
    cv_results_ : dict
        What held-out rows made of each C, where it was chosen.

    Notes
    -----
    One-dimensional y is taken too: one label per class (one label for two classes), and `predict`
    gives the class of highest potential.

    Examples
    --------
    >>> from clustruct.papers.multilabel import make_multilabel_count
    >>> X, Y = make_multilabel_count(300)
    >>> model = MultiLabelMRF(C=30000.0, oracle="graph_cut", rtol=0.01).fit(X, Y)
    >>> model.predict(X).shape, model.score(X, Y) > 0.91
    ((300, 10), True)
    """

    C: float | str = 1.0
    _: KW_ONLY
    oracle: str = "exact"
    predictor: str | None = None
    edges: str | ArrayLike = "full"
    fit_intercept: bool = True
    undecided: Literal["greedy", "random"] = "greedy"
    formulation: ssvm.Formulation = "n_slack"
    scaling: ssvm.Scaling = "margin"
    slack_norm: Literal[1, 2] = 1
    rtol: float = 1e-3
    max_iter: int = 1000
    n_jobs: int | None = None
    random_state: int | None = 0
    verbose: int = 0
    checkpoint: str | os.PathLike[str] | None = None
    C_grid: Sequence[float] | None = None
    cv: int = 3
    fitted: ClassVar = {
        **FEATURES,
        "C_": float | None,
        "cv_results_": dict | None,
        "coef_": Shape(("n_labels", "n_features_in_")),
        "intercept_": Shape(("n_labels",)),
        "edge_weights_": Shape(("n_labels", "n_labels")),
        "edges_": Shape((None, 2), np.integer),
        "w_": Shape((None,)),
        "classes_": NDArray[np.generic],
        "undecided_share_": float,
        "y_form_": Literal["labels", "vector", "column"],
        "y_dtype_": str,
        "n_iter_": int,
        "result_": ssvm.FitResult,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> MultiLabelMRF:
        """Learn from rows X and a 0/1 array y of one column per label (or a vector of classes)."""
        self.check_parameters()
        rows, targets = checked_rows(self, X, y, accept_sparse="csr", multi_output=True)
        Y = self._indicator(targets)
        problem = self._problem(rows, Y)
        self.predictor_ = check_predictor(self.predictor, self.oracle, Y.shape[1], problem.edges)
        self.C_, trained = self._choose_C(rows, Y, sample_weight)
        self.result_ = trained or self._train(
            problem, self.C_, self.rtol, sample_weight=sample_weight, checkpoint=self.checkpoint
        )
        self._keep(problem)
        self.undecided_share_ = mrf.graph_cut(self._potentials(rows), self.edge_weights_).undecided_share
        return self

    def _problem(self, rows: Any, Y: NDArray[Any], edges: Any = None) -> MultiLabelProblem:
        pairs = self.edges if edges is None else edges
        return MultiLabelProblem(rows, Y, self.oracle, pairs, constant=self.fit_intercept, check_input=False)

    def _train(self, problem: MultiLabelProblem, C: float, rtol: float, **more: Any) -> ssvm.FitResult:
        return ssvm.fit(
            problem,
            C,
            rtol=rtol,
            formulation=self.formulation,
            scaling=self.scaling,
            slack_norm=self.slack_norm,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            random_state=0 if self.random_state is None else self.random_state,
            callback=training_listener(C, rtol, self.verbose),
            **more,
        )

    def _choose_C(
        self, rows: Any, Y: NDArray[Any], sample_weight: ArrayLike | None
    ) -> tuple[float, ssvm.FitResult | None]:
        """C by the Hamming loss of held-out rows, and the training kept where the choice was ended."""
        self.__dict__.pop("cv_results_", None)
        if self.C != "cv":
            return float(self.C), None
        if len(Y) < 2:
            self.cv_results_ = {"C": np.array([USUAL_C])}
            return USUAL_C, None
        # The edges are those of all rows: a training that is kept where the choice was ended needs them.
        problem = self._problem(rows, Y)
        edges = problem.edges
        weights = None if sample_weight is None else np.asarray(sample_weight, float)

        def train(C: float, chosen: Indices, start: Trained | None) -> Trained:
            nonlocal problem
            problem = self._problem(rows[chosen], Y[chosen], edges)
            weight = None if weights is None else weights[chosen]
            before = None if start is None else start.result
            result = self._train(problem, C, max(self.rtol, LOOSE), sample_weight=weight, w0=before)
            return Trained(result, result, np.ones(0), C)

        def judge(trained: Trained, numbers: Sequence[int]) -> list[FoldLoss]:
            labels = problem.predict(rows[numbers], trained.result.w, self.predictor_)
            return [FoldLoss(100.0 * float(loss)) for loss in (labels != Y[numbers]).mean(axis=1)]

        choice = choose_C(
            train,
            judge,
            len(Y),
            grid=self.C_grid,
            folds=self.cv,
            sample_weight=weights,
            random_state=0 if self.random_state is None else self.random_state,
            usual=USUAL_C,
            begin=USUAL_C,
            unit="row",
        )
        self.cv_results_ = choice.results
        return choice.C, None if choice.trained is None else choice.trained.result

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        if self.C != "cv" and (isinstance(self.C, str) or not self.C > 0):
            raise ValueError(f"C must be a positive number or 'cv', not {self.C!r}")
        if self.undecided not in ("greedy", "random"):
            raise ValueError(f"undecided must be 'greedy' or 'random', not {self.undecided!r}")

    def check_attributes(self) -> None:
        """Refuse labels and edges that do not fit each other."""
        super().check_attributes()
        V, edges = len(self.intercept_), self.edges_
        n_classes = 2 if V == 1 and self.y_form_ != "labels" else V
        if self.classes_.shape != (n_classes,) or (edges < 0).any() or (edges >= V).any():
            raise ValueError("the labels and edges of a MultiLabelMRF do not fit")
        if self.y_form_ == "labels" and np.dtype(self.y_dtype_).kind not in "biuf":
            raise ValueError(f"labels cannot be {self.y_dtype_!r:.60}")
        self.predictor_ = check_predictor(self.predictor, self.oracle, V, edges)

    def _indicator(self, y: NDArray[Any]) -> NDArray[Any]:
        """Labels as 0/1 columns; notes what `predict` needs to give answers in the form of y."""
        check_classification_targets(y)
        self.y_form_ = "vector" if y.ndim == 1 else "column" if y.shape[1] == 1 else "labels"
        self.y_dtype_ = y.dtype.str
        if self.y_form_ == "labels":
            if type_of_target(y) != "multilabel-indicator":
                raise ValueError("y must hold 0 and 1 only: one column per label")
            self.classes_ = np.arange(y.shape[1])
            return y
        self.classes_, which = np.unique(y.ravel(), return_inverse=True)
        if len(self.classes_) == 1:
            raise ValueError("y holds one class only, at least two are needed")
        columns = (which[:, None] == np.arange(len(self.classes_))).astype(np.int8)
        return columns[:, 1:] if len(self.classes_) == 2 else columns

    def _keep(self, problem: MultiLabelProblem) -> None:
        self.w_, self.edges_ = self.result_.w, problem.edges
        self.edge_weights_ = problem.pairwise(self.w_)
        W = self.w_[: problem.n_labels * problem.X.shape[1]].reshape(problem.n_labels, -1)
        self.coef_ = W[:, : self.n_features_in_].copy()
        self.intercept_ = W[:, -1].copy() if self.fit_intercept else np.zeros(problem.n_labels)
        self.n_iter_ = self.result_.n_iter

    def _unary(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self._potentials(checked_rows(self, X, accept_sparse="csr", reset=False))

    def _potentials(self, rows: Any) -> Floats:
        return np.asarray(rows @ self.coef_.T) + self.intercept_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels of each row, in the form of the y given to `fit`."""
        unary = self._unary(X)
        if self.y_form_ != "labels":
            which = (unary[:, 0] > 0).astype(int) if len(self.classes_) == 2 else unary.argmax(axis=1)
            found = self.classes_[which]
            return found[:, None] if self.y_form_ == "column" else found
        labels = search(self.predictor_, unary, self.edge_weights_)
        if isinstance(labels, mrf.RelaxedLabeling):
            if self.undecided == "random":
                labels = labels.at_random(0 if self.random_state is None else self.random_state)
            else:
                labels = labels.complete_greedily(unary, self.edge_weights_)
        return np.asarray(labels, self.y_dtype_)

    def label_scores(self, X: ArrayLike, labels: ArrayLike) -> Floats:
        """What giving each label adds to the score of a row, the other labels being as they are::

            s_u = <w_u, x> + b_u + sum over edges of y_v w_uv

        Of labels found by an exact, greedy or relaxed search, those given have s_u >= 0, the others s_u <= 0.
        """
        return np.asarray(self._unary(X) + np.asarray(labels, np.float64) @ self.edge_weights_)

    def predict_relaxed(self, X: ArrayLike) -> mrf.RelaxedLabeling:
        """The optimum of the relaxation: labels 0, 1, or 1/2 where it does not decide."""
        unary = self._unary(X)
        name = "linear_program" if self.predictor_ == "linear_program" else "graph_cut"
        found = search(name, unary, self.edge_weights_)
        assert isinstance(found, mrf.RelaxedLabeling)
        return found

    def undecided_share(self, X: ArrayLike) -> float:
        """Share of the labels of X that the relaxation leaves undecided, from 0 to 1."""
        unary = self._unary(X)
        return mrf.graph_cut(unary, self.edge_weights_).undecided_share

    def score(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of right labels: 1 minus the Hamming loss (100 minus the mean loss, over 100)."""
        weights = None if sample_weight is None else np.asarray(sample_weight, float)
        right = np.equal(self.predict(X), np.asarray(y.toarray() if sparse.issparse(y) else y))
        return float(np.average(right.reshape(len(right), -1).mean(axis=1), weights=weights))
