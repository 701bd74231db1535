"""Maximum-margin clustering beside documents of no cluster (Zhang, Wang and Si 2011)."""

from clustruct.core.lazy import lazy_modules

from .margin_clustering import UniversumClustering

__all__ = ["UniversumClustering", "outside_documents"]
# Ways to choose a Universum load scikit-learn's mixtures, which training does not need.
__getattr__ = lazy_modules(__name__, "label_free", "outside_documents")
