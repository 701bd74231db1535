"""A trained clusterer that goes on learning: from sets that it knows, and from what people said of others."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from clustruct.core.typing import Ints
from clustruct.data import Evidence, ItemSet
from clustruct.learning.problems import ContinuedTask
from clustruct.losses import as_loss
from clustruct.search.oracles import make_oracle

from .correlation import SupervisedCorrelationClustering

# C where nothing was chosen before: the middle of the grid.
USUAL_C = 1.0
# How far a training that goes on is taken: half the cost of 0.001, and held-out F is the same.
RTOL = 0.01


def continued(
    model: SupervisedCorrelationClustering,
    sets: Sequence[ItemSet],
    labels: Sequence[Ints],
    marked: Sequence[ItemSet],
    marks: Sequence[Evidence],
) -> SupervisedCorrelationClustering:
    """A model that has learned from labelled sets and from sets with marks; the one given stays as it is.

    Where it was fitted before, its C and its units of features are kept, and for those sets that it was
    fitted to its planes: that is a tenth of the work of a first fit, or less. What it leaves for the next
    time is what the first fit left.

    Parameters
    ----------
    model : fitted, or (with ``fit`` never called) parameters alone
    sets, labels : labelled sets (-1 where not known)
    marked, marks : further ones, and what is known of each
    """
    is_fitted = hasattr(model, "w_")
    past = getattr(model, "past_", None)
    if is_fitted and past is None:
        raise ValueError(
            "the model keeps nothing to go on from: it is of an older version, or no correlation clustering "
            "with rescale=True; fit it again"
        )
    task = ContinuedTask(
        sets,
        labels,
        marked,
        marks,
        as_loss(model.loss),
        make_oracle(model.oracle, loss_in_oracle=model.loss_in_oracle),
        {**model.training_options(), "rtol": max(model.rtol, RTOL)},
        past,
        model.result_.w if is_fitted else None,
        model.feature_scale_ if is_fitted else None,
        USUAL_C if isinstance(model.C, str) else float(model.C),
        model.verbose,
    )
    trained, found = task.train(), copy(model)
    found.result_, found.w_, found.feature_scale_ = trained.result, trained.result.w, trained.feature_scale
    if is_fitted and not model.nonnegative:
        # Weights that are the mean over folds stay so: each fold's would move by about as much.
        found.w_ = found.w_ + (model.w_ - model.result_.w)
    if not is_fitted:
        x = [*sets, *marked][0]
        found.C_, found.cv_results_, found.shown_, found.past_ = task.C, {}, None, None
        found.n_features_in_ = x.n_features
        if x.feature_names is not None:
            found.feature_names_in_ = np.asarray(x.feature_names, dtype=object)
    return found
