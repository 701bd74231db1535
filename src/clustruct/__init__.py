"""clustruct: show it how you group things, and it groups the next ones the same way."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

try:
    __version__ = version("clustruct")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0"

# Names load on first use: `import clustruct` takes no numpy, scikit-learn or numba along.
_HOMES = {
    "CLGR": "clustruct.estimators",
    "CPM3C": "clustruct.estimators",
    "DefaultClustering": "clustruct.estimators",
    "ItemSet": "clustruct.itemsets",
    "PLSA": "clustruct.estimators",
    "PairFeatures": "clustruct.features",
    "RawSet": "clustruct.rawsets",
    "MultiLabelMRF": "clustruct.estimators",
    "PairKMeans": "clustruct.estimators",
    "PairwiseClassifierClustering": "clustruct.estimators",
    "SupervisedCorrelationClustering": "clustruct.estimators",
    "SupervisedKMeans": "clustruct.estimators",
    "UniversumClustering": "clustruct.estimators",
    "UntrainedKMeans": "clustruct.estimators",
    "split_by_clusters": "clustruct.partitions",
}
_ROOMS = (
    "datasets",
    "estimators",
    "explain",
    "features",
    "inference",
    "io",
    "losses",
    "metrics",
    "partitions",
    "plot",
    "problems",
    "ssvm",
    "universum",
)

__all__ = ["__version__", *_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"clustruct.{name}")
    raise AttributeError(f"module 'clustruct' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
