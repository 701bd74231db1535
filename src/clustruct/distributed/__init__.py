"""The same work on many machines, by Dask: ``pip install 'clustruct[dask]'``.

Nothing of Dask is imported before a cluster is used.
"""

from .cluster import connected
from .predicting import Grouped, predict
from .training import DaskExecutor

__all__ = ["DaskExecutor", "Grouped", "connected", "predict"]
