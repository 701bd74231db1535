"""How a training went."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from clustruct.core.typing import Labels
from clustruct.data import Table
from clustruct.learning.model_selection.training_tables import known_items
from clustruct.losses import Loss, PairwiseFLoss


@dataclass(frozen=True)
class HeldOut:
    """Sets, and the clusters that models gave them which had seen neither the set nor its group.

    Attributes
    ----------
    sets : list of Table
        The labelled sets.
    labels : list of array of int
        The predicted clusters of each set.
    folds : list of list of int
        Numbers of the sets of each fold.
    """

    sets: list[Table]
    labels: list[Labels]
    folds: list[list[int]]


def in_order(
    sets: Sequence[Table], folds: Sequence[Sequence[int]], found: Sequence[Sequence[Labels]]
) -> HeldOut:
    """What was found of the sets of each fold, in the order of the sets; those of no fold are left out.

    >>> sets = [Table(["x"], name=name) for name in "abc"]
    >>> made = in_order(sets, [[2], [0]], [["labels of c"], ["labels of a"]])
    >>> [table.name for table in made.sets], made.labels, made.folds
    (['a', 'c'], ['labels of a', 'labels of c'], [[1], [0]])
    """
    labels = {
        i: one for fold, own in zip(folds, found, strict=True) for i, one in zip(fold, own, strict=True)
    }
    kept = sorted(labels)
    place = {i: n for n, i in enumerate(kept)}
    return HeldOut([sets[i] for i in kept], [labels[i] for i in kept], [[place[i] for i in f] for f in folds])


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
    """Where a training is to be kept as it goes, if anywhere; ValueError of a learner that has no rounds."""
    if checkpoint is None:
        return
    if "checkpoint" not in model.get_params():
        raise ValueError(f"{type(model).__name__} has no checkpoints: it trains in one go")
    model.set_params(checkpoint=checkpoint)


def was_interrupted(model: BaseEstimator) -> bool:
    """Whether Ctrl-C ended the training.

    Parameters
    ----------
    model : BaseEstimator
        A fitted clusterer.

    Returns
    -------
    bool
        True where its training was ended by Ctrl-C.
    """
    return getattr(getattr(model, "result_", None), "stop_reason", None) == "interrupted"


def training(model: BaseEstimator, sets: Sequence[Table]) -> dict[str, Any]:
    """How the training went, as plain values; what is not known or not finite is None."""
    result, choice = getattr(model, "result_", None), getattr(model, "cv_results_", {})
    best = int(np.flatnonzero(choice["C"] == model.C_)[0]) if "mean_loss" in choice else None
    by_sets = best is not None and choice["losses"].shape[1] == len(sets)
    found = {
        "sets": len(sets),
        "items": sum(len(table) for table in sets),
        "labelled": sum(int(np.count_nonzero(known_items(table))) for table in sets),
        "features": int(model.n_features_in_),
        "learner": type(model).__name__,
        "loss": str(getattr(model, "loss", None)),
        "unlabelled": getattr(model, "unlabelled", None),
        "C": getattr(model, "C_", None),
        "held_out": None if best is None else "sets" if by_sets else "clusters",
        "held_out_loss": None if best is None else float(choice["mean_loss"][best]),
        "held_out_pairwise_f": None if best is None else float(choice["pairwise_f"][best]),
        "left_out": _left_out(choice, sets),
        "rounds": getattr(result, "n_iter", None),
        "gap": getattr(result, "gap", None),
        "stop_reason": getattr(result, "stop_reason", None),
        "interrupted": was_interrupted(model),
        "calibration": _calibration(model),
    }
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in found.items()}


def _calibration(model: BaseEstimator) -> dict[str, Any] | None:
    """What the probabilities of a model were learned from."""
    found = getattr(model, "calibration_", None)
    if found is None:
        return None
    usual = found.curve.near(0.0)
    numbers = {"true_pairs": found.n_true, "false_pairs": found.n_false, "brier_skill": found.skill}
    return {**numbers, "precision": usual.precision, "recall": usual.recall}


def training_on(model: BaseEstimator, sets: Sequence[Table], n_named: int) -> dict[str, Any]:
    """The same of a training that went on: what held-out sets said was said of an earlier one.

    n_named : of how many items people spoke
    """
    gone = ("held_out", "held_out_loss", "held_out_pairwise_f", "left_out")
    return {**training(model, sets), **dict.fromkeys(gone), "corrected_items": n_named}


def _left_out(choice: Mapping[str, Any], sets: Sequence[Table]) -> list[str] | None:
    """What a training has not seen, where the choice of C was ended."""
    if "left_out_clusters" in choice:
        return [f"{len(choice['left_out_clusters'])} of the labelled clusters"]
    unseen = choice.get("left_out")
    return None if unseen is None else [sets[i].name or f"set {i + 1}" for i in unseen.tolist()]
