"""What the estimators share: clusters of whole sets, and weights of a pair similarity learned from them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clustruct import learning, losses, ssvm
from clustruct.core import memory
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import FEATURES, EstimatorState, Shape
from clustruct.core.typing import Floats, Ints, Labels
from clustruct.data import Evidence, Grouping, GroupingOptions, ItemSet, PairScores, pair_table
from clustruct.losses import Loss, as_loss
from clustruct.losses.function import LabelFunction, warn_of_cost
from clustruct.search import oracles

from .inputs import Groups, Sets, SetsLike, check_labels, read_labels, read_sets, read_weights, set_groups
from .training_shape import TrainingShape

if TYPE_CHECKING:
    from clustruct.learning.model_selection.choose_c import Choice
    from clustruct.learning.problems import SimilarityTask, Trained
    from clustruct.losses.slack_rule import Scaling
    from clustruct.search.oracles import Oracle, Predictor
    from clustruct.search.oracles.base import Objective
    from clustruct.ssvm import FitResult, Formulation

AnyLoss: TypeAlias = Loss | str | LabelFunction


class SetClusterer(EstimatorState, BaseEstimator):
    """`predict`, `score` and scikit-learn's tags for estimators whose sample is a set.

    ``clustering_objective`` is what a prediction maximises: the sum of K inside clusters ("correlation") or
    over the links that make them ("links"), or trace(Y'KY) for a given number of clusters ("kmeans").
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
        if not isinstance(self.loss, str) or self.loss not in losses.names():
            as_loss(self.loss)

    def linear_similarity(self) -> tuple[Floats, float] | None:
        """w and b of K_ab = <w, psi_ab> + b, in the units of the features; None for any other similarity."""
        w = getattr(self, "w_", None)
        return None if w is None else (np.asarray(w, np.float64), float(getattr(self, "intercept_", 0.0)))

    def predict(self, X: SetsLike, set_ids: ArrayLike | None = None) -> Any:
        """Cluster new sets: a list of label vectors for a list of sets, one vector for one table."""
        given = self._read(X, set_ids)
        self.warn_unfamiliar(given.sets)
        return given.restore(self._clusters(given.sets))

    def score(self, X: SetsLike, y: object, set_ids: ArrayLike | None = None) -> float:
        """100 minus the mean loss over the sets, divided by 100: 1 is perfect."""
        return 1.0 - float(np.mean(self.set_losses(X, y, set_ids))) / 100.0

    def set_losses(self, X: SetsLike, y: object, set_ids: ArrayLike | None = None) -> Floats:
        """The loss of the prediction for each set, on a 0..100 scale. Items without a label do not count."""
        given = self._read(X, set_ids)
        truth, loss = read_labels(y, given), as_loss(self.loss)
        check_labels(truth)
        predicted = self._clusters(given.sets, truth)
        known = [t != UNKNOWN for t in truth]
        return np.array([loss(t[k], p[k]) for t, p, k in zip(truth, predicted, known, strict=True)])

    @abstractmethod
    def _clusters(self, sets: list[ItemSet], truth: list[Labels] | None = None) -> list[Any]:
        """The prediction for each set. ``truth``, where it is known, may say how many clusters there are."""

    def _read(self, X: SetsLike, set_ids: ArrayLike | None) -> Sets:
        check_is_fitted(self)
        return read_sets(self, X, set_ids, reset=False)

    def warn_unfamiliar(self, sets: Sequence[ItemSet | PairScores]) -> None:
        """Warn of sets that are far from what the model was shown."""
        return

    def _predictor(self) -> Predictor:
        return oracles.make_predictor(
            self.predictor, self.clustering_objective, random_state=self.random_state
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_labels
        tags.input_tags.sparse = True
        return tags


class PairSimilarity(SetClusterer):
    """A clusterer by the similarity of pairs; ``shown_`` is what it keeps of the training sets, if
    anything.
    """

    memory_limit: memory.Size = None
    shown_: TrainingShape | None

    def decision_function(self, X: SetsLike, set_ids: ArrayLike | None = None) -> Any:
        """The similarity of every pair: one symmetric matrix per set (positive: together); sparse for a set
        that lists its pairs (`pair_index`) and has no node features. The diagonal means something for k-means
        only.
        """
        given = self._read(X, set_ids)
        answers = [self._similarity(x) for x in given.sets]
        return answers[0] if given.single else answers

    @abstractmethod
    def _similarity(self, x: ItemSet) -> Any: ...

    def pair_scores(self, x: ItemSet, pairs: Ints) -> Floats:
        """The similarities of some pairs (p x 2) of a set."""
        linear = self.linear_similarity()
        assert linear is not None
        return np.asarray(pair_table(x, pairs) @ linear[0] + linear[1], np.float64)

    def set_scores(self, x: ItemSet) -> PairScores:
        """The similarities of one set, which is checked, in the form that its search takes."""
        (checked,) = self._read(x, None).sets
        self._predictor().check_set(checked)
        return self._set_scores(checked)

    def _set_scores(self, x: ItemSet) -> PairScores:
        return self._predictor().scores(x, self.w_)

    def group_scores(
        self,
        scores: PairScores,
        evidence: Evidence | None = None,
        options: GroupingOptions | None = None,
        *,
        confidence: bool = False,
    ) -> Grouping:
        """Cluster one set by its similarities, with what is known of it and what is asked of its groups. They
        may have been computed elsewhere, as `linear_similarity` says.
        """
        check_is_fitted(self)
        asked, search = self._search_options(scores), self._predictor()
        return learning.group_scores(scores, search, evidence, options, confidence=confidence, **asked)

    def _search_options(self, scores: PairScores) -> dict[str, Any]:
        """What else `learning.group_scores` needs of the model."""
        return {}

    def _clusters(self, sets: list[ItemSet], truth: list[Labels] | None = None) -> list[Any]:
        search = self._predictor()
        for x in sets:
            search.check_set(x)
        return [self.group_scores(self._set_scores(x)).labels for x in sets]

    def _read(self, X: SetsLike, set_ids: ArrayLike | None) -> Sets:
        given = super()._read(X, set_ids)
        self._check_memory(given.sets)
        return given

    def _check_memory(self, sets: list[ItemSet]) -> None:
        """Refuse sets whose matrix K does not fit, before any work."""
        listed = self.clustering_objective != "kmeans"
        memory.require_matrix(
            max(0 if listed and x.is_sparse else x.n_items for x in sets), self.memory_limit
        )

    def warn_unfamiliar(self, sets: Sequence[ItemSet | PairScores]) -> None:
        shown = getattr(self, "shown_", None)
        if shown is not None:
            shown.warn(sets, self.pair_scores, zero_counts=self.clustering_objective != "kmeans")

    def warn_of_groups(self, found: Sequence[Grouping], scored: Sequence[PairScores]) -> None:
        """Warn of groups of sets, found by these scores, that cannot be right."""
        shown = getattr(self, "shown_", None)
        if shown is None or self.clustering_objective != "correlation" or not found:
            return
        rows = [
            one.labels if scores.equal is None else one.labels[scores.equal.first]
            for one, scores in zip(found, scored, strict=True)
        ]
        largest = max(int(np.bincount(y).max(initial=0)) for y in rows)
        n_uncompared = sum(one.n_uncompared for one in found)
        shown.warn_of_groups(largest, n_uncompared, sum(len(one.labels) for one in found))


class ResultState(EstimatorState):
    """Trained by a structural SVM. ``w_`` are the weights of ``result_`` unless they are a mean of several
    trainings; a file has equal ones once.
    """

    w_: Floats
    result_: FitResult

    def state(self) -> dict[str, Any]:
        held = super().state()
        if np.array_equal(self.result_.w, self.w_):
            held["learned"]["result_"] = replace(self.result_, w=None)
        return held

    def check_attributes(self) -> None:
        if self.result_.w is None:
            self.result_ = replace(self.result_, w=self.w_)
        elif np.shape(self.result_.w) != self.w_.shape:
            raise ValueError("result_.w must have one weight per feature")


@dataclass(eq=False, repr=False)
class SimilarityLearning(ResultState, PairSimilarity, ABC):
    """`fit`: read the sets, choose C, train, and give the weights in the user's units. A subclass says what
    it clusters by, how it searches for violated clusterings, and whether weights must not be negative.
    """

    C: float | str = "cv"
    loss: AnyLoss = "pairwise"
    scaling: Scaling = "margin"
    formulation: Formulation = "n_slack"
    slack_norm: Literal[1, 2] = 1
    rescale: bool = True
    C_grid: Sequence[float] | None = None
    cv: int = 3
    rtol: float = 1e-3
    max_iter: int = 1000
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0
    average_folds: bool = False
    memory_limit: memory.Size = None
    checkpoint: str | os.PathLike[str] | None = None
    fitted: ClassVar = {
        **FEATURES,
        "w_": Shape(("n_features_in_",)),
        "feature_scale_": Shape(("n_features_in_",)),
        "C_": float,
        "cv_results_": dict | None,
        "result_": "FitResult",
        "shown_": ("TrainingShape", None),
        "past_": ("PastTraining", None),
    }

    @abstractmethod
    def _nonnegative(self) -> bool: ...

    def _conditions(self) -> Any:
        """What must hold of the weights."""
        return "nonnegative" if self._nonnegative() else None

    @abstractmethod
    def _oracle(self) -> Oracle: ...

    def _check_training_sets(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        """Anything to be checked or remembered of the training sets."""
        return

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.C != "cv" and (isinstance(self.C, str) or not self.C > 0):
            raise ValueError(f"C must be a positive number or 'cv', not {self.C!r}")

    def _check_searches(self) -> None:
        """Refuse an oracle that cannot search for this loss, and a predictor of another objective."""
        refused = self._oracle().refusal(ssvm.SlackRule(self.scaling, self.slack_norm), as_loss(self.loss))
        if refused is not None:
            raise ValueError(refused)
        self._predictor()

    def fit(
        self,
        X: SetsLike,
        y: object = None,
        set_ids: ArrayLike | None = None,
        groups: Groups = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the similarity.

        X is a list of item sets (or of tables, taken as node features), with y a list of label vectors; or
        one table with one label per row, cut into sets by ``set_ids``. A label None, NaN or -1 is not known.
        ``groups`` and ``sample_weight`` have one entry per set: sets of one group are held out together, a
        set of weight 2 counts as if it were there twice. Ctrl-C ends the training and keeps what was learned
        so far.
        """
        self.check_parameters()
        self._check_searches()
        given = read_sets(self, X, set_ids, reset=True)
        self._check_memory(given.sets)
        labels = self._read_labels(y, given)
        check_labels(labels)
        weights = read_weights(sample_weight, given)
        held_together = set_groups(groups, given)
        self._check_training_sets(given.sets, labels)
        choosing = (
            learning.model_selection.n_trainings(len(given.sets), self.C_grid, self.cv)
            if self.C == "cv"
            else 0
        )
        task = self._task(given.sets, labels, weights)
        warn_of_cost(as_loss(self.loss), labels, choosing)
        chosen = self._choice(task, held_together)
        self.C_ = chosen.C
        if self.C == "cv":
            self.cv_results_ = chosen.results
        trained = task.train(chosen.C) if chosen.trained is None else chosen.trained
        folds = chosen.weights if self.average_folds else []
        self.w_ = np.mean([trained.result.w, *folds], axis=0) if chosen.w is None else chosen.w
        self.result_ = trained.result
        finished = None if trained.result.was_stopped else self._deliver(task, chosen)
        self._calibrate(task, finished)
        self._keep_attributes(trained)
        self.feature_scale_ = trained.feature_scale
        if task.fit_checkpoint is not None and trained.result.converged:
            task.fit_checkpoint.remove()
        self.shown_ = TrainingShape.of(given.sets, labels, self.pair_scores)
        self.past_ = (
            learning.problems.past_of(trained, given.sets, labels) if self._can_continue(task) else None
        )
        return self

    def _choice(self, task: SimilarityTask, groups: Sequence[Hashable] | None) -> Choice:
        shared = {"folds": self.cv, "groups": groups, "random_state": self.random_state}
        if self.C == "cv":
            return learning.model_selection.choose_C_for(task, grid=self.C_grid, **shared)  # type: ignore[arg-type]
        if getattr(self, "calibrate", None) is True:
            return learning.model_selection.folds_for(task, float(self.C), **shared)  # type: ignore[arg-type]
        return learning.model_selection.Choice(float(self.C), {})

    def _can_continue(self, task: SimilarityTask) -> bool:
        """Whether a later training can go on from the last one."""
        return task.can_continue

    def _keep_attributes(self, trained: Trained) -> None:
        """Anything else of the last training."""
        return

    def _deliver(self, task: SimilarityTask, chosen: Choice) -> Choice:
        """The choice with the trainings of its folds as the clusterer is delivered: anything done to the
        weights after training is done to theirs.
        """
        return chosen

    def _calibrate(self, task: SimilarityTask, chosen: Choice | None) -> None:
        """Learn what scores mean, where the clusterer can; not after a training that was stopped (None)."""
        return

    def _read_labels(self, y: object, given: Sets) -> list[Labels]:
        """Labels of all items, or -1 where the clusterer can do without."""
        return read_labels(y, given, needed_by=self)

    def training_options(self) -> dict[str, Any]:
        """What `clustruct.ssvm.fit` is called with."""
        names = ("formulation", "scaling", "slack_norm", "rtol", "max_iter", "n_jobs", "random_state")
        options = {name: getattr(self, name) for name in names}
        return {**options, "constraints": self._conditions()}

    def _task_class(self) -> type[SimilarityTask]:
        """What trains: the labelled sets with their loss and searches."""
        return learning.problems.SimilarityTask

    def _task_options(self) -> dict[str, Any]:
        return {}

    def _task(self, sets: list[ItemSet], labels: list[Labels], weights: Floats | None) -> SimilarityTask:
        return self._task_class()(
            sets,
            labels,
            as_loss(self.loss),
            self._oracle(),
            self._predictor(),
            self.training_options(),
            self.rescale,
            weights,
            self.verbose,
            self.checkpoint,
            getattr(self, "unlabelled", "apart"),
            self.memory_limit,
            **self._task_options(),
        )
