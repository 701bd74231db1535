"""Trainings of a pair similarity on some of the sets, as the choice of C and an estimator make them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clustruct._typing import Floats, Indices, Ints
from clustruct.callbacks import observed
from clustruct.itemsets import ItemSet
from clustruct.losses import Loss
from clustruct.oracles import ExampleLoss, Oracle, Predictor
from clustruct.ssvm import FitResult, Identity, Planes, fit
from clustruct.storage import digest

from .arranging import arranged
from .clustering import ClusteringProblem
from .judging import Judged, shared_pairs
from .resuming import FitCheckpoint
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
    ``options`` are further ones of `clustruct.ssvm.fit`. With ``checkpoint`` what the trainings find is kept
    in that file, and taken from it where it is there.
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
    checkpoint: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        for x in self.sets:
            self.oracle.check_set(x)

    def train(self, C: float, chosen: Indices | None = None, start: Trained | None = None) -> Trained:
        """Train on the sets chosen (all of them without), from an earlier training of the same sets."""
        chosen, kept = self._in_order(np.arange(len(self.sets)) if chosen is None else chosen), self.kept
        problem, unit = self._problem(chosen)
        w0: FitResult | Planes | None = None if start is None else start.scaled
        if w0 is None and kept is not None:
            w0 = kept.planes_of(chosen)
        found = fit(
            problem,
            C * unit,
            **self.options,
            sample_weight=None if self.sample_weight is None else self.sample_weight[chosen],
            w0=w0,
            checkpoint=None if kept is None else kept.keeper(C, chosen),
            callback=observed(C, self.options["rtol"], self.verbose),
        )
        scale = problem.units.feature_scale
        return Trained(replace(found, w=np.asarray(found.w / scale)), found, scale)

    @cached_property
    def kept(self) -> FitCheckpoint | None:
        """The checkpoint, looked at before any work."""
        return None if self.checkpoint is None else FitCheckpoint(self.checkpoint, self.identity())

    def identity(self) -> Identity:
        """What the checkpoint of a fit must have in common with it."""
        settings = {n: v for n, v in self.options.items() if n not in ("max_iter", "n_jobs")}
        settings["formulation"] = str(settings["formulation"])
        digests = ClusteringProblem(self.sets, self.labels, self.loss, self.oracle).identity()
        digests["predictor"] = digest(self.predictor.describe())
        digests["sample_weight"] = digest(self.sample_weight)
        return Identity(settings | {"rescale": self.rescale}, digests)

    def judge(self, trained: Trained, i: int) -> Judged:
        """Delta of the prediction for set i, with as many clusters as the truth where that is to be given."""
        truth = self.labels[i]
        scores = self.predictor.scores(self.sets[i], trained.result.w)
        predicted = self.predictor.predict(scores, int(truth.max()) + 1)
        assert isinstance(predicted, np.ndarray)
        return Judged(ExampleLoss(self.loss, truth)(predicted), shared_pairs(truth, predicted))

    @cached_property
    def _arranged(self) -> tuple[list[ItemSet], list[Ints], Indices] | None:
        """For k-means, whose searches start at random: sets and items in an order of their own."""
        if self.oracle.objective != "kmeans" or not self.sets:
            return None
        return arranged(self.sets, self.labels, feature_scale(self.sets, "kmeans"))

    def _in_order(self, chosen: Indices) -> Indices:
        return chosen if self._arranged is None else chosen[np.argsort(self._arranged[2][chosen])]

    def _problem(self, chosen: Indices) -> tuple[ClusteringProblem, float]:
        """The problem of some sets, and the unit in which C is measured."""
        held = (self.sets, self.labels) if self._arranged is None else self._arranged[:2]
        sets, labels = ([part[i] for i in chosen] for part in held)
        units = None
        if self.rescale:
            kind = self.oracle.objective
            units = Units.of_means(sets, kind, feature_scale(sets, kind))
        problem = ClusteringProblem(sets, labels, self.loss, self.oracle, units=units)
        return problem, problem.natural_C() if self.rescale else 1.0
