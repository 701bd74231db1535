"""Similarities that are not linear in the pair features: further columns, in which they are linear again.

    K_ab = <w, [psi_ab ; phi(psi_ab)]>

A `PairMap` stands between pair features and a clusterer, or inside `PairFeatures`.

    TreeColumn        the logit of trees that classify pairs, cross-fitted: a forest and boosted ones
    KernelMap         a kernel on pair vectors, exactly (small data)
    NystroemMap       the same by some pairs as landmarks
    FourierMap        the Gaussian kernel by random Fourier features
    FullProducts      a full matrix W in node_a' W node_b
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .base import SIMILARITIES, PairMap, SimilarityTerms
    from .base import labelled_pairs as labelled_pairs
    from .bilinear_map import FullProducts
    from .kernels import FourierMap, KernelMap, NystroemMap
    from .trees import BoostedColumn, ForestColumn, TreeColumn

__all__ = [
    "SIMILARITIES",
    "BoostedColumn",
    "ForestColumn",
    "FourierMap",
    "FullProducts",
    "KernelMap",
    "NystroemMap",
    "PairMap",
    "SimilarityTerms",
    "TreeColumn",
]

__getattr__, __dir__ = lazy_names(__name__)
