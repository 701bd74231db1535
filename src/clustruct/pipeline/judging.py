"""Precision, recall and probabilities of a fitted pipeline on labelled sets."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Bools, Floats
from clustruct.data import Table
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.learning.calibration import HeldOutPart, PrecisionCurve
from clustruct.search.oracles import make_predictor

from .predict import score_set


def judged_pairs(
    pipeline: Pipeline, sets: Iterable[Table], thresholds: Floats
) -> tuple[PrecisionCurve, Bools, Floats]:
    """The curve of precision and recall on labelled sets, and for each compared pair whether it is together
    and the probability that it is.

    Thresholds are scores of the model as it was trained.

    Parameters
    ----------
    pipeline : Pipeline
        The fitted pipeline.
    sets : iterable of Table
        Labelled sets.
    thresholds : array of float
        The scores at which precision and recall are taken.

    Returns
    -------
    tuple of PrecisionCurve, array of bool, array of float
        The curve; whether each pair is together in truth; the probability that it is.
    """
    model = pipeline[-1]
    assert isinstance(model, SupervisedCorrelationClustering)
    parts, same, p, first = [], [np.zeros(0, np.bool_)], [np.zeros(0)], 0
    for table in sets:
        scores = score_set(pipeline, table).above(-(getattr(model, "threshold_", None) or 0.0))
        y = partial_labels(list(table.labels or ()), n_items=len(table))
        known = y != UNKNOWN
        parts.append(HeldOutPart(scores, np.where(known, y + first, UNKNOWN), known, unknown_apart=False))
        first += int(y.max(initial=-1)) + 1
        listed = scores.list_pairs()
        assert listed.index is not None
        assert listed.values is not None
        judged = known[listed.index].all(axis=1)
        a, b = listed.index[judged].T
        same.append(y[a] == y[b])
        p.append(model.probabilities().of_pairs(listed)[judged])
    searched = make_predictor("local_search", "correlation", random_state=model.random_state)
    curve = PrecisionCurve.of(parts, searched, np.asarray(thresholds, np.float64))
    return curve, np.concatenate(same), np.concatenate(p)
