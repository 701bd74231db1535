"""What the estimators share that learn the weights of a pair similarity from whole sets."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from clustruct._typing import Floats, Labels
from clustruct.callbacks import observed
from clustruct.itemsets import ItemSet
from clustruct.model_selection.choose_c import choose_C
from clustruct.ssvm import FitResult, SlackRule, fit
from clustruct.storage import FEATURES, Shape

from .inputs import read_labels, read_sets, set_groups
from .result_state import ResultState


class SimilarityLearning(ResultState):
    """`fit`: read the sets, choose C, train, and give the weights in the user's units.

    A subclass says how features are scaled, which problem is solved and in what unit C is measured, and how a
    held-out set is clustered. Its parameters include those of `clustruct.ssvm.fit` that are named here.
    """

    C: float | str
    oracle: Any
    scaling: Any
    slack_norm: Any
    formulation: Any
    rtol: float
    max_iter: int
    n_jobs: int | None
    random_state: int
    fitted: ClassVar = {
        **FEATURES,
        "w_": Shape(("n_features_in_",)),
        "feature_scale_": Shape(("n_features_in_",)),
        "C_": float,
        "cv_results_": dict | None,
        "result_": FitResult,
    }

    @abstractmethod
    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""

    @abstractmethod
    def _feature_scale(self, sets: list[ItemSet]) -> Floats:
        """What each feature is divided by."""

    @abstractmethod
    def _problem(self, sets: list[ItemSet], labels: list[Labels]) -> tuple[Any, float]:
        """The problem on scaled features, and the unit in which C is measured."""

    @abstractmethod
    def _cluster_held_out(self, x: ItemSet, truth: Labels, w: Floats) -> Labels:
        """The prediction at weights w for a set whose truth is known."""

    def _nonnegative(self) -> bool:
        """Whether weights must not be negative."""
        return False

    def _look_at(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        """Anything to be checked or remembered of the training sets."""

    def fit(self, X: Any, y: Any = None, groups: Any = None, set_weight: Any = None) -> Any:
        """Learn the similarity.

        X is a list of item sets (or of tables, taken as node features), with y a list of label
        vectors; or one table with one label per row, cut into sets by ``groups`` (one set without).
        ``set_weight`` has one number per set. For a list of sets ``groups`` has one entry per set: in
        the cross-validation of C, sets of one group are held out together. Ctrl-C ends the training and
        keeps what was learned so far (``result_.stop_reason`` is "interrupted").
        """
        if self.C != "cv" and (isinstance(self.C, str) or not self.C > 0):
            raise ValueError(f"C must be a positive number or 'cv', not {self.C!r}")
        self.check_parameters()
        given = read_sets(self, X, groups, reset=True)
        labels = read_labels(y, given)
        self._look_at(given.sets, labels)
        if self.C == "cv":
            held_together = set_groups(groups, given)
            chosen = choose_C(self, given.sets, labels, set_weight, held_together)
            self.C_, self.cv_results_ = chosen.C, chosen.results
            if chosen.stopped is not None:
                self.result_, self.w_ = chosen.stopped, chosen.stopped.w
                return self
        else:
            self.C_ = float(self.C)
        trained = self._train(given.sets, labels, self.C_, set_weight)
        self.w_ = self._in_user_units(trained.w)
        self.result_ = replace(trained, w=self.w_)
        return self

    def _refuse_added_loss(self, instead: str) -> None:
        """Oracles that add the loss to the similarities know one slack rule only."""
        if SlackRule(self.scaling, self.slack_norm) != SlackRule():
            raise ValueError(
                f"the {self.oracle} oracle adds the loss to the similarities, which {self.scaling} scaling "
                f"with slack_norm={self.slack_norm} does not allow: use {instead}"
            )

    def _train(
        self,
        sets: list[ItemSet],
        labels: list[Labels],
        C: float,
        set_weight: Any = None,
        start: FitResult | None = None,
    ) -> FitResult:
        self.feature_scale_ = self._feature_scale(sets)
        problem, unit = self._problem(sets, labels)
        return fit(
            problem,
            C * unit,
            rtol=self.rtol,
            formulation=self.formulation,
            scaling=self.scaling,
            slack_norm=self.slack_norm,
            sample_weight=set_weight,
            constraints="nonnegative" if self._nonnegative() else None,
            w0=start,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            callback=observed(C, self.rtol),
        )

    def _in_user_units(self, w: Floats) -> Floats:
        return np.asarray(w / self.feature_scale_)
