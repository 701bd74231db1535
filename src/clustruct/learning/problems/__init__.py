"""Joint features, loss and oracle put together: ready-made structured problems."""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .classification import BinaryProblem, MulticlassProblem
    from .clustering import ClusteringProblem
    from .fold_losses import FoldLoss, FoldResult
    from .held_out_clusters import HeldOutClusters
    from .linkage import LinkageProblem, LinkageTask
    from .region import Region
    from .saved_training import past_of
    from .training import SimilarityTask, Trained
    from .units import Units, feature_scale, mean_squares

__all__ = ["BinaryProblem", "ClusteringProblem", "MulticlassProblem"]
__all__ += ["LinkageProblem", "LinkageTask"]
__all__ += ["FoldLoss", "FoldResult", "HeldOutClusters", "Region", "SimilarityTask", "Trained", "Units"]
__all__ += ["past_of"]
__all__ += ["feature_scale", "mean_squares"]

__getattr__, __dir__ = lazy_names(__name__)
