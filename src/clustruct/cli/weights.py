"""The weights of a model, the strongest first."""

from __future__ import annotations

from typing import Any

import numpy as np


def weight_rows(pipeline: Any) -> list[tuple[str, float, float]]:
    """(feature, weight, effect), largest effect first; none for a clusterer without weights.

    The effect is the weight times the usual size of the feature, its root mean square over the training pairs
    (with --learner kmeans: over all features of its block).
    """
    model = pipeline[-1]
    names = [str(n) for n in pipeline[0].get_feature_names_out()]
    if hasattr(model, "w_"):
        w = np.asarray(model.w_)
    elif hasattr(getattr(model, "classifier_", None), "coef_"):
        w = np.asarray(model.classifier_.coef_[0] / model.feature_scale_)
    else:
        return []
    effect = w * np.asarray(getattr(model, "feature_scale_", np.ones(len(w))))
    order = np.argsort(-np.abs(effect), kind="stable")
    return [(names[j], float(w[j]), float(effect[j])) for j in order]
