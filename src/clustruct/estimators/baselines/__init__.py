"""What the learners are compared with: pair classifiers, no training at all, other document clusterings."""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .latent_pairs import LatentPairClustering
    from .pair_classifier import DefaultClustering, PairwiseClassifierClustering
    from .pair_kmeans import PairKMeans, UntrainedKMeans

__all__ = [
    "DefaultClustering",
    "LatentPairClustering",
    "PairKMeans",
    "PairwiseClassifierClustering",
    "UntrainedKMeans",
]

__getattr__, __dir__ = lazy_names(__name__)
