"""Trainings of a pair similarity on some of the sets, as the choice of C and an estimator make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clustruct._typing import Floats, Indices, Ints
from clustruct.callbacks import observed
from clustruct.itemsets import ItemSet
from clustruct.losses import Loss
from clustruct.oracles import ExampleLoss, Oracle, Predictor
from clustruct.ssvm import FitResult, fit

from .clustering import ClusteringProblem
from .units import Units, feature_scale


@dataclass(frozen=True)
class Trained:
    """A training: its result with w in the user's units, and as the engine left it, to start another from."""

    result: FitResult
    scaled: FitResult
    feature_scale: Floats


@dataclass
class SimilarityTask:
    """Labelled sets with their weights, the loss, and the searches for violated and for best clusterings.

    With ``rescale`` features are divided by their root mean square over the sets trained on, sums are means,
    and C is measured in the unit that these sets suggest; without it the problem is that of the papers.
    ``options`` are further ones of `clustruct.ssvm.fit`.
    """

    sets: Sequence[ItemSet]
    labels: Sequence[Ints]
    loss: Loss
    oracle: Oracle
    predictor: Predictor
    options: Mapping[str, Any]
    rescale: bool = True
    sample_weight: Floats | None = None
    verbose: int = 0

    def __post_init__(self) -> None:
        for x in self.sets:
            self.oracle.check_set(x)

    def train(self, C: float, chosen: Indices | None = None, start: Trained | None = None) -> Trained:
        """Train on the sets chosen (all of them without), from an earlier training of the same sets."""
        chosen = np.arange(len(self.sets)) if chosen is None else chosen
        problem, unit = self._problem(chosen)
        found = fit(
            problem,
            C * unit,
            **self.options,
            sample_weight=None if self.sample_weight is None else self.sample_weight[chosen],
            w0=None if start is None else start.scaled,
            callback=observed(C, self.options["rtol"], self.verbose),
        )
        scale = problem.units.feature_scale
        return Trained(replace(found, w=np.asarray(found.w / scale)), found, scale)

    def held_out_loss(self, trained: Trained, i: int) -> float:
        """Delta of the prediction for set i, with as many clusters as the truth where that is to be given."""
        truth = self.labels[i]
        scores = self.predictor.scores(self.sets[i], trained.result.w)
        predicted = self.predictor.predict(scores, int(truth.max()) + 1)
        return ExampleLoss(self.loss, truth)(predicted)

    def _problem(self, chosen: Indices) -> tuple[ClusteringProblem, float]:
        """The problem of some sets, and the unit in which C is measured."""
        sets, labels = [self.sets[i] for i in chosen], [self.labels[i] for i in chosen]
        units = None
        if self.rescale:
            kind = self.oracle.objective
            units = Units.of_means(sets, kind, feature_scale(sets, kind))
        problem = ClusteringProblem(sets, labels, self.loss, self.oracle, units=units)
        return problem, problem.natural_C() if self.rescale else 1.0
