"""Pictures of learned similarities, in the manner of scikit-learn's Display objects.

    SimilarityMatrixDisplay   similarities ordered by cluster, with cluster borders and the true clusters
    WeightsDisplay            the largest weights, in comparable units
    PairContributionDisplay   why two items are together: each feature's contribution
    ConvergenceDisplay        bounds on the objective, or their gap, as training went on
    SplitMergeDisplay         how true clusters flow into predicted ones, worst errors first

matplotlib is needed to draw: ``pip install clustruct[plot]``. Nothing of it is imported before a picture is.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "ConvergenceDisplay": "clustruct.plot.convergence",
    "PairContributionDisplay": "clustruct.plot.contributions",
    "SimilarityMatrixDisplay": "clustruct.plot.similarity",
    "SplitMergeDisplay": "clustruct.plot.split_merge",
    "WeightsDisplay": "clustruct.plot.weights",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'clustruct.plot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
