"""Wishes for a prediction: threshold, precision, sizes and numbers of groups, doubtful items alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from clustruct._typing import Bools, Floats, Ints, Labels
from clustruct.calibration import Dial
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.exceptions import ChoiceWarning
from clustruct.inference.correlation import alone, bounded
from clustruct.inference.correlation.graph import Pairs
from clustruct.itemsets import PairScores
from clustruct.records import RawSet

from .pipelines import similarities

BOUNDS = ("max_size", "min_groups", "max_groups")


@dataclass(frozen=True)
class Grouped:
    """The groups of a set.

    Attributes
    ----------
    labels : array of int
        The group of each item.
    confidence : array of float or None
        The probability that each item is in the right group; None where it was not asked for.
    rejected : array of bool
        Items that stay alone since they are doubtful.
    """

    labels: Ints
    confidence: Floats | None
    rejected: Bools


@dataclass(frozen=True)
class Dials:
    """What is asked of a prediction beside the groups that score highest.

    Attributes
    ----------
    threshold : float, optional
        A probability: pairs that are less likely together speak against each other.
    precision : float, optional
        The share of pairs put together that is to be right, by held-out clusters.
    max_size : int, optional
        The largest number of items in a group.
    min_groups, max_groups : int, optional
        Bounds on the number of groups in a set.
    reject_below : float, optional
        Items whose place is right with a smaller probability stay alone.
    """

    threshold: float | None = None
    precision: float | None = None
    max_size: int | None = None
    min_groups: int | None = None
    max_groups: int | None = None
    reject_below: float | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "precision", "reject_below"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < 1.0:
                raise ValueError(f"{name} must be between 0 and 1, not {value}")
        for name in BOUNDS:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if None not in (self.min_groups, self.max_groups) and self.min_groups > self.max_groups:  # type: ignore[operator]
            raise ValueError(f"min_groups is {self.min_groups}, above max_groups, {self.max_groups}")
        if self.threshold is not None and self.precision is not None:
            raise ValueError("threshold and precision both say where to cut: give one of them")
        if self.reject_below is not None and self.max_groups is not None:
            raise ValueError("max_groups does not go with reject_below: items that stay alone are groups")

    def __bool__(self) -> bool:
        return any(value is not None for value in vars(self).values())

    def dial(self, model: BaseEstimator, *, rivals: bool = True) -> Dial | None:
        """What a precision costs; warns where held-out clusters are too few to be sure of it, or show that it
        is not to be had.
        """
        if self.precision is None:
            return None
        found = _calibrated(model).dial(self.precision, rivals=rivals)
        if not found.reached:
            warnings.warn(_shortfall(self.precision, found), ChoiceWarning, stacklevel=3)
        return found

    def applied_to(self, pipeline: Pipeline, *, rivals: bool = True) -> Pipeline:
        """The pipeline with its threshold moved; `ValueError` where the model cannot do what is asked.

        rivals : whether for a precision pairs may have to beat their rivals, too
        """
        model = pipeline[-1]
        if self and not isinstance(model, SupervisedCorrelationClustering):
            raise ValueError(f"{type(model).__name__} takes no threshold, precision or bounds on groups")
        if self.reject_below is not None:
            _calibrated(model)
        if self.threshold is None and self.precision is None:
            return pipeline
        dial = self.dial(model, rivals=rivals)
        if dial is None:
            moved = model.at_threshold(threshold=self.threshold)
        else:
            moved = model.at_threshold(score=dial.threshold, beats_rivals=dial.beats_rivals)
        return Pipeline([*pipeline.steps[:-1], (pipeline.steps[-1][0], moved)])

    def grouped(
        self,
        model: SupervisedCorrelationClustering,
        scores: PairScores,
        labels: Ints,
        *,
        must_link: Pairs | None = None,
        cannot_link: Pairs | None = None,
        confidence: bool = False,
    ) -> Grouped:
        """Groups that keep the bounds, from those that a model (of a pipeline that was `applied_to`) found.

        Items that people tied to others are not left alone.
        """
        y = np.asarray(labels, np.int64)
        if scores.sources is not None and self.max_groups is not None:
            raise ValueError("max_groups does not go with sources whose items are kept apart")
        if any(getattr(self, name) is not None for name in BOUNDS):
            y = bounded(
                scores,
                y,
                max_size=self.max_size,
                min_groups=self.min_groups,
                max_groups=self.max_groups,
                must_link=must_link,
                cannot_link=cannot_link,
                random_state=model.random_state,
            )
        if self.reject_below is None and not confidence:
            return Grouped(y, None, np.zeros(len(y), np.bool_))
        sure = model.item_confidence(scores, y)
        if self.reject_below is None:
            return Grouped(y, sure, np.zeros(len(y), np.bool_))
        rejected = (sure < self.reject_below) & (np.bincount(y)[y] > 1)
        if must_link is not None:
            rejected[np.asarray(must_link, np.int64).ravel()] = False
        return Grouped(alone(y, np.flatnonzero(rejected)), sure, rejected)


def _shortfall(precision: float, found: Dial) -> str:
    """Why a precision is not sure."""
    if found.possible:
        return (
            f"held-out clusters do not show precision {precision:g}, only {found.lower:.3f} "
            "(95 % confidence): the surest threshold is taken; label more clusters to be sure"
        )
    return (
        f"held-out clusters show that precision {precision:g} is not to be had: at the surest threshold it "
        f"is {found.precision:.3f} (at least {found.lower:.3f} with 95 % confidence, recall "
        f"{found.recall:.3f}). Nothing is put together; ask for less, or give a threshold"
    )


def _calibrated(model: BaseEstimator) -> SupervisedCorrelationClustering:
    if not isinstance(model, SupervisedCorrelationClustering):
        raise ValueError(f"{type(model).__name__} has no probabilities")
    model.probabilities()
    return model


def predicted(pipeline: Pipeline, sets: Sequence[RawSet], dials: Dials) -> list[Labels]:
    """The groups of each set by a pipeline that the dials were applied to."""
    scores = [similarities(pipeline, raw) for raw in sets]
    found: list[Labels]
    if any(one is None for one in scores) or not scores:
        found = pipeline.predict(sets)
        return found
    model = pipeline[-1]
    found = model.predict_scores(scores)
    if not dials:
        return found
    return [dials.grouped(model, s, y).labels for s, y in zip(scores, found, strict=True) if s is not None]
