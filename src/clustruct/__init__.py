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
    "ItemSet": "clustruct.data",
    "MultiLabelMRF": "clustruct.papers.multilabel",
    "PairFeatures": "clustruct.features",
    "Table": "clustruct.data",
    "Recipe": "clustruct.pipeline",
    "SupervisedAgglomerative": "clustruct.estimators",
    "SupervisedCorrelationClustering": "clustruct.estimators",
    "SupervisedKMeans": "clustruct.estimators",
    "UniversumClustering": "clustruct.papers.universum",
    "load": "clustruct.core.storage",
    "read_sets": "clustruct.data.io",
    "save": "clustruct.core.storage",
    "sets_of": "clustruct.data.io",
}
_PACKAGES = (
    "core",
    "data",
    "distributed",
    "estimators",
    "evaluate",
    "features",
    "groups",
    "learning",
    "losses",
    "papers",
    "pipeline",
    "search",
    "ssvm",
    "studio",
)

__all__ = ["__version__", *_HOMES, *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found
    if name in _PACKAGES:
        return import_module(f"clustruct.{name}")
    raise AttributeError(f"module 'clustruct' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
