"""The same work on many machines, by Dask: ``pip install 'clustruct[dask]'``.

Nothing of Dask is imported before a cluster is used.
"""

from .cluster import connected
from .fitting import fit_features
from .predicting import Grouped, predict
from .training import DaskExecutor

__all__ = ["DaskExecutor", "Grouped", "connected", "fit_features", "predict"]
