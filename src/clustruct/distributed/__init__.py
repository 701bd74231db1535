"""The same work on many machines, by Dask: ``pip install 'clustruct[dask]'``.

In: tables too large for one machine. Out: what one process would answer. Nothing of Dask is imported before a
cluster is used, and nothing here decides how a pair is scored.
"""

from .cluster import connected
from .dask_executor import DaskExecutor
from .fitting import fit_features
from .predicting import Grouped, predict

__all__ = ["DaskExecutor", "Grouped", "connected", "fit_features", "predict"]
