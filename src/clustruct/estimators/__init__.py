"""Thin scikit-learn classes over the method, and the baselines that they are compared with.

In: item sets or tables, and labels. Out: fitted estimators. Nothing here reads files or knows of columns.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .correlation import SupervisedCorrelationClustering
    from .supervised_agglomerative import SupervisedAgglomerative
    from .supervised_kmeans import SupervisedKMeans


__all__ = ["SupervisedAgglomerative", "SupervisedCorrelationClustering", "SupervisedKMeans"]

__getattr__, __dir__ = lazy_names(__name__, "baselines", "checks")
