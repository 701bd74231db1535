"""What the estimators share that learn the weights of a pair similarity from whole sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from numpy.typing import ArrayLike

from clustruct._typing import Floats, Labels
from clustruct.itemsets import ItemSet
from clustruct.losses import Loss, as_loss
from clustruct.losses.function import LabelFunction
from clustruct.model_selection.choose_c import choose_C
from clustruct.oracles import Oracle, Predictor
from clustruct.oracles.base import Objective
from clustruct.problems import SimilarityTask
from clustruct.slack_rule import Scaling, SlackRule
from clustruct.ssvm import FitResult, Formulation
from clustruct.storage import FEATURES, Shape

from .inputs import Groups, Table, read_labels, read_sets, read_weights, set_groups
from .result_state import ResultState

AnyLoss = Loss | str | LabelFunction


class SimilarityLearning(ResultState, ABC):
    """`fit`: read the sets, choose C, train, and give the weights in the user's units.

    A subclass says what it clusters by (``clustering_objective``), how it searches, and whether weights must
    not be negative.
    """

    clustering_objective: ClassVar[Objective]
    C: float | str
    loss: AnyLoss
    oracle: str
    predictor: str
    scaling: Scaling
    slack_norm: Literal[1, 2]
    formulation: Formulation
    rescale: bool
    C_grid: Sequence[float] | None
    cv: int
    rtol: float
    max_iter: int
    n_jobs: int | None
    random_state: int
    verbose: int
    feature_scale_: Floats
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

    @abstractmethod
    def _predictor(self) -> Predictor:
        """The search by which sets are clustered."""

    def _look_at(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        """Anything to be checked or remembered of the training sets."""
        return

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
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
            )
            self.C_, self.cv_results_, trained = chosen.C, chosen.results, chosen.stopped
        else:
            self.C_ = float(self.C)
        if trained is None:
            trained = task.train(self.C_)
        self.result_, self.w_ = trained.result, trained.result.w
        self.feature_scale_ = trained.feature_scale
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
        )
