"""Linear or trees? What held-out labels say decides."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from clustruct.core.exceptions import TooFewClusters
from clustruct.data import Table
from clustruct.learning.model_selection.training_tables import groups_of
from clustruct.learning.problems import FoldLoss
from clustruct.learning.problems.fold_losses import (
    Criterion,
    costs,
    error_of_difference,
    few_groups,
)

# The linear similarity first: it stays where the other is not clearly better.
TRIED = ("linear", "trees")
R = TypeVar("R", bound=BaseEstimator)


class HeldOutUnits(NamedTuple):
    """What a training made of the sets or clusters that were held out, and what counts of it."""

    judged: list[FoldLoss]
    by: Criterion

    @property
    def cost(self) -> float:
        return costs(self.judged, self.by) * (100.0 if self.by == "pairwise_f" else 1.0)


def better_similarity(recipe: R, sets: Sequence[Table], groups: Sequence[Hashable] | None) -> R:
    """The recipe fitted with that similarity which does better on held-out clusters or sets of the training.

    Trees are taken where their held-out cost is lower by more than a standard error of the difference, over
    the units that were held out: 1 - F of pairs where clusters of one table are held out, else the mean loss.
    With few clusters a smaller difference is mostly chance.
    ``training_["similarities"]`` has both costs, ``training_["similarity_error"]`` the error.
    """
    if recipe.C != "cv" or recipe.checkpoint is not None:
        raise ValueError("similarity='auto' goes with C chosen (--C cv), and has no checkpoints")
    tried = {name: _fitted(recipe, name, sets, groups) for name in TRIED}
    found = {name: None if fitted is None else units_held_out(fitted) for name, fitted in tried.items()}
    best, error = clearly_better(found["linear"], found["trees"], _owners(sets, groups))
    for name in ("pipeline_", "was_cut_", "training_"):
        setattr(recipe, name, getattr(tried[best], name))
    told = {name: None if units is None else units.cost for name, units in found.items()}
    recipe.training_ |= {"similarity": best, "similarities": told, "similarity_error": error}
    return recipe


def _fitted(recipe: R, name: str, sets: Sequence[Table], groups: Sequence[Hashable] | None) -> R | None:
    """With this similarity; None where labelled clusters are too few to learn it."""
    try:
        return clone(recipe).set_params(similarity=name).fit(sets, groups=groups)
    except TooFewClusters:
        return None


def clearly_better(
    linear: HeldOutUnits | None, trees: HeldOutUnits | None, owners: Any
) -> tuple[str, float | None]:
    """Trees where they cost less by more than the error of the difference, else linear; and the error."""
    if linear is None or trees is None or len(linear.judged) != len(trees.judged):
        return TRIED[0], None
    kept = owners if owners is not None and len(owners) == len(linear.judged) else None
    unit = 100.0 if linear.by == "pairwise_f" else 1.0
    error = unit * error_of_difference(linear.judged, trees.judged, linear.by, kept)
    return TRIED[int(trees.cost < linear.cost - error)], error


def _owners(sets: Sequence[Table], groups: Sequence[Hashable] | None) -> Any:
    """The groups that sets are of, where these are few: they are what is independent."""
    return few_groups(groups_of(list(sets)) if groups is None else groups)


def units_held_out(fitted: BaseEstimator) -> HeldOutUnits | None:
    """Those at the C that was chosen; None where nothing was held out."""
    model, training = fitted.pipeline_[-1], fitted.training_
    if training["held_out"] is None:
        return None
    made = model.cv_results_
    here = int(np.flatnonzero(made["C"] == model.C_)[0])
    rows = zip(made["losses"][here].tolist(), made["pairs"][here].tolist(), strict=True)
    by: Criterion = "pairwise_f" if training["held_out"] == "clusters" else "loss"
    return HeldOutUnits([FoldLoss(loss, tuple(pairs)) for loss, pairs in rows], by)


def check_labels_for(recipe: BaseEstimator) -> None:
    """Refuse a similarity that marks of people alone cannot teach."""
    if recipe.similarity != "linear":
        raise ValueError("similarity goes with labels: corrections alone teach the linear one")
