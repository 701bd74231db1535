"""The clusterers that a recipe trains: made and checked, a similarity chosen, the training summed up, and
unlabelled items that then look like members of a labelled cluster.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from clustruct.core.exceptions import DataWarning, OrderWarning, ReliabilityWarning, TooFewClusters
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Labels
from clustruct.data import Evidence, ItemSet, Table
from clustruct.estimators import SupervisedAgglomerative, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.estimators.training_shape import PairScorer
from clustruct.features import PairFeatures, likeness_features
from clustruct.features.blocks.mentions import Mentions
from clustruct.learning.model_selection import HeldOutF
from clustruct.learning.model_selection.training_tables import groups_of, known_items
from clustruct.learning.problems import FoldLoss, Region
from clustruct.learning.problems.fold_losses import Criterion, costs, error_of_difference, few_groups
from clustruct.losses import Loss, PairwiseFLoss, PairwiseLoss

# Learners by name. One of them is made with those parameters of the recipe that it has too.
LEARNERS: dict[str, type[BaseEstimator]] = {
    "correlation": SupervisedCorrelationClustering,
    "agglomerative": SupervisedAgglomerative,
    "kmeans": SupervisedKMeans,
    "pairs": PairwiseClassifierClustering,
}
# Parameters of the search for violated clusterings.
SEARCH_PARAMETERS = ("oracle", "predictor", "formulation", "loss_in_oracle", "surrogates")
# How far the training on a whole table is taken: half the cost of 0.001, and held-out F is the same.
TABLE_RTOL = 0.01
# The linear similarity first: it stays where the other is not clearly better.
TRIED = ("linear", "trees")
# A model whose held-out F is surely lower is of little use.
LITTLE_USE = 0.5
# So many near misses are named. A score is usual for members of a cluster from this quantile on.
SHOWN, USUAL = 5, 0.25
R = TypeVar("R", bound=BaseEstimator)


def make_learner(recipe: BaseEstimator, table: Table | None = None) -> BaseEstimator:
    """The clusterer that the parameters describe; for a table that is learned from as a whole where one is
    given.
    """
    if not isinstance(recipe.learner, str):
        return clone(recipe.learner)
    if recipe.learner not in LEARNERS:
        raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, not {recipe.learner!r}")
    if recipe.merge_cost is not None and recipe.loss not in (None, "pairwise"):
        raise ValueError("merge_cost goes with the pairwise loss only")
    model = LEARNERS[recipe.learner]()
    _check_searches(recipe, model)
    shared = model.get_params().keys() & recipe.get_params(deep=False).keys() - {"checkpoint", "nonnegative"}
    own = {name: getattr(recipe, name) for name in shared}
    if own.get("unlabelled") == "auto":  # until the data are looked at
        own["unlabelled"] = "apart"
    if recipe.merge_cost is not None:
        own["loss"] = PairwiseLoss(merge_cost=recipe.merge_cost)
    elif table is not None and recipe.learner == "correlation" and recipe.loss in (None, "pairwise_f"):
        own |= {"loss": table_loss(len(table), recipe.for_size), "rtol": TABLE_RTOL, "average_folds": True}
    return model.set_params(**{name: value for name, value in own.items() if value is not None})


def _check_searches(recipe: BaseEstimator, model: BaseEstimator) -> None:
    """Refuse parameters of the search that the learner does not have."""
    known = model.get_params()
    for name in SEARCH_PARAMETERS:
        if getattr(recipe, name) is not None and name not in known:
            raise ValueError(f"{name} does not go with learner={recipe.learner!r} (--learner)")
    if recipe.linkage is not None and "linkage" not in known:
        raise ValueError(
            f"linkage goes with learner='agglomerative', not with {recipe.learner!r} (--learner)"
        )


def table_loss(n: int, for_size: int | None) -> Loss:
    """Pairwise F, of a table of ``for_size`` rows where the one at hand has n.

    For each row a table N / n times as large has so many times as many false pairs that look alike by
    chance, and as many true ones. F = 2 a / (a + r b + T), r = N / n, has its best w where
    F_beta = (1 + beta^2) a / (a + b + beta^2 T) has it, beta^2 = 1 / r: both rise with a / (r b + T).
    """
    beta = 1.0 if for_size is None else math.sqrt(n / for_size)
    # By half: false pairs beside true ones are then, in the mean, those of the whole table.
    return PairwiseFLoss(beta=beta, background_weight=0.5)


def set_checkpoint(model: BaseEstimator, checkpoint: str | os.PathLike[str] | None) -> None:
    """Where a training is saved as it goes, if anywhere; ValueError of a learner that has no rounds."""
    if checkpoint is None:
        return
    if "checkpoint" not in model.get_params():
        raise ValueError(f"{type(model).__name__} has no checkpoints: it trains in one go")
    model.set_params(checkpoint=checkpoint)


def set_nonnegative(recipe: BaseEstimator, model: BaseEstimator, features: PairFeatures) -> None:
    """Where that is asked for, likeness never counts against a pair."""
    for name in ("nonnegative", "calibrate"):
        if getattr(recipe, name) is True and not isinstance(model, SupervisedCorrelationClustering):
            raise ValueError(f"{name} goes with learner='correlation' (--learner)")
    if recipe.nonnegative:
        model.set_params(nonnegative=likeness_features(features.get_feature_names_out()))


def warn_of_order(model: BaseEstimator, features: PairFeatures, kind: str) -> None:
    """Left links need items in an order: mentions of a text are; what others are only the user knows."""
    if getattr(model, "linkage", None) != "left" or kind == "mentions":
        return
    if any(isinstance(block, Mentions) for block in features.blocks_):
        return
    warnings.warn(
        "linkage 'left' takes the items of a set in the order in which they stand: each joins an earlier "
        "one. If that order means nothing, use another linkage",
        OrderWarning,
        stacklevel=5,
    )


class HeldOutUnits(NamedTuple):
    """How a training did on each of the sets or clusters that were held out, and by which criterion."""

    judged: list[FoldLoss]
    by: Criterion

    @property
    def unit(self) -> float:
        """What costs are multiplied by: 1 - F is given in percent, as losses are."""
        return 100.0 if self.by == "pairwise_f" else 1.0

    @property
    def cost(self) -> float:
        return costs(self.judged, self.by) * self.unit


def fit_better_similarity(recipe: R, sets: Sequence[Table], groups: Sequence[Hashable] | None) -> R:
    """The recipe fitted with that similarity which does better on held-out clusters or sets of the training.

    Trees are taken where their held-out cost is lower by more than a standard error of the difference, over
    the units that were held out: 1 - F of pairs where clusters of one table are held out, else the mean loss.
    With few clusters a smaller difference is mostly chance.
    ``training_["similarities"]`` has both costs, ``training_["similarity_error"]`` the error.
    """
    if recipe.C != "cv" or recipe.checkpoint is not None:
        raise ValueError("similarity='auto' goes with C chosen (--C cv), and has no checkpoints")
    tried = {name: _fit_similarity(recipe, name, sets, groups) for name in TRIED}
    units = {name: None if fitted is None else held_out_units(fitted) for name, fitted in tried.items()}
    # The groups that sets are of, where these are few, are what is independent.
    owners = few_groups(groups_of(list(sets)) if groups is None else groups)
    best, error = choose_similarity(units["linear"], units["trees"], owners)
    for name in ("pipeline_", "was_cut_", "training_"):
        setattr(recipe, name, getattr(tried[best], name))
    costs_of = {name: None if one is None else one.cost for name, one in units.items()}
    recipe.training_ |= {"similarity": best, "similarities": costs_of, "similarity_error": error}
    return recipe


def _fit_similarity(
    recipe: R, name: str, sets: Sequence[Table], groups: Sequence[Hashable] | None
) -> R | None:
    """The recipe with this similarity; None where labelled clusters are too few to learn it."""
    try:
        return clone(recipe).set_params(similarity=name).fit(sets, groups=groups)
    except TooFewClusters:
        return None


def choose_similarity(
    linear: HeldOutUnits | None, trees: HeldOutUnits | None, owners: Any
) -> tuple[str, float | None]:
    """Trees where they cost less by more than the error of the difference, else linear; and the error."""
    if linear is None or trees is None or len(linear.judged) != len(trees.judged):
        return TRIED[0], None
    own = owners if owners is not None and len(owners) == len(linear.judged) else None
    error = linear.unit * error_of_difference(linear.judged, trees.judged, linear.by, own)
    return TRIED[int(trees.cost < linear.cost - error)], error


def held_out_units(fitted: BaseEstimator) -> HeldOutUnits | None:
    """Those at the C that was chosen; None where nothing was held out."""
    model, training = fitted.pipeline_[-1], fitted.training_
    if training["held_out"] is None:
        return None
    made = model.cv_results_
    here = int(np.flatnonzero(made["C"] == model.C_)[0])
    rows = zip(made["losses"][here].tolist(), made["pairs"][here].tolist(), strict=True)
    by: Criterion = "pairwise_f" if training["held_out"] == "clusters" else "loss"
    return HeldOutUnits([FoldLoss(loss, tuple(pairs)) for loss, pairs in rows], by)


def was_interrupted(model: BaseEstimator) -> bool:
    """Whether Ctrl-C ended the training of a clusterer."""
    return getattr(getattr(model, "result_", None), "stop_reason", None) == "interrupted"


def training_summary(
    model: BaseEstimator, sets: Sequence[Table], features: PairFeatures | None = None
) -> dict[str, Any]:
    """How the training went, as plain values; what is not known or not finite is None."""
    result, choice = getattr(model, "result_", None), getattr(model, "cv_results_", {})
    best = int(np.flatnonzero(choice["C"] == model.C_)[0]) if "mean_loss" in choice else None
    by_sets = best is not None and choice["losses"].shape[1] == len(sets)
    summary = {
        "sets": len(sets),
        "items": sum(len(table) for table in sets),
        "labelled": sum(int(np.count_nonzero(known_items(table))) for table in sets),
        "compared_with_nothing": 0 if features is None else features.count_empty_items(sets),
        "features": int(model.n_features_in_),
        "learner": type(model).__name__,
        "loss": str(getattr(model, "loss", None)),
        "unlabelled": getattr(model, "unlabelled", None),
        "C": getattr(model, "C_", None),
        "held_out": None if best is None else "sets" if by_sets else "clusters",
        "held_out_loss": None if best is None else float(choice["mean_loss"][best]),
        **_held_out_f(model, None if best is None else float(choice["pairwise_f"][best])),
        "left_out": _left_out(choice, sets),
        "rounds": getattr(result, "n_iter", None),
        "gap": getattr(result, "gap", None),
        "stop_reason": getattr(result, "stop_reason", None),
        "interrupted": was_interrupted(model),
        "calibration": _calibration(model),
    }
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in summary.items()}


def warn_of_little_use(model: BaseEstimator, sets: Sequence[Table]) -> None:
    """Warn where held-out groups say that the model is hardly better than none."""
    held: HeldOutF | None = getattr(model, "held_out_", None)
    if held is None:
        return
    sizes = [np.bincount(y[y != UNKNOWN]) for y in (partial_labels(t.labels or ()) for t in sets)]
    true = float(sum((n * (n - 1)).sum() for n in sizes))
    every = float(sum(n.sum() * (n.sum() - 1) for n in sizes))
    one_group = 2.0 * true / max(true + every, 1.0)
    if held.high >= max(one_group, LITTLE_USE):
        return
    why = "more is wrong or missed than right"
    if held.high < one_group:
        why = f"one group for all items would have {100 * one_group:.1f} %"
    warnings.warn(
        f"the model is of little use: held-out pairwise F is {100 * held.f:.1f} %, {why}; label more groups, "
        "or see that the columns that tell items apart are among those compared",
        ReliabilityWarning,
        stacklevel=3,
    )


def _held_out_f(model: BaseEstimator, found: float | None) -> dict[str, float | None]:
    """Pairwise F of what was held out, with the bounds of its interval where there are some; and how much of
    the similarity is a guess.
    """
    held: HeldOutF | None = getattr(model, "held_out_", None)
    if held is not None:
        found = held.f
    return {
        "held_out_pairwise_f": found,
        "held_out_low": None if held is None else held.low,
        "held_out_high": None if held is None else held.high,
        "guess_share": getattr(model, "guess_share_", None),
    }


def continued_summary(
    model: BaseEstimator, sets: Sequence[Table], n_named: int, features: PairFeatures | None = None
) -> dict[str, Any]:
    """The same of a training that went on, with evidence of n_named items: held-out figures are those of
    an earlier one, and left out.
    """
    outdated = ("held_out", "held_out_loss", *_held_out_f(model, None), "left_out")
    return {**training_summary(model, sets, features), **dict.fromkeys(outdated), "corrected_items": n_named}


def _calibration(model: BaseEstimator) -> dict[str, Any] | None:
    """From which held-out pairs the probabilities of a model were learned, and how good they are."""
    held = getattr(model, "calibration_", None)
    if held is None:
        return None
    usual = held.curve.near(0.0)
    numbers = {"true_pairs": held.n_true, "false_pairs": held.n_false, "brier_skill": held.skill}
    return {**numbers, "precision": usual.precision, "recall": usual.recall}


def _left_out(choice: Mapping[str, Any], sets: Sequence[Table]) -> list[str] | None:
    """What a training has not seen, where the choice of C was ended."""
    if "left_out_clusters" in choice:
        return [f"{len(choice['left_out_clusters'])} of the labelled clusters"]
    unseen = choice.get("left_out")
    return None if unseen is None else [sets[i].name or f"set {i + 1}" for i in unseen.tolist()]


def near_misses(x: ItemSet, labels: Labels, score: PairScorer) -> list[tuple[int, int, float]]:
    """Unlabelled items that the scores would put to a labelled cluster (their sum is positive), and whose
    highest score there is one that most pairs (three of four) of a labelled cluster have; the highest first.
    Each with a member of this cluster, and this score.

    >>> x = ItemSet(pairs=[[2.0], [1.0], [3.0]], pair_index=[[0, 1], [1, 2], [1, 3]], n_items=4)
    >>> near_misses(x, np.array([0, 0, -1, -1]), lambda x, pairs: x.pairs[:, 0])
    [(3, 1, 3.0)]
    """
    region = Region.of(x, Evidence.of_labels(labels))
    index = region.x.index
    if region.is_complete or index is None or not len(index):
        return []
    K, known = score(region.x, index), region.known_items[index]
    inside = known.all(axis=1) & (region.labels[index[:, 0]] == region.labels[index[:, 1]])
    usual = float(np.quantile(K[inside], USUAL)) if inside.any() else np.inf
    mixed = known.sum(axis=1) == 1
    first_known = known[mixed, 0]
    ends, values = index[mixed], K[mixed]
    item, mate = (np.where(side, ends[:, 1], ends[:, 0]) for side in (first_known, ~first_known))
    cells, which = np.unique(item * x.n_items + region.labels[mate], return_inverse=True)
    total = np.bincount(which, weights=values, minlength=len(cells))
    highest = np.full(len(cells), -np.inf)
    np.maximum.at(highest, which, values)
    own = region.known_items
    members = dict(zip(region.labels[own].tolist(), region.items[own].tolist(), strict=True))
    return [
        (int(region.items[cells[c] // x.n_items]), members[cells[c] % x.n_items], float(highest[c]))
        for c in np.argsort(-highest, kind="stable").tolist()
        if total[c] > 0.0 and highest[c] >= usual
    ]


def warn_of_near_misses(
    sets: Sequence[ItemSet],
    names: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]],
    score: PairScorer,
) -> None:
    """Warn of them. ``names`` are the ids and the labels of the items of each set."""
    misses, total = [], 0
    for x, (ids, labels) in zip(sets, names, strict=True):
        found = near_misses(x, partial_labels(labels), score)
        total += len({item for item, *_ in found})
        misses += [f"{ids[item]!r} beside cluster {labels[mate]!r}" for item, mate, _ in found]
    if total:
        more = ", ..." if len(misses) > SHOWN else ""
        warnings.warn(
            f"{total} unlabelled {'item is' if total == 1 else 'items are'} as similar to a labelled cluster "
            f"as its own items are: {', '.join(misses[:SHOWN])}{more}. Were labelled clusters not complete, "
            "this would teach that duplicates are apart: label these items, or say --unlabelled unknown "
            "(Recipe(unlabelled='unknown'))",
            DataWarning,
            stacklevel=4,
        )
