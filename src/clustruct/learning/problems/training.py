"""Trainings of a pair similarity on some of the sets, as the choice of C and an estimator make them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import Bounds
from sklearn.exceptions import ConvergenceWarning

from clustruct.core import memory
from clustruct.core.callbacks import training_listener
from clustruct.core.partitions import UNKNOWN, canonical_labels, normalised_indicator
from clustruct.core.storage import digest
from clustruct.core.typing import Bools, Floats, Indices, Ints
from clustruct.data import ItemSet
from clustruct.learning import search_groups
from clustruct.losses import LinearLoss, Loss, PairwiseFLoss
from clustruct.search.kmeans import order_of_rows
from clustruct.search.oracles import ExampleLoss, Oracle, Predictor
from clustruct.ssvm import FitResult, Identity, Planes, fit

from .clustering import ClusteringProblem
from .fold_losses import FoldLoss, shared_pairs, touching_pairs
from .region import Region, regions_of
from .saved_training import FitCheckpoint
from .units import Units, feature_scale, thin_features

# Problems that are kept, one for each fold of a choice.
MOST_PROBLEMS = 5
MOST_ROUNDS = 10
# What is known of a pair of an item with a label and one without: that it is apart, or nothing.
Unlabelled: TypeAlias = Literal["apart", "unknown"]


@dataclass(frozen=True)
class Trained:
    """A training: its result with w in the user's units, and as the engine left it, to start another from."""

    result: FitResult
    scaled: FitResult
    feature_scale: Floats
    C: float
    # After each turn, where trainings take turns.
    objectives: tuple[float, ...] = ()


def learn_weights(train: Callable[[], Trained]) -> Floats:
    """The weights of a training, `KeyboardInterrupt` where somebody stopped it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said of the last training, if at all
        trained = train()
    if trained.result.was_stopped:
        raise KeyboardInterrupt
    return trained.result.w


def train_and_complete(
    regions: Sequence[Region], start: Floats, train: Callable[[Sequence[Ints]], Trained]
) -> Trained:
    """Complete the labels at w, train on them and repeat, until they stay or the objective does not fall.

    min over w   1/2 |w|^2 + C mean_i xi_i,
    xi_i = max_y (Delta(y_i, y) + <w, Psi(x_i, y)>) - max_h <w, Psi(x_i, (y_i, h))>

    h is what is not known of a set; Delta looks at what is. The concave part is replaced by its tangent at
    the present w, that is h by its best value, and a structural SVM is solved (CCCP; Yu and Joachims 2009).
    """
    labels = [region.complete_labels(start) for region in regions]
    best = train(labels)
    for _ in range(MOST_ROUNDS):
        again = [region.complete_labels(best.result.w) for region in regions]
        if all(np.array_equal(one, other) for one, other in zip(labels, again, strict=True)):
            break
        labels, new = again, train(again)
        if not new.result.objective < best.result.objective:
            break
        best = new
    return best


@dataclass
class SimilarityTask:
    """Labelled sets with their weights, the loss, and the searches for violated and for best clusterings.

    With ``rescale`` features are divided by their root mean square over the sets trained on, sums are means,
    and C is in the unit that these sets suggest; without it the problem is that of the papers. ``options``
    are further ones of `clustruct.ssvm.fit`; with ``checkpoint`` what the trainings find is kept in that
    file. Labels are -1 where not known; pairs of such an item and a known one are apart, or
    (``unlabelled="unknown"``) not judged.
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
    unlabelled: Unlabelled = "apart"
    memory_limit: memory.Size = None

    def __post_init__(self) -> None:
        for x in self.sets:
            self.oracle.check_set(x)
        self._problems: dict[bytes, tuple[ClusteringProblem, float]] = {}
        if self.is_latent and self.options["scaling"] != "margin":
            raise ValueError("unlabelled='unknown' needs scaling='margin'")

    @property
    def can_continue(self) -> bool:
        return self.oracle.objective == "correlation" and self.rescale

    @property
    def is_latent(self) -> bool:
        """Whether some items have no label, and nothing is known of their pairs."""
        return self.unlabelled == "unknown" and any((y == UNKNOWN).any() for y in self.labels)

    def train(
        self,
        C: float,
        chosen: Indices | None = None,
        start: Trained | None = None,
        *,
        rtol: float | None = None,
    ) -> Trained:
        """Train on the sets chosen (all of them without), from an earlier training of the same sets."""
        chosen = self._in_order(np.arange(len(self.sets)) if chosen is None else chosen)
        options = dict(self.options)
        options["rtol"] = options["rtol"] if rtol is None else max(rtol, options["rtol"])
        if self.is_latent:
            return self._train_latent(C, chosen, options)
        problem, unit = self._kept_problem(chosen)
        kept = self.fit_checkpoint
        w0: FitResult | Planes | None = None if start is None else start.scaled
        if w0 is None and kept is not None:
            w0 = kept.planes_of(chosen)
        keeper = None if kept is None else kept.keeper(C, chosen)
        options |= {"w0": w0, "checkpoint": keeper}
        return self._in_user_units(
            fit(problem, C * unit, **self._options(C, chosen, options)), problem, C * unit
        )

    def _kept_problem(self, chosen: Indices) -> tuple[ClusteringProblem, float]:
        """The problem of some sets, which the choice of C comes back to with another C."""
        key = chosen.tobytes()
        if key not in self._problems:
            self._problems = dict([*self._problems.items()][-MOST_PROBLEMS + 1 :])
            self._problems[key] = self._problem(chosen)
        return self._problems[key]

    def _train_latent(self, C: float, chosen: Indices, options: Mapping[str, Any]) -> Trained:
        """With items of which nothing is known. The first w comes from known items alone."""
        regions = [self.regions[i] for i in chosen]
        own = [r.x.subset(r.known_items) for r in regions]
        labels = [canonical_labels(r.labels[r.known_items]) for r in regions]
        alone = replace(self, sets=own, labels=labels, options=options, checkpoint=None)
        unit = self._problem(chosen)[1]

        def train(completed: Sequence[Ints]) -> Trained:
            problem = self._problem(chosen, completed)[0]
            return self._in_user_units(
                fit(problem, C * unit, **self._options(C, chosen, options)), problem, C * unit
            )

        return train_and_complete(regions, alone.train(C).result.w, train)

    def _options(self, C: float, chosen: Indices, options: Mapping[str, Any]) -> dict[str, Any]:
        """What the engine is called with for some of the sets."""
        weights = None if self.sample_weight is None else self.sample_weight[chosen]
        callback = training_listener(C, options["rtol"], self.verbose)
        return {**options, "sample_weight": weights, "callback": callback}

    def _in_user_units(self, found: FitResult, problem: ClusteringProblem, C: float) -> Trained:
        scale = problem.units.feature_scale
        return Trained(replace(found, w=np.asarray(found.w / scale)), found, scale, C)

    @cached_property
    def fit_checkpoint(self) -> FitCheckpoint | None:
        """The checkpoint, looked at before any work."""
        return None if self.checkpoint is None else FitCheckpoint(self.checkpoint, self.identity())

    def identity(self) -> Identity:
        """What the checkpoint of a fit must have in common with it."""
        settings = {n: v for n, v in self.options.items() if n not in ("max_iter", "n_jobs")}
        settings["formulation"] = str(settings["formulation"])
        if isinstance(bounds := settings.get("constraints"), Bounds):
            settings["constraints"] = digest(np.asarray(bounds.lb, float))
        regions = self.regions
        digests = ClusteringProblem(
            [r.x for r in regions], [r.labels for r in regions], self.loss, self.oracle
        ).identity()
        digests["known"] = digest([r.known_items for r in regions], self.unlabelled)
        digests["predictor"] = digest(self.predictor.describe())
        digests["sample_weight"] = digest(self.sample_weight)
        return Identity(settings | {"rescale": self.rescale}, digests)

    def judge(self, trained: Trained, numbers: Sequence[int]) -> list[FoldLoss]:
        """What the predictions for these sets are worth."""
        return [self._judge(trained, i) for i in numbers]

    def _judge(self, trained: Trained, i: int) -> FoldLoss:
        """Delta of the prediction for set i, with as many clusters as the truth where that is to be given."""
        region = self.regions[i]
        truth, predicted = region.labels, self.predict(trained, i)
        if not region.is_complete:
            loss = self.oracle.example_loss(self._loss, truth, region.x, *self._masks(region))
            if self.unlabelled == "unknown":
                return FoldLoss(
                    loss(predicted), shared_pairs(truth[region.known_items], predicted[region.known_items])
                )
            return FoldLoss(loss(predicted), touching_pairs(truth, predicted, region.known_items))
        return FoldLoss(ExampleLoss(self.loss, truth)(predicted), shared_pairs(truth, predicted))

    def predict(self, trained: Trained, i: int) -> Ints:
        """The clusters of the items of region i."""
        region = self.regions[i]
        scores = self.predictor.scores(region.x, trained.result.w)
        return search_groups(self.predictor, scores, int(region.labels.max()) + 1)

    @cached_property
    def regions(self) -> list[Region]:
        """What is judged of each set."""
        return regions_of(
            self.sets, self.labels, complete=self.unlabelled == "apart", memory_limit=self.memory_limit
        )

    @cached_property
    def _canonical(self) -> tuple[list[ItemSet], list[Ints], Indices] | None:
        """For k-means, whose searches start at random: sets and items in an order of their own."""
        if self.oracle.objective != "kmeans" or not self.sets:
            return None
        return canonical_order(self.sets, self.labels, feature_scale(self.sets, "kmeans"))

    def _in_order(self, chosen: Indices) -> Indices:
        return chosen if self._canonical is None else chosen[np.argsort(self._canonical[2][chosen])]

    @property
    def _loss(self) -> Loss:
        """The loss, which says nothing of unlabelled items where nothing is known of them."""
        if self.is_latent and isinstance(self.loss, PairwiseFLoss):
            return replace(self.loss, background_weight=0.0)
        return self.loss

    def _masks(self, region: Region) -> tuple[Bools | None, Bools | None]:
        """Which pairs of a region are judged, and which of its items are known; None: all."""
        if region.is_complete:
            return None, None
        if self.unlabelled == "unknown" and isinstance(self.loss, LinearLoss):
            return region.judged_pairs, None
        return None, region.known_items

    def _problem(
        self, chosen: Indices, completed: Sequence[Ints] | None = None
    ) -> tuple[ClusteringProblem, float]:
        """The problem of some sets, and the unit in which C is measured."""
        regions = [self.regions[i] for i in chosen]
        sets, labels = [r.x for r in regions], [r.labels for r in regions]
        if self._canonical is not None:
            sets, labels = ([part[i] for i in chosen] for part in self._canonical[:2])
        units = self._units(chosen, sets) if self.rescale else None
        masks = [self._masks(region) for region in regions]
        problem = ClusteringProblem(
            sets,
            labels,
            self._loss,
            self.oracle,
            units=units,
            judged=[judged for judged, _ in masks],
            known=[known for _, known in masks],
            completed=completed,
        )
        return problem, problem.natural_C() if self.rescale else 1.0

    def _units(self, chosen: Indices, sets: Sequence[ItemSet]) -> Units:
        """Means over the pairs that are judged."""
        kind = self.oracle.objective
        scale = feature_scale(sets, kind, thin_features([self.sets[i] for i in chosen], kind))
        units = Units.of_means(sets, kind, scale)
        if not self.is_latent:
            return units
        regions = [self.regions[i] for i in chosen]
        shares = [
            1.0 if r.is_complete else max(np.mean(r.judged_pairs), 1.0 / max(len(r.judged_pairs), 1))
            for r in regions
        ]
        return replace(units, example_scale=units.example_scale / np.array(shares))


def canonical_order(
    sets: Sequence[ItemSet], labels: Sequence[Ints], feature_scale: Floats
) -> tuple[list[ItemSet], list[Ints], Indices]:
    """Each set with its items in an order of their own, their labels, and the place of each set among the
    sets.

    Searches that start at random and trainings that ask for one set after another come to other ends where
    items or sets are numbered in another way; so the same data is the same problem. Items are distinguished
    by sums over the similarities at one random w, and the same within their clusters; sets by sums of
    these.

    >>> x = ItemSet(nodes=[[3.0], [1.0], [2.0]])
    >>> found, ys, _ = canonical_order([x], [np.array([0, 0, 1])], np.ones(1))
    >>> found[0].nodes.ravel().tolist(), ys[0].tolist()
    ([1.0, 2.0, 3.0], [0, 1, 0])
    """
    w = np.random.default_rng(0).uniform(1.0, 2.0, len(feature_scale)) / feature_scale
    sums = [_order_sums(x, y, w) for x, y in zip(sets, labels, strict=True)]
    orders = [order_of_rows(of_items) for of_items in sums]
    sizes = [[len(y), int(y.max()) + 1] for y in labels]
    of_sets = [[*size, *of_items.sum(axis=0)] for size, of_items in zip(sizes, sums, strict=True)]
    places = np.argsort(order_of_rows(np.array(of_sets, float)))
    items = [x.subset(order) for x, order in zip(sets, orders, strict=True)]
    return items, [y[order] for y, order in zip(labels, orders, strict=True)], places


def _order_sums(x: ItemSet, y: Ints, w: Floats) -> Floats:
    """One row per item: K1 and sums of its square, over all items and over those of its cluster."""
    K, Y = x.similarity_operator(w), normalised_indicator(y)
    total = np.asarray(K @ np.ones(len(y)))
    size = max(float(np.abs(total).max()), 1e-300)
    total = total / size
    again = np.asarray(K @ (total * total)) / size
    mates = [Y @ (Y.T @ v) for v in (total, again, total * again)]
    return np.stack([total, again, total * again, total**2, *mates, np.bincount(y)[y]], axis=1)
