"""What maximises: clusterings of plain scores, and the oracles that training asks for its worst violations.

In: scores of pairs, a loss, a slack rule. Out: clusterings. Nothing here learns or knows of features.
"""

from clustruct.core.lazy import lazy_modules

__getattr__ = lazy_modules(
    __name__, "agglomerative", "correlation", "kernel_kmeans", "kmeans", "oracles", "spectral"
)
