"""Linear or trees? What held-out labels say decides."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from clustruct.records import RawSet

# The linear similarity first: it stays where the other is no better.
TRIED = ("linear", "trees")
R = TypeVar("R", bound=BaseEstimator)


def better_similarity(recipe: R, sets: Sequence[RawSet], groups: Sequence[Hashable] | None) -> R:
    """The recipe fitted with that similarity which does better on held-out clusters or sets of the training.

    Trees are taken where their held-out cost is lower: 1 - F of pairs where clusters of one table are held
    out, else the mean loss. ``training_["similarities"]`` has both costs.
    """
    if recipe.C != "cv" or recipe.checkpoint is not None:
        raise ValueError("similarity='auto' goes with C chosen (--C cv), and has no checkpoints")
    tried = {name: clone(recipe).set_params(similarity=name).fit(sets, groups=groups) for name in TRIED}
    costs = {name: _cost(fitted.training_) for name, fitted in tried.items()}
    known = {name: cost for name, cost in costs.items() if cost is not None}
    best = min(known, key=lambda name: known[name]) if known else TRIED[0]
    for name in ("pipeline_", "was_cut_", "training_"):
        setattr(recipe, name, getattr(tried[best], name))
    recipe.training_ |= {"similarity": best, "similarities": costs}
    return recipe


def _cost(training: dict[str, Any]) -> float | None:
    if training["held_out"] == "clusters":
        return 100.0 * (1.0 - float(training["held_out_pairwise_f"]))
    return None if training["held_out_loss"] is None else float(training["held_out_loss"])


def check_labels_for(recipe: BaseEstimator) -> None:
    """Refuse a similarity that marks of people alone cannot teach."""
    if recipe.similarity != "linear":
        raise ValueError("similarity goes with labels: corrections alone teach the linear one")
