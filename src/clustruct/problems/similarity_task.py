"""Learning a pair similarity from labelled sets: units, problem, training, and the loss on sets held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clustruct._typing import Floats, Indices, Ints
from clustruct.callbacks import observed
from clustruct.itemsets import ItemSet
from clustruct.losses import Loss
from clustruct.oracles import ExampleLoss, Oracle, Predictor
from clustruct.slack_rule import SlackRule
from clustruct.ssvm import FitResult, Formulation, fit

from .clustering import ClusteringProblem
from .units import Units

__all__ = ["SimilarityTask", "Trained", "TrainingOptions"]


@dataclass(frozen=True)
class Trained:
    """A training: its result with w in the user's units, and as the engine left it, to start another from."""

    result: FitResult
    scaled: FitResult
    feature_scale: Floats


@dataclass(frozen=True)
class TrainingOptions:
    """What `clustruct.ssvm.fit` is told, besides C."""

    rule: SlackRule
    formulation: Formulation = "n_slack"
    nonnegative: bool = False
    rtol: float = 1e-3
    max_iter: int = 1000
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0


@dataclass
class SimilarityTask:
    """Sets with their labels and weights, the loss, how violated clusterings are searched, how sets are
    clustered.

    With ``rescale`` features are divided by their root mean square over the sets trained on, sums are means,
    and C is measured in the unit that these sets suggest; without it the problem is that of the papers.
    """

    sets: Sequence[ItemSet]
    labels: Sequence[Ints]
    loss: Loss
    oracle: Oracle
    predictor: Predictor
    options: TrainingOptions
    rescale: bool = True
    sample_weight: Floats | None = None

    def __post_init__(self) -> None:
        for x in self.sets:
            self.oracle.check_set(x)

    def train(self, C: float, chosen: Indices | None = None, start: Trained | None = None) -> Trained:
        """Train on the sets chosen (all of them without), from an earlier training of the same sets."""
        chosen = np.arange(len(self.sets)) if chosen is None else chosen
        problem, unit = self._problem(chosen)
        options = self.options
        found = fit(
            problem,
            C * unit,
            rtol=options.rtol,
            formulation=options.formulation,
            scaling=options.rule.scaling,
            slack_norm=options.rule.norm,
            sample_weight=None if self.sample_weight is None else self.sample_weight[chosen],
            constraints="nonnegative" if options.nonnegative else None,
            w0=None if start is None else start.scaled,
            max_iter=options.max_iter,
            n_jobs=options.n_jobs,
            random_state=options.random_state,
            callback=observed(C, options.rtol, options.verbose),
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
        objective = self.oracle.objective
        if not self.rescale:
            return ClusteringProblem(sets, labels, self.loss, self.oracle), 1.0
        problem = ClusteringProblem(
            sets, labels, self.loss, self.oracle, units=Units.from_sets(sets, objective)
        )
        return problem, problem.natural_C()
