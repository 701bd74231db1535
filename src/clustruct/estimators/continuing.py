"""A trained clusterer that goes on learning, from what people said of further sets."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from hashlib import blake2b

import numpy as np

from clustruct._typing import Bools, Ints
from clustruct.itemsets import ItemSet
from clustruct.losses import as_loss
from clustruct.oracles import make_oracle
from clustruct.problems import ContinuedTask, Marks

from .correlation import SupervisedCorrelationClustering

# C where nothing was chosen before: the middle of the grid.
USUAL_C = 1.0


def continued(
    model: SupervisedCorrelationClustering,
    sets: Sequence[ItemSet],
    marks: Sequence[Marks],
    ids: Sequence[Sequence[Hashable]],
    *,
    loss: object = None,
) -> SupervisedCorrelationClustering:
    """A model that has learned from marks on further sets too; the one given stays as it is.

    Where it has learned before, that is remembered by its planes: C and the units of features are kept, and
    no earlier set is needed. Where it has not, the marks are all that is learned from.

    Parameters
    ----------
    model : fitted, or (with ``fit`` never called) parameters alone
    sets, marks, ids : the sets, what is known of each, and the names of its items
    loss : instead of the model's own, for this training
    """
    is_fitted = hasattr(model, "w_")
    if is_fitted and getattr(model, "past_", None) is None:
        raise ValueError(
            "the model keeps nothing to go on from: it is of an older version, or was not trained by "
            "correlation clustering with margin scaling; fit it again"
        )
    found = copy(model)
    task = ContinuedTask(
        sets,
        marks,
        [_digests(names, m.named) for names, m in zip(ids, marks, strict=True)],
        as_loss(model.loss if loss is None else loss),  # type: ignore[arg-type]
        make_oracle(model.oracle, loss_in_oracle=model.loss_in_oracle),
        model.training_options(),
        model.past_ if is_fitted else None,
        model.w_ if is_fitted else None,
        model.feature_scale_ if is_fitted else None,
        USUAL_C if isinstance(model.C, str) else float(model.C),
        model.verbose,
        model.memory_limit,
    )
    trained, found.past_ = task.train()
    found.result_, found.w_, found.feature_scale_ = trained.result, trained.result.w, trained.feature_scale
    if not is_fitted:
        found.C_, found.cv_results_, found.shown_ = task.C, None, None
        found.n_features_in_ = sets[0].n_features
        if sets[0].feature_names is not None:
            found.feature_names_in_ = np.asarray(sets[0].feature_names, dtype=object)
    return found


def _digests(ids: Sequence[Hashable], named: Bools) -> Ints:
    """A number for each item that is named, the same in all runs; 0 for the others."""
    found = np.zeros(len(ids), np.int64)
    for a in np.flatnonzero(named):
        text = str(ids[a]).encode("utf-8", "surrogatepass")
        found[a] = int.from_bytes(blake2b(text, digest_size=7).digest())
    return found
