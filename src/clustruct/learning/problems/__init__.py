"""Joint features, loss and oracle put together: ready-made structured problems.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .classification import BinaryProblem, MulticlassProblem
    from .clustering import ClusteringProblem
    from .fold_losses import FoldLoss as FoldLoss, FoldResult as FoldResult
    from .held_out_clusters import HeldOutClusters as HeldOutClusters
    from .linkage import LinkageProblem, LinkageTask as LinkageTask
    from .region import Region as Region
    from .saved_training import past_of as past_of
    from .training import SimilarityTask as SimilarityTask, Trained as Trained
    from .units import Units as Units, feature_scale as feature_scale, mean_squares as mean_squares

__all__ = ["BinaryProblem", "ClusteringProblem", "LinkageProblem", "MulticlassProblem"]

__getattr__, __dir__ = lazy_names(__name__)
